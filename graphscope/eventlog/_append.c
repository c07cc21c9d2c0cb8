/* The hot path of recording, compiled: appending a row whose value is copied whole, kept inline, or absent.
 *
 * It is what `Writer._append` and `Writer._append_op` do, for the common case alone; whatever else a row needs (a new
 * segment, pages that are not faulted in yet, statistics, a value of another layout) is left to them, before anything
 * is reserved. Python is the specification: everything works without this module, and writes the same bytes.
 *
 * The interpreter's lock is held from the reservation to the commit, so that threads and signal handlers find whole
 * rows only.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <structmember.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>

#include "_append.h"
#include "_holding.h"
#include "_recent_values.h"
#include "_processors.h"

/* Values of so many bytes fill a segment from its end. */
enum { LARGE = 1 << 13 };

/* Bytes of a page, and what share of a large value may be left empty for it to begin where a page does. */
enum { PAGE = 1 << 12, SHARE = 8 };

/* What is the same in all rows of a template. */
enum { PREFIX = offsetof(EventRow, tensor) };

/* Rows with more inputs than this are left to Python. */
enum { MOST_INPUTS = 64 };

/* The clock of `time.perf_counter_ns`. */
static int64_t now(void)
{
#ifdef __APPLE__
    return (int64_t)clock_gettime_nsec_np(CLOCK_UPTIME_RAW);
#else
    struct timespec moment;
    clock_gettime(CLOCK_MONOTONIC, &moment);
    return (int64_t)moment.tv_sec * 1000000000 + moment.tv_nsec;
#endif
}

static PyTypeObject *cursor_type, *form_type, *place_type;

/* Cursor: where the next row and the next value of a segment go --------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    int64_t first, next_row, end, origin, rows_ready;
    int64_t next_value, value_start, value_end, populated, reserved;
    int64_t next_rare, rare_start, rare_end;
    int64_t next_edge, edge_start, edge_end;
    int64_t next_output, output_start, output_end;
    Py_buffer rows, values, rare, edges, outputs;
    int file; /* of the values, or -1 */
    dev_t device;
    ino_t inode; /* which file that is: the program may close it, and open one of its own under its number */
    RecentValue *recent;
} Cursor;

/* Whether the file of the values is open, as it was opened. */
static int has_file(const Cursor *self)
{
    struct stat found;
    return self->file >= 0 && fstat(self->file, &found) == 0 && found.st_dev == self->device &&
           found.st_ino == self->inode;
}

/* Close the file of the values; whether it was open. What comes goes through the map. */
static int close_file(Cursor *self)
{
    int open = has_file(self);
    if (open)
        close(self->file);
    self->file = -1;
    return open;
}

static PyObject *Cursor_let_go(Cursor *self, PyObject *nothing) { return PyBool_FromLong(close_file(self)); }

static PyObject *Cursor_attach(Cursor *self, PyObject *args)
{
    PyObject *rows, *values, *rare, *edges, *outputs, *name;
    if (self->rows.obj != NULL) {
        PyErr_SetString(PyExc_RuntimeError, "a cursor is attached once");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "OOOOOO&", &rows, &values, &rare, &edges, &outputs, PyUnicode_FSConverter, &name))
        return NULL;
    if (PyObject_GetBuffer(rows, &self->rows, PyBUF_WRITABLE) < 0 ||
        PyObject_GetBuffer(values, &self->values, PyBUF_WRITABLE) < 0 ||
        PyObject_GetBuffer(rare, &self->rare, PyBUF_WRITABLE) < 0 ||
        PyObject_GetBuffer(edges, &self->edges, PyBUF_WRITABLE) < 0 ||
        PyObject_GetBuffer(outputs, &self->outputs, PyBUF_WRITABLE) < 0) {
        Py_DECREF(name);
        return NULL;
    }
    self->file = PyBytes_GET_SIZE(name) ? open(PyBytes_AS_STRING(name), O_WRONLY | O_CLOEXEC) : -1;
    Py_DECREF(name);
    if (self->file >= 0 && self->file <= 2) { /* of the standard streams, which the program was started without */
        int moved = fcntl(self->file, F_DUPFD_CLOEXEC, 3);
        close(self->file);
        self->file = moved;
    }
    struct stat found;
    if (self->file >= 0 && fstat(self->file, &found) == 0) {
        self->device = found.st_dev;
        self->inode = found.st_ino;
    }
    Py_RETURN_NONE;
}

/* Copy a large value, which nobody reads soon, past the caches: the program's own data stay in them. */
static void copy_past_caches(char *to, const char *from, int64_t size)
{
    int64_t done = 0;
#ifdef __SSE2__
    for (; done + 64 <= size && !((uintptr_t)to & 15); done += 64)
        for (int part = 0; part < 64; part += 16)
            _mm_stream_si128((__m128i *)(to + done + part), _mm_loadu_si128((const __m128i *)(from + done + part)));
    _mm_sfence();
#endif
    memcpy(to + done, from + done, size - done);
}

/* Where a large value lies already, and its mark; -1: nowhere. */
static int64_t find_large(const Cursor *self, const char *content, int64_t size, uint64_t *mark)
{
    *mark = mark_of(content, size);
    return recent_value(self->recent, *mark, self->values.buf, content, size);
}

/* Where a large value lies that takes so much room below `end`: where a page begins, if that leaves little empty. Whole
 * pages are written in half the time. */
static int64_t place_below(int64_t end, int64_t room)
{
    int64_t offset = end - room, page = offset & -PAGE;
    return (offset - page) * SHARE <= room ? page : offset;
}

/* Write a large value. Through the file its pages need not be zeroed and faulted in first; what that does not take (no
 * file, an interrupt, a disk that refuses), and what has its pages, goes through the map. Other threads run meanwhile. */
static void write_large(Cursor *self, int64_t offset, const char *content, int64_t size, uint64_t mark)
{
    int64_t done = 0;
    int through_file = offset + size > self->populated && has_file(self);
    Py_BEGIN_ALLOW_THREADS
    while (through_file && done < size) {
        ssize_t taken = pwrite(self->file, content + done, size - done, offset + done);
        if (taken <= 0)
            break;
        done += taken;
    }
    if (done < size)
        copy_past_caches((char *)self->values.buf + offset + done, content + done, size - done);
    Py_END_ALLOW_THREADS
    note_value(&self->recent, mark, offset, size);
}

/* fill(stop): write zeros through the file, from `populated` up to a byte, below which there is disk space for small
 * values. Pages that are in memory are mapped in a quarter of the time that it takes to fault in others one by one.
 * No other thread runs meanwhile: nothing was written there yet. */
static PyObject *Cursor_fill(Cursor *self, PyObject *end)
{
    int64_t stop = PyLong_AsLongLong(end);
    if (stop == -1 && PyErr_Occurred())
        return NULL;
#ifdef __linux__
    static char zeros[1 << 12];
    struct iovec parts[64];
    stop = stop < self->value_end ? stop : self->value_end;
    int open = has_file(self);
    while (open && self->populated < stop) {
        int64_t size = 0;
        int count = 0;
        for (; count < (int)Py_ARRAY_LENGTH(parts) && self->populated + size < stop; count++) {
            int64_t rest = stop - self->populated - size;
            parts[count] = (struct iovec){zeros, rest < (int64_t)sizeof zeros ? (size_t)rest : sizeof zeros};
            size += (int64_t)parts[count].iov_len;
        }
        ssize_t taken = pwritev(self->file, parts, count, self->populated);
        if (taken <= 0)
            break;
        self->populated += taken;
    }
#endif
    Py_RETURN_NONE;
}

/* allocate(start, stop): reserve disk space through the file of the values, which to open anew takes as long again;
 * whether that was done. Of a file that was removed there is no more to reserve. */
static PyObject *Cursor_allocate(Cursor *self, PyObject *args)
{
    long long start, stop;
    int done = 0;
    if (!PyArg_ParseTuple(args, "LL", &start, &stop))
        return NULL;
#ifdef __linux__
    struct stat found;
    done = has_file(self) && fstat(self->file, &found) == 0 && found.st_nlink > 0 &&
           posix_fallocate(self->file, start, stop - start) == 0;
#endif
    return PyBool_FromLong(done);
}

static PyObject *Cursor_write(Cursor *self, PyObject *args)
{
    long long offset;
    Py_buffer content;
    if (!PyArg_ParseTuple(args, "Ly*", &offset, &content))
        return NULL;
    if (offset < 0 || offset + content.len > self->values.len)
        PyErr_SetString(PyExc_ValueError, "the values of a segment end before that");
    else
        write_large(self, offset, content.buf, content.len, mark_of(content.buf, content.len));
    PyBuffer_Release(&content);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *Cursor_find(Cursor *self, PyObject *value)
{
    Py_buffer content;
    uint64_t mark;
    if (PyObject_GetBuffer(value, &content, PyBUF_SIMPLE) < 0)
        return NULL;
    int64_t offset = find_large(self, content.buf, content.len, &mark);
    PyBuffer_Release(&content);
    return PyLong_FromLongLong(offset);
}

static PyObject *Cursor_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    Cursor *self = (Cursor *)type->tp_alloc(type, 0);
    if (self != NULL)
        self->file = -1;
    return (PyObject *)self;
}

static void Cursor_dealloc(Cursor *self)
{
    close_file(self);
    free(self->recent);
    PyBuffer_Release(&self->rows);
    PyBuffer_Release(&self->values);
    PyBuffer_Release(&self->rare);
    PyBuffer_Release(&self->edges);
    PyBuffer_Release(&self->outputs);
    PyTypeObject *type = Py_TYPE(self);
    type->tp_free((PyObject *)self);
    Py_DECREF(type);
}

#define NUMBER(name) {#name, T_LONGLONG, offsetof(Cursor, name), 0, NULL}
static PyMemberDef Cursor_members[] = {
    NUMBER(first),      NUMBER(next_row),    NUMBER(end),       NUMBER(origin),    NUMBER(rows_ready),
    NUMBER(next_value), NUMBER(value_start), NUMBER(value_end), NUMBER(populated), NUMBER(reserved), NUMBER(next_rare),
    NUMBER(rare_start), NUMBER(rare_end),    NUMBER(next_edge), NUMBER(edge_start), NUMBER(edge_end),
    NUMBER(next_output), NUMBER(output_start), NUMBER(output_end), {NULL}};

static PyMethodDef Cursor_methods[] = {
    {"attach", (PyCFunction)Cursor_attach, METH_VARARGS, "Write into these buffers from here on."},
    {"write", (PyCFunction)Cursor_write, METH_VARARGS, "Write a large value."},
    {"fill", (PyCFunction)Cursor_fill, METH_O, "Let the pages of small values be in memory, up to a byte."},
    {"allocate", (PyCFunction)Cursor_allocate, METH_VARARGS, "Reserve disk space for values."},
    {"find", (PyCFunction)Cursor_find, METH_O, "Where a large value lies already; -1: nowhere."},
    {"let_go", (PyCFunction)Cursor_let_go, METH_NOARGS, "Close the file that large values are written through."},
    {NULL}};

static PyType_Slot Cursor_slots[] = {
    {Py_tp_doc, "Where the next row and the next value of a segment go."},
    {Py_tp_new, Cursor_new},
    {Py_tp_dealloc, Cursor_dealloc},
    {Py_tp_members, Cursor_members},
    {Py_tp_methods, Cursor_methods},
    {0, NULL}};

static PyType_Spec Cursor_spec = {
    "graphscope.eventlog._append.Cursor", sizeof(Cursor), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, Cursor_slots};

/* Form: what is the same in all rows of a template ----------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    PyObject *prefix;
    int64_t nbytes, room;
    int nodes;
    unsigned char kind, floating;
    char plain, rare, copied, inline_, awaited;
} Form;

#define FORM_PARTS(X) X(prefix)
HOLDS(Form, FORM_PARTS)

/* like(other): keep values as another form keeps its own. */
static PyObject *Form_like(Form *self, PyObject *given)
{
    if (!PyObject_TypeCheck(given, form_type)) {
        PyErr_SetString(PyExc_TypeError, "another form is asked for");
        return NULL;
    }
    Form *other = (Form *)given;
    self->nbytes = other->nbytes;
    self->room = other->room;
    self->floating = other->floating;
    self->plain = other->plain;
    self->copied = other->copied;
    self->inline_ = other->inline_;
    Py_RETURN_NONE;
}

static PyMethodDef Form_methods[] = {{"like", (PyCFunction)Form_like, METH_O, "Keep values as another form."}, {NULL}};

static PyMemberDef Form_members[] = {
    {"prefix", T_OBJECT, offsetof(Form, prefix), 0, NULL},
    {"nbytes", T_LONGLONG, offsetof(Form, nbytes), 0, NULL},
    {"room", T_LONGLONG, offsetof(Form, room), 0, NULL},
    {"nodes", T_INT, offsetof(Form, nodes), 0, NULL},
    {"kind", T_UBYTE, offsetof(Form, kind), 0, NULL},
    {"floating", T_UBYTE, offsetof(Form, floating), 0, NULL},
    {"plain", T_BOOL, offsetof(Form, plain), 0, NULL},
    {"rare", T_BOOL, offsetof(Form, rare), 0, NULL},
    {"copied", T_BOOL, offsetof(Form, copied), 0, NULL},
    {"inline", T_BOOL, offsetof(Form, inline_), 0, NULL},
    {"awaited", T_BOOL, offsetof(Form, awaited), 0, NULL},
    {NULL}};

static PyType_Slot Form_slots[] = {
    {Py_tp_doc, "What is the same in all rows of a template."},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_dealloc, Form_dealloc},
    {Py_tp_traverse, Form_traverse},
    {Py_tp_clear, Form_clear},
    {Py_tp_members, Form_members},
    {Py_tp_methods, Form_methods},
    {0, NULL}};

static PyType_Spec Form_spec = {
    "graphscope.eventlog._append.Form", sizeof(Form), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, Form_slots};

/* Place: a call site, and the result that its template is for -------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    PyObject *kind, *shape, *dtype, *constant, *context, *template;
} Place;

#define PLACE_PARTS(X) X(kind) X(shape) X(dtype) X(constant) X(context) X(template)
HOLDS(Place, PLACE_PARTS)

#define OBJECT(name) {#name, T_OBJECT, offsetof(Place, name), 0, NULL}
static PyMemberDef Place_members[] = {OBJECT(kind),     OBJECT(shape),   OBJECT(dtype),
                                      OBJECT(constant), OBJECT(context), OBJECT(template), {NULL}};

static PyType_Slot Place_slots[] = {
    {Py_tp_doc, "A call site, and the result that its template is for."},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_dealloc, Place_dealloc},
    {Py_tp_traverse, Place_traverse},
    {Py_tp_clear, Place_clear},
    {Py_tp_members, Place_members},
    {0, NULL}};

static PyType_Spec Place_spec = {
    "graphscope.eventlog._append.Place", sizeof(Place), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, Place_slots};

/* Appender: appends to whatever segment is its writer's ------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *segment; /* a Cursor */
    PyObject *sites;   /* call sites by their key */
    PyObject *slow, *slow_many; /* what takes the other rows: with three inputs at most, and with a list of them */
    int64_t base;
} Appender;

#define LARGER(type, one, other) ((type)(one) > (type)(other) ? (type)(one) : (type)(other))

/* Whether some element is NaN or infinite: without the sign, such are the largest bits. Four stretches are read side by
 * side: memory is slow to answer, and the processor asks for more of it at once. */
#define ANY_NONFINITE(name, type, sign, infinite)                                                                      \
    FOR_EACH_PROCESSOR static int name(const void *data, int64_t size)                                                 \
    {                                                                                                                  \
        const int64_t count = size / (int64_t)sizeof(type), quarter = count / 4;                                       \
        const type *bits = data, *second = bits + quarter, *third = second + quarter, *fourth = third + quarter;       \
        type most = 0;                                                                                                 \
        for (int64_t place = 0; place < quarter; place++) {                                                            \
            type one = LARGER(type, bits[place] & ~(sign), second[place] & ~(sign));                                   \
            type other = LARGER(type, third[place] & ~(sign), fourth[place] & ~(sign));                                \
            one = LARGER(type, one, other);                                                                            \
            most = LARGER(type, most, one);                                                                            \
        }                                                                                                              \
        for (int64_t place = 4 * quarter; place < count; place++)                                                      \
            most = LARGER(type, most, bits[place] & ~(sign));                                                          \
        return most >= (infinite);                                                                                     \
    }

ANY_NONFINITE(nonfinite_float16, int16_t, INT16_MIN, 0x7c00)
ANY_NONFINITE(nonfinite_bfloat16, int16_t, INT16_MIN, 0x7f80)
ANY_NONFINITE(nonfinite_float32, int32_t, INT32_MIN, 0x7f800000)
ANY_NONFINITE(nonfinite_float64, int64_t, INT64_MIN, 0x7ff0000000000000)

/* By `Form.floating`, which names the elements: see template.FLOATING. */
static int (*const nonfinite[])(const void *, int64_t) = {NULL, nonfinite_float16, nonfinite_bfloat16,
                                                          nonfinite_float32, nonfinite_float64};

/* Where the value of a row is had from: an address, or an array whose elements lie together; NULL for any other. */
static const void *data_of(const Form *form, PyObject *value)
{
    if (PyLong_CheckExact(value)) /* the address of so many bytes as the form says */
        return PyLong_AsVoidPtr(value);
    if (!PyArray_Check(value) || !PyArray_ISCARRAY_RO((PyArrayObject *)value) ||
        PyArray_NBYTES((PyArrayObject *)value) != form->nbytes)
        return NULL;
    return PyArray_DATA((PyArrayObject *)value);
}

/* The value that a row bears itself; whether it could be had. */
static int take_inline(const Form *form, PyObject *value, int64_t *kept)
{
    if (PyLong_CheckExact(value))
        memcpy(kept, PyLong_AsVoidPtr(value), form->nbytes);
    else if (PyArray_Check(value)) {
        if (!PyArray_IS_C_CONTIGUOUS((PyArrayObject *)value) || PyArray_NBYTES((PyArrayObject *)value) != form->nbytes)
            return 0;
        memcpy(kept, PyArray_DATA((PyArrayObject *)value), form->nbytes);
    }
    else if (PyArray_IsScalar(value, Float32) && form->nbytes == 4)
        memcpy(kept, &((PyFloat32ScalarObject *)value)->obval, 4);
    else if (PyArray_IsScalar(value, Float64) && form->nbytes == 8)
        memcpy(kept, &((PyFloat64ScalarObject *)value)->obval, 8);
    else if (PyArray_IsScalar(value, Int64) && form->nbytes == 8)
        memcpy(kept, &((PyInt64ScalarObject *)value)->obval, 8);
    else
        return 0;
    return 1;
}

/* Where a row lies. */
static EventRow *row_at(Cursor *cursor, int64_t row)
{
    return (EventRow *)((char *)cursor->rows.buf + cursor->origin) + row;
}

/* Whether a SUMMARY record counts a NaN or an Inf. */
static int counts_nonfinite(const char *record)
{
    const SummaryRecord *found = (const SummaryRecord *)record;
    return found->nan || found->inf;
}

/* Write the inputs of a row that has more than it holds, and the numbers behind the nodes. */
static void write_edges(Cursor *cursor, const int64_t *inputs, int count, int nodes, int64_t base)
{
    EdgeRow *edges = (EdgeRow *)((char *)cursor->edges.buf + cursor->edge_start) + cursor->next_edge;
    for (int argument = 0; argument < count; argument++)
        edges[argument] = argument < nodes ? (EdgeRow){(inputs[argument] & ROW_MASK) - base,
                                                       inputs[argument] >> SLOT_SHIFT, argument}
                                           : (EdgeRow){inputs[argument], 0, argument};
    cursor->next_edge += count;
}

/* The inputs as the row of an event tells of them: its own, or where they lie among the edges. */
static void take_inputs(Cursor *cursor, const Form *form, const Moment *moment, int64_t base, int64_t *inputs)
{
    memset(inputs, 0, INLINE_INPUTS * sizeof *inputs);
    if (moment->count > INLINE_INPUTS) {
        inputs[0] = cursor->next_edge;
        inputs[1] = form->nodes < moment->count ? form->nodes : moment->count;
        write_edges(cursor, moment->inputs, moment->count, form->nodes, base);
    }
    else
        for (int place = 0; place < moment->count; place++)
            inputs[place] = moment->inputs[place] && place < form->nodes ? moment->inputs[place] - base
                                                                          : moment->inputs[place];
}

/* Enter a row in the index of rare rows. */
static void list_rare(Cursor *cursor, int64_t row)
{
    int64_t listed = row + 1;
    if (cursor->next_rare < cursor->rare_end) /* other threads may have filled it during a large write */
        memcpy((char *)cursor->rare.buf + cursor->rare_start + 8 * cursor->next_rare++, &listed, 8);
}

/* Write the row of an event, and commit it by its kind. */
static void commit(Cursor *cursor, int64_t row, const Form *form, const Moment *moment, const int64_t *inputs,
                   int64_t value, int bad, int64_t base)
{
    EventRow *at = row_at(cursor, row);
    memcpy((char *)at + 1, PyBytes_AS_STRING(form->prefix) + 1, PREFIX - 1);
    at->flags |= bad ? FLAG_NONFINITE : 0;
    if (moment->count > INLINE_INPUTS) {
        at->flags |= FLAG_EDGES;
        at->input_count = 0;
    }
    if (moment->version)
        at->version = moment->version;
    at->tensor = moment->tensor < 0 ? row : moment->tensor ? moment->tensor - base : 0;
    at->time = moment->time;
    at->duration = moment->duration;
    at->value = value;
    at->forward = moment->forward ? moment->forward - base : 0;
    for (int place = 0; place < INLINE_INPUTS; place++)
        at->inputs[place] = inputs[place];
    atomic_thread_fence(memory_order_release);
    *(volatile uint8_t *)&at->kind = form->kind;
}

/* Write one row, or return -1, with nothing reserved, when it is not of the common kind. No Python code runs in it, but
 * other threads may while a large value is written. */
static int64_t write_row(Appender *self, Form *form, PyObject *value, const Moment *moment)
{
    Cursor *cursor = (Cursor *)self->segment;
    if (cursor == NULL || cursor->next_row >= cursor->end || cursor->next_row >= cursor->rows_ready)
        return -1;
    int64_t row = cursor->next_row, offset = 0, kept = 0, number = 0, nbytes = form->nbytes;
    int summarised = !form->plain, large = form->copied && nbytes >= LARGE, copied = form->copied || summarised;
    const void *data = NULL;
    if (form->awaited) { /* its value comes later, to where there is room for it */
        if (value != Py_None) /* somebody is to be told of the row */
            return -1;
        large = 0;
        nbytes = summarised ? (int64_t)sizeof(SummaryRecord) : nbytes;
        summarised = 0;
    }
    else if (summarised) {
        if (!PyBytes_CheckExact(value) || PyBytes_GET_SIZE(value) != sizeof(SummaryRecord))
            return -1;
        data = PyBytes_AS_STRING(value);
        nbytes = sizeof(SummaryRecord);
    }
    else if (form->inline_) {
        if (!take_inline(form, value, &kept))
            return -1;
        data = &kept;
    }
    else if ((form->copied || form->floating) && (data = data_of(form, value)) == NULL) {
        if (form->copied || !PyArray_IsScalar(value, Generic) || !take_inline(form, value, &number))
            return -1;
        data = &number;
    }
    uint64_t mark = 0;
    if (large && (offset = find_large(cursor, data, nbytes, &mark)) >= 0) {
        copied = large = 0;
        kept = offset - cursor->value_start;
    }
    else if (copied) {
        offset = large ? place_below(cursor->value_end, form->room) : cursor->next_value;
        if (large ? offset < cursor->next_value || offset < cursor->reserved
                  : offset + form->room > cursor->value_end || offset + nbytes > cursor->populated)
            return -1;
        kept = offset - cursor->value_start;
    }
    if (moment->count > INLINE_INPUTS && cursor->next_edge + moment->count > cursor->edge_end)
        return -1;
    int looked_at = !form->awaited && form->floating && form->floating < Py_ARRAY_LENGTH(nonfinite);
    int bad = looked_at && !(moment->finite != NULL && *moment->finite) && nonfinite[form->floating](data, nbytes);
    if (moment->finite != NULL)
        *moment->finite = looked_at && !bad;
    bad = bad || (summarised && counts_nonfinite(data));
    int rare = form->rare || bad;
    if (rare && cursor->next_rare >= cursor->rare_end)
        return -1;
    int64_t base = self->base, inputs[INLINE_INPUTS];
    Py_INCREF(cursor); /* another thread may put a new one in its place */
    cursor->next_row = row + 1;
    take_inputs(cursor, form, moment, base, inputs);
    if (large) {
        cursor->value_end = offset;
        write_large(cursor, offset, data, nbytes, mark);
    }
    else if (copied) {
        cursor->next_value = offset + form->room;
        if (data != NULL)
            memcpy((char *)cursor->values.buf + offset, data, nbytes);
    }
    if (rare)
        list_rare(cursor, row);
    commit(cursor, row, form, moment, inputs, kept, bad, base);
    Py_DECREF(cursor);
    return row + base;
}

/* Whether the elements of a slot hold NaN or Inf. */
static int is_bad(const Form *form, const void *data)
{
    return data != NULL && form->floating && form->floating < Py_ARRAY_LENGTH(nonfinite) &&
           nonfinite[form->floating](data, form->nbytes);
}

/* The same of a node that has several slots: their values lie where those of rows do, and each has a row of outputs. */
static int64_t write_slots(PyObject *appender, PyObject *template, const Slotted *slots, int count,
                           const Moment *moment)
{
    Appender *self = (Appender *)appender;
    Form *form = (Form *)template;
    Cursor *cursor = (Cursor *)self->segment;
    if (cursor == NULL || !PyObject_TypeCheck(template, form_type) || cursor->next_row >= cursor->end ||
        cursor->next_row >= cursor->rows_ready || cursor->next_output + count > cursor->output_end ||
        cursor->next_rare >= cursor->rare_end ||
        (moment->count > INLINE_INPUTS && cursor->next_edge + moment->count > cursor->edge_end))
        return -1;
    int64_t small = 0, top = cursor->value_end, places[MOST_SLOTS];
    uint64_t marks[MOST_SLOTS];
    char known[MOST_SLOTS];
    int bad = 0;
    if (count > MOST_SLOTS)
        return -1;
    for (int slot = 0; slot < count; slot++) {
        Form *each = (Form *)slots[slot].template;
        if (!PyObject_TypeCheck(slots[slot].template, form_type) || !each->plain ||
            ((each->copied || each->inline_) && slots[slot].data == NULL))
            return -1;
        int large = each->copied && each->nbytes >= LARGE;
        if (large)
            places[slot] = find_large(cursor, slots[slot].data, each->nbytes, marks + slot);
        known[slot] = large && places[slot] >= 0;
        if (large && !known[slot])
            top = places[slot] = place_below(top, each->room);
        else if (each->copied && !large) {
            places[slot] = cursor->next_value + small;
            small += each->room;
        }
        bad = bad || is_bad(each, slots[slot].data);
    }
    int64_t low = cursor->next_value + small;
    if (low > top || low > cursor->populated || (top < cursor->value_end && top < cursor->reserved))
        return -1;
    int64_t base = self->base, row = cursor->next_row, first = cursor->next_output, inputs[INLINE_INPUTS];
    OutputRow *outputs = (OutputRow *)((char *)cursor->outputs.buf + cursor->output_start) + first;
    Py_INCREF(cursor);
    cursor->next_row = row + 1;
    cursor->next_output = first + count;
    cursor->next_value = low;
    cursor->value_end = top;
    take_inputs(cursor, form, moment, base, inputs);
    for (int slot = 0; slot < count; slot++) {
        Form *each = (Form *)slots[slot].template;
        const EventRow *like = (const EventRow *)PyBytes_AS_STRING(each->prefix);
        int64_t value = 0;
        if (each->inline_)
            memcpy(&value, slots[slot].data, each->nbytes);
        else if (each->copied) {
            value = places[slot] - cursor->value_start;
            if (each->nbytes >= LARGE && !known[slot])
                write_large(cursor, places[slot], slots[slot].data, each->nbytes, marks[slot]);
            else if (each->nbytes < LARGE)
                memcpy((char *)cursor->values.buf + places[slot], slots[slot].data, each->nbytes);
        }
        outputs[slot] = (OutputRow){like->dtype, like->flags & (FLAG_INLINE | FLAG_KEPT), count, like->shape, value, row};
    }
    if (form->rare || bad)
        list_rare(cursor, row);
    commit(cursor, row, form, moment, inputs, first, bad, base);
    Py_DECREF(cursor);
    return row + base;
}

/* append(template, value, time=0, duration=0, forward=0, first=0, second=0, third=0, tensor=None) */
static PyObject *Appender_call(PyObject *object, PyObject *const *args, size_t flags, PyObject *names)
{
    Appender *self = (Appender *)object;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    Py_ssize_t named = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    int common =
        named == 0 || (named == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "tensor") == 0);
    if (count >= 2 && count <= 8 && common && PyObject_TypeCheck(args[0], form_type)) {
        int64_t numbers[6] = {0}, tensor = -1;
        if (named && args[count] != Py_None)
            tensor = PyLong_AsLongLong(args[count]);
        for (Py_ssize_t place = 2; place < count; place++)
            numbers[place - 2] = PyLong_AsLongLong(args[place]);
        if (PyErr_Occurred())
            return NULL;
        Moment moment = {numbers[0], numbers[1], numbers[2], numbers + 3, INLINE_INPUTS, tensor, 0};
        int64_t row = write_row(self, (Form *)args[0], args[1], &moment);
        if (row >= 0)
            return PyLong_FromLongLong(row);
    }
    return PyObject_Vectorcall(self->slow, args, flags, names);
}

/* many(template, value, rows, time=0, duration=0, forward=0, tensor=None, version=0): the same with any number of inputs,
 * of another version of its tensor than the template's. */
static PyObject *Appender_many(Appender *self, PyObject *const *args, Py_ssize_t count)
{
    if (count >= 3 && count <= 8 && PyObject_TypeCheck(args[0], form_type) && PyList_CheckExact(args[2]) &&
        PyList_GET_SIZE(args[2]) <= MOST_INPUTS) {
        int64_t numbers[3] = {0}, inputs[MOST_INPUTS], tensor = -1, version = 0;
        int given = (int)PyList_GET_SIZE(args[2]);
        for (Py_ssize_t place = 3; place < count && place < 6; place++)
            numbers[place - 3] = PyLong_AsLongLong(args[place]);
        if (count >= 7 && args[6] != Py_None)
            tensor = PyLong_AsLongLong(args[6]);
        if (count == 8)
            version = PyLong_AsLongLong(args[7]);
        for (int place = 0; place < given; place++)
            inputs[place] = PyLong_AsLongLong(PyList_GET_ITEM(args[2], place));
        if (PyErr_Occurred())
            return NULL;
        Moment moment = {numbers[0], numbers[1], numbers[2], inputs, given, tensor, version};
        int64_t row = write_row(self, (Form *)args[0], args[1], &moment);
        if (row >= 0)
            return PyLong_FromLongLong(row);
    }
    return PyObject_Vectorcall(self->slow_many, args, count, NULL);
}

/* Whether the call site's template is for a result like this one. */
static int fits(Place *place, PyObject *result, PyObject *constant, PyObject *context)
{
    if (place->kind != (PyObject *)Py_TYPE(result) || place->context != context || place->template == NULL ||
        !PyObject_TypeCheck(place->template, form_type) ||
        (place->constant != constant && place->constant != (PyObject *)Py_TYPE(constant)))
        return 0;
    if (!PyArray_CheckExact(result))
        return 1;
    PyArrayObject *array = (PyArrayObject *)result;
    if (place->dtype != (PyObject *)PyArray_DESCR(array) || PyTuple_GET_SIZE(place->shape) != PyArray_NDIM(array))
        return 0;
    for (int dim = 0; dim < PyArray_NDIM(array); dim++)
        if (PyLong_AsSsize_t(PyTuple_GET_ITEM(place->shape, dim)) != PyArray_DIM(array, dim))
            return 0;
    return 1;
}

/* The bits of a Python number; whether it has so few. */
static int bits_of(PyObject *number, int64_t *bits)
{
    int overflow = 0;
    if (PyFloat_CheckExact(number)) {
        double value = PyFloat_AS_DOUBLE(number);
        memcpy(bits, &value, sizeof value);
    }
    else if (PyLong_CheckExact(number))
        *bits = PyLong_AsLongLongAndOverflow(number, &overflow);
    else
        return 0;
    return !overflow;
}

static int64_t row_of_op(PyObject *appender, PyFrameObject *frame, int64_t key, PyObject *result, PyObject *constant,
                         PyObject *context, int64_t start, int64_t backward, const int64_t *inputs, int count,
                         PyObject **found)
{
    Appender *self = (Appender *)appender;
    int64_t end = now();
    PyCodeObject *code = PyFrame_GetCode(frame);
    key += (int64_t)(uintptr_t)code + PyFrame_GetLasti(frame);
    Py_DECREF(code); /* the frame holds it */
    PyObject *number = PyLong_FromLongLong(key);
    if (number == NULL)
        return -2;
    PyObject *site = PyDict_GetItemWithError(self->sites, number);
    Py_DECREF(number);
    if (site == NULL || !PyObject_TypeCheck(site, place_type))
        return PyErr_Occurred() ? -2 : -1;
    Place *place = (Place *)site;
    if (!fits(place, result, constant, context))
        return -1;
    int64_t more[INLINE_INPUTS];
    if (constant != Py_None && place->constant == (PyObject *)Py_TYPE(constant)) { /* a number that varies */
        if (count >= INLINE_INPUTS || !bits_of(constant, more + count))
            return -1;
        memcpy(more, inputs, count * sizeof *inputs);
        inputs = more;
        count += 1;
    }
    Form *form = (Form *)Py_NewRef(place->template);
    Py_INCREF(site); /* another thread may put a new one in its place */
    int64_t row = write_row(self, form, result, &(Moment){end, end - start, backward, inputs, count, -1, 0});
    Py_DECREF(form);
    if (row < 0)
        Py_DECREF(site);
    else
        *found = site;
    return row;
}

/* op(frame, key, result, constant, context, start, backward, *inputs): the row of an op that has run, at a call site
 * that is known; (site, row), or None when the site or the row is not of the common kind. */
static PyObject *Appender_op(Appender *self, PyObject *const *args, Py_ssize_t count)
{
    if (count < 7 || count > 10 || !PyFrame_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "op(frame, key, result, constant, context, start, backward, *inputs)");
        return NULL;
    }
    int64_t numbers[5] = {0}, key = PyLong_AsLongLong(args[1]);
    for (Py_ssize_t index = 5; index < count; index++)
        numbers[index - 5] = PyLong_AsLongLong(args[index]);
    if (PyErr_Occurred())
        return NULL;
    PyObject *site = NULL;
    int64_t row = row_of_op((PyObject *)self, (PyFrameObject *)args[0], key, args[2], args[3], args[4], numbers[0],
                            numbers[1], numbers + 2, (int)count - 7, &site);
    if (row < 0)
        return row == -2 ? NULL : Py_NewRef(Py_None);
    PyObject *number = PyLong_FromLongLong(row), *answer = number == NULL ? NULL : PyTuple_Pack(2, site, number);
    Py_XDECREF(number);
    Py_DECREF(site);
    return answer;
}

/* What Python appends: the rows that are not of the common kind. -2 with an error set. */
static int64_t append_slowly(Appender *self, PyObject *template, PyObject *value, const Moment *moment)
{
    PyObject *rows = PyList_New(moment->count), *answer = NULL, *tensor = NULL, *turned = Py_None;
    for (int place = 0; rows != NULL && place < moment->count; place++) {
        PyObject *boxed = PyLong_FromLongLong(moment->inputs[place]);
        if (boxed == NULL)
            Py_CLEAR(rows);
        else
            PyList_SET_ITEM(rows, place, boxed);
    }
    if (moment->version)
        turned = PyObject_CallMethod(template, "turn_version", "L", (long long)moment->version);
    tensor = moment->tensor < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(moment->tensor);
    if (rows != NULL && tensor != NULL && turned != NULL)
        answer = PyObject_CallFunction(self->slow_many, "OOOLLLO", template, value, rows, (long long)moment->time,
                                       (long long)moment->duration, (long long)moment->forward, tensor);
    if (moment->version)
        Py_XDECREF(turned);
    Py_XDECREF(rows);
    Py_XDECREF(tensor);
    int64_t row = answer == NULL ? -2 : PyLong_AsLongLong(answer);
    Py_XDECREF(answer);
    return row == -1 && PyErr_Occurred() ? -2 : row;
}

static int64_t append(PyObject *appender, PyObject *template, PyObject *value, const Moment *moment)
{
    Appender *self = (Appender *)appender;
    if (PyObject_TypeCheck(template, form_type)) {
        int64_t row = write_row(self, (Form *)template, value, moment);
        if (row >= 0)
            return row;
    }
    return append_slowly(self, template, value, moment);
}

/* Write the duration of a row. */
static void put_duration(PyObject *appender, int64_t row, int64_t duration)
{
    Appender *self = (Appender *)appender;
    Cursor *cursor = (Cursor *)self->segment;
    row -= self->base;
    if (cursor == NULL || row < cursor->first || row >= cursor->end)
        return; /* of an earlier segment: before this one's rows lies the head of its file */
    int64_t at = cursor->origin + row * (int64_t)sizeof(EventRow);
    if (at >= 0 && at + (int64_t)sizeof(EventRow) <= cursor->rows.len)
        row_at(cursor, row)->duration = duration;
}

static int64_t finish(PyObject *appender, int64_t row, int64_t start)
{
    int64_t end = now();
    put_duration(appender, row, end - start);
    return end;
}

/* finish(row, start, took=None): the duration of a row that was appended before its work was done, from its start until
 * now, or as somebody else measured it; the clock's reading. */
static PyObject *Appender_finish(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    if (count < 2 || count > 3) {
        PyErr_SetString(PyExc_TypeError, "finish(row, start, took=None)");
        return NULL;
    }
    int measured = count == 3 && args[2] != Py_None;
    int64_t row = PyLong_AsLongLong(args[0]), start = PyLong_AsLongLong(args[1]);
    int64_t took = measured ? PyLong_AsLongLong(args[2]) : 0;
    if (PyErr_Occurred())
        return NULL;
    if (!measured)
        return PyLong_FromLongLong(finish(self, row, start));
    put_duration(self, row, took);
    return PyLong_FromLongLong(now());
}

static int Appender_init(Appender *self, PyObject *args, PyObject *names)
{
    static char *words[] = {"sites", "slow", "slow_many", "base", NULL};
    PyObject *sites, *slow, *slow_many;
    long long base;
    if (!PyArg_ParseTupleAndKeywords(args, names, "O!OOL", words, &PyDict_Type, &sites, &slow, &slow_many, &base))
        return -1;
    Py_XSETREF(self->sites, Py_NewRef(sites));
    Py_XSETREF(self->slow, Py_NewRef(slow));
    Py_XSETREF(self->slow_many, Py_NewRef(slow_many));
    self->base = base;
    self->vectorcall = Appender_call;
    return 0;
}

static int Appender_set_segment(Appender *self, PyObject *value, void *closure)
{
    if (value == NULL || !PyObject_TypeCheck(value, cursor_type) || ((Cursor *)value)->rare.obj == NULL) {
        PyErr_SetString(PyExc_TypeError, "segment must be a Cursor that is attached");
        return -1;
    }
    Py_XSETREF(self->segment, Py_NewRef(value));
    return 0;
}

static PyObject *Appender_get_segment(Appender *self, void *closure)
{
    return Py_NewRef(self->segment ? self->segment : Py_None);
}

#define APPENDER_PARTS(X) X(segment) X(sites) X(slow) X(slow_many)
HOLDS(Appender, APPENDER_PARTS)

static PyMemberDef Appender_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Appender, vectorcall), READONLY, NULL}, {NULL}};

static PyGetSetDef Appender_getset[] = {
    {"segment", (getter)Appender_get_segment, (setter)Appender_set_segment, "Where rows go.", NULL}, {NULL}};

static PyMethodDef Appender_methods[] = {
    {"many", (PyCFunction)(void (*)(void))Appender_many, METH_FASTCALL, "Append a row with any number of inputs."},
    {"op", (PyCFunction)(void (*)(void))Appender_op, METH_FASTCALL, "The row of an op that has run."},
    {"finish", (PyCFunction)(void (*)(void))Appender_finish, METH_FASTCALL, "The duration of a row."},
    {NULL}};

static PyType_Slot Appender_slots[] = {
    {Py_tp_doc, "Appends rows of the common kind; leaves the others to a Python function."},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_init, Appender_init},
    {Py_tp_dealloc, Appender_dealloc},
    {Py_tp_traverse, Appender_traverse},
    {Py_tp_clear, Appender_clear},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_members, Appender_members},
    {Py_tp_getset, Appender_getset},
    {Py_tp_methods, Appender_methods},
    {0, NULL}};

static PyType_Spec Appender_spec = {
    "graphscope.eventlog._append.Appender", sizeof(Appender), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, Appender_slots};

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec)
{
    PyTypeObject *type = (PyTypeObject *)PyType_FromSpec(spec);
    if (type == NULL || PyModule_AddType(module, type) < 0)
        return NULL;
    return type;
}

static AppendAPI api = {NULL, NULL, now, row_of_op, append, write_slots, finish};

/* activate(writer): the active log, or None. */
static PyObject *activate(PyObject *module, PyObject *writer)
{
    Py_XSETREF(api.active, Py_NewRef(writer));
    Py_RETURN_NONE;
}

/* lay(memory, descriptor): put a file in the place of mapped memory. Python's own maps of files keep a descriptor each,
 * which the program may close and use again, and close that in the end. */
static PyObject *lay(PyObject *module, PyObject *args)
{
    PyObject *memory;
    Py_buffer buffer;
    int file;
    if (!PyArg_ParseTuple(args, "Oi", &memory, &file) || PyObject_GetBuffer(memory, &buffer, PyBUF_SIMPLE) < 0)
        return NULL;
    int protection = buffer.readonly ? PROT_READ : PROT_READ | PROT_WRITE;
    void *laid = mmap(buffer.buf, buffer.len, protection, MAP_SHARED | MAP_FIXED, file, 0);
    PyBuffer_Release(&buffer);
    if (laid == MAP_FAILED)
        return PyErr_SetFromErrno(PyExc_OSError);
    Py_RETURN_NONE;
}

static int call_later(void *function)
{
    PyObject *answer = PyObject_CallNoArgs(function);
    Py_DECREF((PyObject *)function);
    Py_XDECREF(answer);
    return answer == NULL ? -1 : 0;
}

/* later(function, ...): call it when Python goes on, and not in the callback of something that goes, where an exception
 * of a signal handler would be lost. */
static PyObject *later(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count < 1) {
        PyErr_SetString(PyExc_TypeError, "later(function, ...)");
        return NULL;
    }
    Py_INCREF(args[0]);
    if (Py_AddPendingCall(call_later, args[0]) < 0 && call_later(args[0]) < 0) /* so many are waiting already */
        return NULL;
    Py_RETURN_NONE;
}

/* position(code, instruction): line, end line, column and end column of the instruction at a byte offset, as
 * `co_positions` tells them, which makes those of all instructions before it. */
static PyObject *position(PyObject *module, PyObject *args)
{
    PyObject *code, *told;
    int instruction, found[4];
    if (!PyArg_ParseTuple(args, "O!i", &PyCode_Type, &code, &instruction) ||
        !PyCode_Addr2Location((PyCodeObject *)code, instruction, found, found + 2, found + 1, found + 3) ||
        (told = PyTuple_New(Py_ARRAY_LENGTH(found))) == NULL)
        return NULL;
    for (int place = 0; place < (int)Py_ARRAY_LENGTH(found); place++) {
        PyObject *number = found[place] < 0 ? Py_NewRef(Py_None) : PyLong_FromLong(found[place]);
        if (number == NULL)
            Py_CLEAR(told);
        if (told == NULL)
            return NULL;
        PyTuple_SET_ITEM(told, place, number);
    }
    return told;
}

static PyMethodDef functions[] = {
    {"activate", activate, METH_O, "Tell the compiled parts which log is active."},
    {"lay", lay, METH_VARARGS, "Put a file in the place of mapped memory."},
    {"position", position, METH_VARARGS, "Where an instruction stands in the program's text."},
    {"later", (PyCFunction)(void (*)(void))later, METH_FASTCALL, "Call a function when Python goes on."},
    {NULL}};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT, "_append", "The hot path of recording, compiled.", -1, functions};

PyMODINIT_FUNC PyInit__append(void)
{
    import_array();
    PyObject *module = PyModule_Create(&module_definition);
    if (module == NULL)
        return NULL;
    cursor_type = add_type(module, &Cursor_spec);
    form_type = add_type(module, &Form_spec);
    place_type = add_type(module, &Place_spec);
    PyTypeObject *appender_type = add_type(module, &Appender_spec);
    if (cursor_type == NULL || form_type == NULL || place_type == NULL || appender_type == NULL) {
        Py_DECREF(module);
        return NULL;
    }
    api.appender = appender_type;
    api.active = Py_NewRef(Py_None);
    PyObject *capsule = PyCapsule_New(&api, GRAPHSCOPE_APPEND, NULL);
    if (capsule == NULL || PyModule_AddObject(module, "API", capsule) < 0) {
        Py_XDECREF(capsule);
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
