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
#include <time.h>
#include <unistd.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>

#include "_append.h"

enum { ROW = 96, PREFIX = 32, LARGE = 1 << 16 };

/* Places of the fields of a row that are written one by one: see EVENT in schema.py. */
enum { FLAGS = 2, TENSOR = 32, TIME = 40, DURATION = 48, VALUE = 56, FORWARD = 64, INPUTS = 72 };

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

/* Cursor: where the next row and the next value of a segment go --------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    int64_t first, next_row, end, origin, rows_ready;
    int64_t next_value, value_start, value_end, populated;
    int64_t next_rare, rare_start, rare_end;
    Py_buffer rows, values, rare;
    int file; /* of the values, or -1 */
} Cursor;

static PyObject *Cursor_attach(Cursor *self, PyObject *args)
{
    PyObject *rows, *values, *rare;
    const char *file;
    if (!PyArg_ParseTuple(args, "OOOs", &rows, &values, &rare, &file))
        return NULL;
    if (self->rows.obj != NULL) {
        PyErr_SetString(PyExc_RuntimeError, "a cursor is attached once");
        return NULL;
    }
    if (PyObject_GetBuffer(rows, &self->rows, PyBUF_WRITABLE) < 0 ||
        PyObject_GetBuffer(values, &self->values, PyBUF_WRITABLE) < 0 ||
        PyObject_GetBuffer(rare, &self->rare, PyBUF_WRITABLE) < 0)
        return NULL;
    self->file = *file ? open(file, O_WRONLY | O_CLOEXEC) : -1;
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

/* Write a large value. Through the file its pages need not be zeroed and faulted in first; what that does not take (no
 * file, an interrupt, a disk that refuses), and what has its pages, goes through the map. Other threads run meanwhile. */
static void write_large(Cursor *self, int64_t offset, const char *content, int64_t size)
{
    int64_t done = 0;
    int through_file = self->file >= 0 && offset + size > self->populated;
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
        write_large(self, offset, content.buf, content.len);
    PyBuffer_Release(&content);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
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
    if (self->file >= 0)
        close(self->file);
    PyBuffer_Release(&self->rows);
    PyBuffer_Release(&self->values);
    PyBuffer_Release(&self->rare);
    PyTypeObject *type = Py_TYPE(self);
    type->tp_free((PyObject *)self);
    Py_DECREF(type);
}

#define NUMBER(name) {#name, T_LONGLONG, offsetof(Cursor, name), 0, NULL}
static PyMemberDef Cursor_members[] = {
    NUMBER(first),      NUMBER(next_row),    NUMBER(end),       NUMBER(origin),    NUMBER(rows_ready),
    NUMBER(next_value), NUMBER(value_start), NUMBER(value_end), NUMBER(populated), NUMBER(next_rare),
    NUMBER(rare_start), NUMBER(rare_end),    {NULL}};

static PyMethodDef Cursor_methods[] = {
    {"attach", (PyCFunction)Cursor_attach, METH_VARARGS, "Write into these buffers from here on."},
    {"write", (PyCFunction)Cursor_write, METH_VARARGS, "Write a large value."},
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
    unsigned char kind, floating;
    char plain, rare, copied, inline_;
} Form;

static int Form_traverse(Form *self, visitproc visit, void *arg)
{
    Py_VISIT(self->prefix);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static int Form_clear(Form *self)
{
    Py_CLEAR(self->prefix);
    return 0;
}

static void Form_dealloc(Form *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Form_clear(self);
    type->tp_free((PyObject *)self);
    Py_DECREF(type);
}

static PyMemberDef Form_members[] = {
    {"prefix", T_OBJECT, offsetof(Form, prefix), 0, NULL},
    {"nbytes", T_LONGLONG, offsetof(Form, nbytes), 0, NULL},
    {"room", T_LONGLONG, offsetof(Form, room), 0, NULL},
    {"kind", T_UBYTE, offsetof(Form, kind), 0, NULL},
    {"floating", T_UBYTE, offsetof(Form, floating), 0, NULL},
    {"plain", T_BOOL, offsetof(Form, plain), 0, NULL},
    {"rare", T_BOOL, offsetof(Form, rare), 0, NULL},
    {"copied", T_BOOL, offsetof(Form, copied), 0, NULL},
    {"inline", T_BOOL, offsetof(Form, inline_), 0, NULL},
    {NULL}};

static PyType_Slot Form_slots[] = {
    {Py_tp_doc, "What is the same in all rows of a template."},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_dealloc, Form_dealloc},
    {Py_tp_traverse, Form_traverse},
    {Py_tp_clear, Form_clear},
    {Py_tp_members, Form_members},
    {0, NULL}};

static PyType_Spec Form_spec = {
    "graphscope.eventlog._append.Form", sizeof(Form), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, Form_slots};

/* Place: a call site, and the result that its template is for -------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    PyObject *kind, *shape, *dtype, *constant, *context, *template;
} Place;

static int Place_traverse(Place *self, visitproc visit, void *arg)
{
    Py_VISIT(self->kind);
    Py_VISIT(self->shape);
    Py_VISIT(self->dtype);
    Py_VISIT(self->constant);
    Py_VISIT(self->context);
    Py_VISIT(self->template);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static int Place_clear(Place *self)
{
    Py_CLEAR(self->kind);
    Py_CLEAR(self->shape);
    Py_CLEAR(self->dtype);
    Py_CLEAR(self->constant);
    Py_CLEAR(self->context);
    Py_CLEAR(self->template);
    return 0;
}

static void Place_dealloc(Place *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Place_clear(self);
    type->tp_free((PyObject *)self);
    Py_DECREF(type);
}

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

static PyTypeObject *cursor_type, *form_type, *place_type;

/* Appender: appends to whatever segment is its writer's ------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *segment; /* a Cursor */
    PyObject *sites;   /* call sites by their key */
    PyObject *slow;    /* what takes the other rows */
    int64_t base;
} Appender;

/* Whether some element is NaN or infinite: its exponent is all ones, so that one more carries into the sign's bit. */
#define ANY_NONFINITE(name, type, exponent)                                                                            \
    static int name(const void *data, int64_t size)                                                                    \
    {                                                                                                                  \
        const type *bits = data, least = (exponent) & -(exponent);                                                     \
        type carried = 0;                                                                                              \
        for (int64_t place = 0; place < size / (int64_t)sizeof *bits; place++)                                         \
            carried |= (type)((bits[place] & (exponent)) + least);                                                     \
        return carried >> (8 * sizeof *bits - 1);                                                                      \
    }

ANY_NONFINITE(nonfinite_float16, uint16_t, (uint16_t)0x7c00)
ANY_NONFINITE(nonfinite_bfloat16, uint16_t, (uint16_t)0x7f80)
ANY_NONFINITE(nonfinite_float32, uint32_t, (uint32_t)0x7f800000)
ANY_NONFINITE(nonfinite_float64, uint64_t, (uint64_t)0x7ff0000000000000)

/* By `Form.floating`, which names the elements: see template.FLOATING. */
static int (*const nonfinite[])(const void *, int64_t) = {NULL, nonfinite_float16, nonfinite_bfloat16,
                                                          nonfinite_float32, nonfinite_float64};

/* Write one row (of a tensor of its own where `tensor` is -1), or return -1, with nothing reserved, when it is not of
 * the common kind. No Python code runs in it, but other threads may while a large value is written. */
static int64_t write_row(Appender *self, Form *form, PyObject *value, int64_t time, int64_t duration, int64_t forward,
                         const int64_t *inputs, int count, int64_t tensor)
{
    Cursor *cursor = (Cursor *)self->segment;
    if (cursor == NULL || !form->plain || cursor->next_row >= cursor->end || cursor->next_row >= cursor->rows_ready)
        return -1;
    int64_t row = cursor->next_row, offset = 0;
    int64_t kept = 0;
    int large = form->copied && form->nbytes >= LARGE;
    const void *data = NULL;
    if (form->copied || (form->floating && !form->inline_)) {
        if (PyLong_CheckExact(value)) /* the address of so many bytes as the form says */
            data = PyLong_AsVoidPtr(value);
        else if (!PyArray_Check(value) || !PyArray_ISCARRAY_RO((PyArrayObject *)value) ||
                 PyArray_NBYTES((PyArrayObject *)value) != form->nbytes)
            return -1;
        else
            data = PyArray_DATA((PyArrayObject *)value);
    }
    if (form->copied) {
        offset = large ? cursor->value_end - form->room : cursor->next_value;
        if (large ? offset < cursor->next_value
                  : offset + form->room > cursor->value_end || offset + form->nbytes > cursor->populated)
            return -1;
        kept = offset - cursor->value_start;
    }
    else if (form->inline_) {
        if (PyLong_CheckExact(value))
            memcpy(&kept, PyLong_AsVoidPtr(value), form->nbytes);
        else if (PyArray_Check(value)) {
            if (!PyArray_IS_C_CONTIGUOUS((PyArrayObject *)value) ||
                PyArray_NBYTES((PyArrayObject *)value) != form->nbytes)
                return -1;
            memcpy(&kept, PyArray_DATA((PyArrayObject *)value), form->nbytes);
        }
        else if (PyArray_IsScalar(value, Float32) && form->nbytes == 4)
            memcpy(&kept, &((PyFloat32ScalarObject *)value)->obval, 4);
        else if (PyArray_IsScalar(value, Float64) && form->nbytes == 8)
            memcpy(&kept, &((PyFloat64ScalarObject *)value)->obval, 8);
        else if (PyArray_IsScalar(value, Int64) && form->nbytes == 8)
            memcpy(&kept, &((PyInt64ScalarObject *)value)->obval, 8);
        else
            return -1;
        data = &kept;
    }
    int bad = form->floating && form->floating < Py_ARRAY_LENGTH(nonfinite) &&
              nonfinite[form->floating](data, form->nbytes);
    int rare = form->rare || bad;
    if (rare && cursor->next_rare >= cursor->rare_end)
        return -1;
    Py_INCREF(cursor); /* another thread may put a new one in its place */
    cursor->next_row = row + 1;
    if (large) {
        cursor->value_end = offset;
        write_large(cursor, offset, data, form->nbytes);
    }
    else if (form->copied) {
        cursor->next_value = offset + form->room;
        memcpy((char *)cursor->values.buf + offset, data, form->nbytes);
    }
    if (rare && cursor->next_rare < cursor->rare_end) { /* other threads may have filled it during a large write */
        int64_t listed = row + 1;
        memcpy((char *)cursor->rare.buf + cursor->rare_start + 8 * cursor->next_rare++, &listed, 8);
    }
    char *at = (char *)cursor->rows.buf + cursor->origin + row * ROW;
    int64_t base = self->base;
    int64_t whose = tensor < 0 ? row : tensor ? tensor - base : 0;
    int64_t fields[8] = {whose, time, duration, kept, forward ? forward - base : 0};
    for (int place = 0; place < count; place++)
        fields[5 + place] = inputs[place] ? inputs[place] - base : 0;
    memcpy(at + 1, PyBytes_AS_STRING(form->prefix) + 1, PREFIX - 1);
    at[FLAGS] |= bad; /* Flag.NONFINITE is the lowest bit */
    memcpy(at + TENSOR, fields, sizeof fields);
    atomic_thread_fence(memory_order_release);
    *(volatile unsigned char *)at = form->kind;
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
        int64_t row =
            write_row(self, (Form *)args[0], args[1], numbers[0], numbers[1], numbers[2], numbers + 3, 3, tensor);
        if (row >= 0)
            return PyLong_FromLongLong(row);
    }
    return PyObject_Vectorcall(self->slow, args, flags, names);
}

/* Whether the call site's template is for a result like this one. */
static int fits(Place *place, PyObject *result, PyObject *constant, PyObject *context)
{
    if (place->kind != (PyObject *)Py_TYPE(result) || place->constant != constant || place->context != context ||
        place->template == NULL || !PyObject_TypeCheck(place->template, form_type))
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
    Form *form = (Form *)Py_NewRef(place->template);
    Py_INCREF(site); /* another thread may put a new one in its place */
    int64_t row = write_row(self, form, result, end, end - start, backward, inputs, count, -1);
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

static int64_t append_timed(PyObject *appender, PyObject *template, PyObject *value, int64_t time, int64_t duration,
                            const int64_t links[4])
{
    Appender *self = (Appender *)appender;
    if (PyObject_TypeCheck(template, form_type)) {
        int64_t row = write_row(self, (Form *)template, value, time, duration, links[0], links + 1, 3, -1);
        if (row >= 0)
            return row;
    }
    PyObject *answer = PyObject_CallFunction(self->slow, "OOLLLLLL", template, value, (long long)time,
                                             (long long)duration, (long long)links[0], (long long)links[1],
                                             (long long)links[2], (long long)links[3]);
    if (answer == NULL)
        return -2;
    int64_t row = PyLong_AsLongLong(answer);
    Py_DECREF(answer);
    return row == -1 && PyErr_Occurred() ? -2 : row;
}

static int64_t append(PyObject *appender, PyObject *template, PyObject *value, int64_t time, const int64_t links[4])
{
    return append_timed(appender, template, value, time, 0, links);
}

static int64_t finish(PyObject *appender, int64_t row, int64_t start)
{
    Appender *self = (Appender *)appender;
    Cursor *cursor = (Cursor *)self->segment;
    int64_t end = now(), duration = end - start, at;
    row -= self->base;
    if (cursor == NULL || row < cursor->first || row >= cursor->end)
        return end; /* of an earlier segment: before this one's rows lies the head of its file */
    at = cursor->origin + row * ROW;
    if (at >= 0 && at + ROW <= cursor->rows.len)
        memcpy((char *)cursor->rows.buf + at + DURATION, &duration, 8);
    return end;
}

/* finish(row, start): the duration of a row that was appended before its work was done; the clock's reading. */
static PyObject *Appender_finish(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "finish(row, start)");
        return NULL;
    }
    int64_t row = PyLong_AsLongLong(args[0]), start = PyLong_AsLongLong(args[1]);
    if (PyErr_Occurred())
        return NULL;
    return PyLong_FromLongLong(finish(self, row, start));
}

static int Appender_init(Appender *self, PyObject *args, PyObject *names)
{
    static char *words[] = {"sites", "slow", "base", NULL};
    PyObject *sites, *slow;
    long long base;
    if (!PyArg_ParseTupleAndKeywords(args, names, "O!OL", words, &PyDict_Type, &sites, &slow, &base))
        return -1;
    Py_XSETREF(self->sites, Py_NewRef(sites));
    Py_XSETREF(self->slow, Py_NewRef(slow));
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

static int Appender_traverse(Appender *self, visitproc visit, void *arg)
{
    Py_VISIT(self->segment);
    Py_VISIT(self->sites);
    Py_VISIT(self->slow);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static int Appender_clear(Appender *self)
{
    Py_CLEAR(self->segment);
    Py_CLEAR(self->sites);
    Py_CLEAR(self->slow);
    return 0;
}

static void Appender_dealloc(Appender *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Appender_clear(self);
    type->tp_free((PyObject *)self);
    Py_DECREF(type);
}

static PyMemberDef Appender_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Appender, vectorcall), READONLY, NULL}, {NULL}};

static PyGetSetDef Appender_getset[] = {
    {"segment", (getter)Appender_get_segment, (setter)Appender_set_segment, "Where rows go.", NULL}, {NULL}};

static PyMethodDef Appender_methods[] = {
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

static AppendAPI api = {NULL, NULL, now, row_of_op, append, append_timed, finish};

/* activate(writer): the active log, or None. */
static PyObject *activate(PyObject *module, PyObject *writer)
{
    Py_XSETREF(api.active, Py_NewRef(writer));
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {{"activate", activate, METH_O, "Tell the compiled parts which log is active."}, {NULL}};

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
