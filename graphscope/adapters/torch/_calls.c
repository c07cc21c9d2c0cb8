/* The hot path of recording PyTorch, compiled: a call whose arguments are known tensors and constants, at a call site
 * that is known, with one new tensor for a result. It does what `Calls.__torch_function__` does, and leaves every other
 * case to it. Python is the specification: everything works without this module, and the same rows are written.
 *
 * Nothing here is linked with torch: its objects are asked by their attributes, as Python does.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <structmember.h>
#include <time.h>

enum { INLINE_INPUTS = 3 };

/* The clock of `time.perf_counter_ns`. */
static inline int64_t now(void)
{
    struct timespec moment;
    clock_gettime(CLOCK_MONOTONIC, &moment);
    return (int64_t)moment.tv_sec * 1000000000 + moment.tv_nsec;
}

#define NAMES(X)                                                                                                       \
    X(ended) X(busy) X(context) X(ignored) X(plain) X(key) X(gate) X(low) X(_version) X(shape) X(dtype)                \
    X(requires_grad) X(_base) X(is_cpu) X(is_contiguous) X(data_ptr) X(sites) X(sites_without_grad) X(backward_row)    \
    X(grad_fn) X(metadata) X(sequence) X(turn) X(append) X(module)
#define DECLARE(name) static PyObject *str_##name;
NAMES(DECLARE)

/* Known: a tensor that the log has a row of ------------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    PyObject *reference; /* a weak one */
    int64_t row, counter, seen;
    PyObject *group, *more;
} Known;

static PyObject *Known_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    PyObject *tensor;
    if (!PyArg_ParseTuple(args, "O", &tensor))
        return NULL;
    Known *self = (Known *)type->tp_alloc(type, 0);
    if (self != NULL && (self->reference = PyWeakref_NewRef(tensor, NULL)) == NULL)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static void Known_dealloc(Known *self)
{
    Py_CLEAR(self->reference);
    Py_CLEAR(self->group);
    Py_CLEAR(self->more);
    PyTypeObject *type = Py_TYPE(self);
    type->tp_free((PyObject *)self);
    Py_DECREF(type);
}

static PyObject *Known_call(Known *self, PyObject *args, PyObject *names)
{
    return Py_NewRef(PyWeakref_GET_OBJECT(self->reference));
}

static PyMemberDef Known_members[] = {
    {"row", T_LONGLONG, offsetof(Known, row), 0, NULL},       {"counter", T_LONGLONG, offsetof(Known, counter), 0, NULL},
    {"seen", T_LONGLONG, offsetof(Known, seen), 0, NULL},     {"group", T_OBJECT, offsetof(Known, group), 0, NULL},
    {"more", T_OBJECT, offsetof(Known, more), 0, NULL},       {NULL}};

static PyType_Slot Known_slots[] = {{Py_tp_doc, "A tensor that the log has a row of; calling it gives the tensor, or None."},
                                    {Py_tp_new, Known_new},
                                    {Py_tp_dealloc, Known_dealloc},
                                    {Py_tp_call, Known_call},
                                    {Py_tp_members, Known_members},
                                    {0, NULL}};

static PyType_Spec Known_spec = {"graphscope.adapters.torch._calls.Known", sizeof(Known), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, Known_slots};

/* Site: a call site, and the result that its template is for --------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    PyObject *shape, *dtype, *constants, *template, *fields;
    int64_t count;
    char requires_grad, direct, summary;
} Site;

static int Site_traverse(Site *self, visitproc visit, void *arg)
{
    Py_VISIT(self->shape);
    Py_VISIT(self->dtype);
    Py_VISIT(self->constants);
    Py_VISIT(self->template);
    Py_VISIT(self->fields);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static int Site_clear(Site *self)
{
    Py_CLEAR(self->shape);
    Py_CLEAR(self->dtype);
    Py_CLEAR(self->constants);
    Py_CLEAR(self->template);
    Py_CLEAR(self->fields);
    return 0;
}

static void Site_dealloc(Site *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Site_clear(self);
    type->tp_free((PyObject *)self);
    Py_DECREF(type);
}

#define OBJECT(name) {#name, T_OBJECT, offsetof(Site, name), 0, NULL}
#define TRUTH(name) {#name, T_BOOL, offsetof(Site, name), 0, NULL}
static PyMemberDef Site_members[] = {OBJECT(shape),  OBJECT(dtype),  OBJECT(constants),
                                     OBJECT(template), OBJECT(fields), TRUTH(requires_grad), TRUTH(direct), TRUTH(summary),
                                     {"count", T_LONGLONG, offsetof(Site, count), 0, NULL}, {NULL}};

static PyType_Slot Site_slots[] = {{Py_tp_doc, "A call site, and the result that its template is for."},
                                   {Py_tp_new, PyType_GenericNew},
                                   {Py_tp_dealloc, Site_dealloc},
                                   {Py_tp_traverse, Site_traverse},
                                   {Py_tp_clear, Site_clear},
                                   {Py_tp_members, Site_members},
                                   {0, NULL}};

static PyType_Spec Site_spec = {"graphscope.adapters.torch._calls.Site", sizeof(Site), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, Site_slots};

static PyTypeObject *known_type, *site_type;

/* Handler: what torch calls in the place of its functions ------------------------------------------------------------ */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    int64_t room; /* so many entries of the table are let stand before those of dead tensors are taken out */
    PyObject *mode, *prepare, *finish, *failed, *view, *purge;
    PyObject *session, *place, *writer;
    PyObject *calls, *kinds, *inside, *table; /* dicts */
    PyObject *tensor_type, *known_class, *tensor_kind, *plain_kind, *grad_enabled, *sequence_number, *link;
} Handler;

/* An attribute that is a number. */
static int64_t number(PyObject *object, PyObject *name)
{
    PyObject *found = PyObject_GetAttr(object, name);
    if (found == NULL)
        return -1;
    int64_t value = PyLong_AsLongLong(found);
    Py_DECREF(found);
    return value;
}

/* Whether an attribute is `wanted`; -1 for an error. */
static int is(PyObject *object, PyObject *name, PyObject *wanted)
{
    PyObject *found = PyObject_GetAttr(object, name);
    Py_XDECREF(found);
    return found == NULL ? -1 : found == wanted;
}

static PyObject *by_address(PyObject *dict, const void *address)
{
    PyObject *key = PyLong_FromVoidPtr((void *)address);
    PyObject *found = key == NULL ? NULL : PyDict_GetItemWithError(dict, key);
    Py_XDECREF(key);
    return found;
}

/* The innermost frame of the program; a new reference, NULL where that takes more than a look. */
static PyFrameObject *program_frame(Handler *self)
{
    PyFrameObject *frame = PyEval_GetFrame();
    Py_XINCREF(frame);
    while (frame != NULL) {
        PyCodeObject *code = PyFrame_GetCode(frame);
        PyObject *inside = by_address(self->inside, code);
        Py_DECREF(code);
        if (inside == Py_False)
            return frame;
        PyFrameObject *outer = inside == Py_True ? PyFrame_GetBack(frame) : NULL;
        Py_DECREF(frame);
        frame = outer;
    }
    return NULL;
}

/* The row of an argument that is a tensor, as it is now; -1 where that takes more than a look. */
static int64_t row_of(Handler *self, PyObject *tensor, int64_t low)
{
    PyObject *found = by_address(self->table, tensor);
    if (found == NULL || !PyObject_TypeCheck(found, known_type))
        return -1;
    Known *known = (Known *)found;
    if (PyWeakref_GET_OBJECT(known->reference) != tensor || known->row < low)
        return -1;
    if (known->group != NULL && known->group != Py_None && number(known->group, str_turn) != known->seen)
        return -1;
    if (number(tensor, str__version) != known->counter) {
        PyErr_Clear(); /* those of inference mode count no writes */
        return -1;
    }
    return known->row;
}

/* Whether the template of a site is for such a result; -1 for an error. */
static int fits(Site *site, PyObject *result, PyObject *constants, Py_ssize_t count)
{
    if (site->count != count || site->template == NULL || site->shape == NULL || site->constants == NULL)
        return 0;
    int same = is(result, str_dtype, site->dtype);
    if (same <= 0)
        return same;
    same = is(result, str_requires_grad, site->requires_grad ? Py_True : Py_False);
    if (same <= 0)
        return same;
    PyObject *shape = PyObject_GetAttr(result, str_shape);
    if (shape == NULL)
        return -1;
    same = PyObject_RichCompareBool(shape, site->shape, Py_EQ);
    Py_DECREF(shape);
    if (same <= 0)
        return same;
    return PyObject_RichCompareBool(constants, site->constants, Py_EQ);
}

/* The address of the elements of a tensor that lie in one row in memory, as a new reference; NULL without an error where
 * they do not. */
static PyObject *address_of(PyObject *tensor)
{
    if (is(tensor, str_is_cpu, Py_True) != 1)
        return NULL;
    PyObject *contiguous = PyObject_CallMethodNoArgs(tensor, str_is_contiguous);
    Py_XDECREF(contiguous);
    if (contiguous != Py_True)
        return NULL;
    PyObject *address = PyObject_CallMethodNoArgs(tensor, str_data_ptr);
    if (address != NULL && PyObject_IsTrue(address))
        return address;
    Py_XDECREF(address);
    return NULL;
}

/* The row of a result whose site is known, and everything that goes with it; 1 when done, 0 when it is not of the common
 * kind (nothing has happened then), -1 for an error. */
static int record(Handler *self, PyObject *call, PyFrameObject *frame, PyObject *result, PyObject *args, PyObject *rows,
                  PyObject *constants, int64_t start, int64_t end)
{
    Py_ssize_t count = PyList_GET_SIZE(rows);
    if ((PyObject *)Py_TYPE(result) != self->tensor_type || count > INLINE_INPUTS)
        return 0;
    PyObject *identity = PyLong_FromVoidPtr(result);
    if (identity == NULL)
        return -1;
    PyObject *before = PyDict_GetItemWithError(self->table, identity);
    if (before != NULL && PyObject_TypeCheck(before, known_type) &&
        PyWeakref_GET_OBJECT(((Known *)before)->reference) == result) {
        Py_DECREF(identity);
        return 0;
    }
    int answer = -1;
    PyObject *context = NULL, *enabled = NULL, *sites = NULL, *value = NULL, *row = NULL, *key = NULL, *base = NULL;
    Site *site = NULL;
    if ((context = PyObject_GetAttr(self->place, str_context)) == NULL ||
        (enabled = PyObject_CallNoArgs(self->grad_enabled)) == NULL ||
        (sites = PyObject_GetAttr(context, enabled == Py_True ? str_sites : str_sites_without_grad)) == NULL)
        goto leave;
    PyCodeObject *code = PyFrame_GetCode(frame);
    key = PyLong_FromLongLong((int64_t)(uintptr_t)code + PyFrame_GetLasti(frame) + number(call, str_key));
    Py_DECREF(code);
    if (key == NULL)
        goto leave;
    site = (Site *)PyDict_GetItemWithError(sites, key);
    if (site == NULL || !PyObject_TypeCheck((PyObject *)site, site_type) || !site->direct || site->summary) {
        site = NULL;
        answer = PyErr_Occurred() ? -1 : 0;
        goto leave;
    }
    Py_INCREF(site);
    answer = fits(site, result, constants, count);
    if (answer != 1) {
        PyErr_Clear(); /* of constants that can't be compared */
        answer = 0;
        goto leave;
    }
    value = address_of(result);
    if (value == NULL) {
        PyErr_Clear();
        answer = 0;
        goto leave;
    }
    answer = -1;
    PyObject *given[9] = {NULL, site->template, value, PyLong_FromLongLong(end), PyLong_FromLongLong(end - start),
                          PyObject_GetAttr(self->place, str_backward_row)};
    for (Py_ssize_t place = 0; place < count; place++)
        given[6 + place] = PyList_GET_ITEM(rows, place);
    PyObject *append = PyObject_GetAttr(self->writer, str_append);
    if (given[3] != NULL && given[4] != NULL && given[5] != NULL && append != NULL)
        row = PyObject_Vectorcall(append, given + 1, (5 + count) | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    Py_XDECREF(append);
    Py_XDECREF(given[3]);
    Py_XDECREF(given[4]);
    Py_XDECREF(given[5]);
    if (row == NULL)
        goto leave;
    PyObject *known = PyObject_CallOneArg(self->known_class, result);
    if (known == NULL)
        goto leave;
    ((Known *)known)->row = PyLong_AsLongLong(row);
    answer = PyDict_SetItem(self->table, identity, known);
    if (answer == 0 && PyDict_GET_SIZE(self->table) > self->room) {
        PyObject *room = PyObject_CallNoArgs(self->purge);
        self->room = room == NULL ? -1 : PyLong_AsLongLong(room);
        Py_XDECREF(room);
        answer = PyErr_Occurred() ? -1 : 0;
    }
    if (answer == 0 && (base = PyObject_GetAttr(result, str__base)) == NULL)
        answer = -1;
    if (answer == 0 && base != Py_None) {
        PyObject *seen = PyObject_CallFunctionObjArgs(self->view, known, result, args, NULL);
        Py_XDECREF(seen);
        answer = seen == NULL ? -1 : 0;
    }
    Py_DECREF(known);
    if (answer == 0 && site->requires_grad) {
        answer = -1;
        PyObject *node = PyObject_GetAttr(result, str_grad_fn);
        if (node != NULL && node != Py_None) {
            PyObject *metadata = PyObject_GetAttr(node, str_metadata);
            PyObject *sequence = PyObject_GetAttr(self->place, str_sequence);
            PyObject *link = sequence == NULL ? NULL : PyTuple_Pack(3, row, site->fields, sequence);
            PyObject *next = PyObject_CallNoArgs(self->sequence_number);
            if (metadata != NULL && link != NULL && next != NULL && PyObject_SetItem(metadata, self->link, link) == 0)
                answer = PyObject_SetAttr(self->place, str_sequence, next);
            Py_XDECREF(metadata);
            Py_XDECREF(sequence);
            Py_XDECREF(link);
            Py_XDECREF(next);
        }
        else if (node != NULL)
            answer = 0; /* a leaf */
        Py_XDECREF(node);
    }
    answer = answer == 0 ? 1 : -1;
leave:
    Py_XDECREF(base);
    Py_DECREF(identity);
    Py_XDECREF(context);
    Py_XDECREF(enabled);
    Py_XDECREF(sites);
    Py_XDECREF(key);
    Py_XDECREF(site);
    Py_XDECREF(value);
    Py_XDECREF(row);
    return answer;
}

/* Sort the arguments; 1 when all are tensors that are known and constants, else 0. */
static int sort(Handler *self, PyObject *args, int64_t low, PyObject *rows, PyObject *constants)
{
    for (Py_ssize_t place = 0; place < PyTuple_GET_SIZE(args); place++) {
        PyObject *value = PyTuple_GET_ITEM(args, place);
        PyObject *kind = PyDict_GetItemWithError(self->kinds, (PyObject *)Py_TYPE(value));
        if (kind == self->tensor_kind) {
            int64_t row = row_of(self, value, low);
            PyObject *boxed = row < 0 ? NULL : PyLong_FromLongLong(row);
            int failed = boxed == NULL || PyList_Append(rows, boxed) < 0;
            Py_XDECREF(boxed);
            if (failed)
                return 0;
        }
        else if (kind != self->plain_kind || PyList_Append(constants, value) < 0)
            return 0;
    }
    return 1;
}

/* Whether a call is of the common kind so far: its arguments are sorted then. */
static int is_common(Handler *self, PyObject *call, PyObject *args, PyObject *kwargs, PyFrameObject **frame, PyObject *rows,
                     PyObject *constants)
{
    if (call == NULL || (kwargs != NULL && PyDict_GET_SIZE(kwargs)) || is(call, str_plain, Py_True) != 1 ||
        is(self->session, str_ended, Py_False) != 1 || is(self->writer, str_gate, Py_None) != 1)
        return 0;
    *frame = program_frame(self);
    if (*frame == NULL)
        return 0;
    if (*frame != PyEval_GetFrame()) { /* torch itself calls: it may be making a module */
        PyObject *context = PyObject_GetAttr(self->place, str_context);
        int making = context == NULL || is(context, str_module, Py_None) != 0;
        Py_XDECREF(context);
        if (making)
            return 0;
    }
    return sort(self, args, number(self->writer, str_low), rows, constants);
}

/* Tell the log of an exception that is set, and leave it set. */
static void tell(Handler *self, PyObject *call, PyObject *frame, PyObject *rows)
{
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    if (PyErr_GivenExceptionMatches(type, PyExc_Exception)) {
        PyObject *told = PyObject_CallFunctionObjArgs(self->failed, call, frame, rows, error, NULL);
        if (told == NULL)
            PyErr_Clear();
        Py_XDECREF(told);
    }
    PyErr_Restore(type, error, trace);
}

/* __torch_function__(func, types, args=(), kwargs=None). The function is called from here in every case: what it warns
 * of is told of the program's line, and its exceptions pass no frame of ours. */
static PyObject *Handler_call(PyObject *object, PyObject *const *given, size_t flags, PyObject *names)
{
    Handler *self = (Handler *)object;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    if (names != NULL || count < 3 || !PyTuple_Check(given[2])) {
        PyErr_SetString(PyExc_TypeError, "__torch_function__(func, types, args, kwargs)");
        return NULL;
    }
    PyObject *func = given[0], *args = given[2], *kwargs = count > 3 && given[3] != Py_None ? given[3] : NULL;
    PyObject *call = PyDict_GetItemWithError(self->calls, func), *held = NULL;
    if (call == NULL && PyErr_Occurred())
        return NULL;
    if (is(self->place, str_busy, Py_True) == 1 || (call != NULL && is(call, str_ignored, Py_True) == 1))
        return PyObject_Call(func, args, kwargs);
    PyFrameObject *found = NULL;
    PyObject *rows = PyList_New(0), *constants = PyList_New(0), *frame = NULL, *result = NULL, *prepared = NULL;
    if (rows == NULL || constants == NULL)
        goto leave;
    int common = is_common(self, call, args, kwargs, &found, rows, constants);
    frame = (PyObject *)found;
    if (common)
        held = Py_NewRef(call);
    else {
        PyErr_Clear();
        call = NULL;
        PyFrameObject *direct = PyEval_GetFrame();
        prepared = direct == NULL ? Py_NewRef(Py_None)
                                  : PyObject_CallFunctionObjArgs(self->prepare, direct, func, args,
                                                                 kwargs ? kwargs : Py_None, NULL);
        if (prepared == NULL)
            goto leave;
        if (prepared == Py_None) {
            result = PyObject_Call(func, args, kwargs);
            goto leave;
        }
        Py_XSETREF(rows, NULL);
        Py_XSETREF(constants, NULL);
        Py_XSETREF(frame, NULL);
        if (!PyArg_ParseTuple(prepared, "OOOO", &call, &frame, &rows, &constants)) {
            call = frame = rows = constants = NULL;
            goto leave;
        }
        held = Py_NewRef(call);
        Py_INCREF(frame);
        Py_INCREF(rows);
        Py_INCREF(constants);
    }
    int64_t start = now();
    result = PyObject_Call(func, args, kwargs);
    int64_t end = now();
    if (result == NULL) {
        tell(self, call, frame, rows);
        goto leave;
    }
    int done = common ? record(self, call, (PyFrameObject *)frame, result, args, rows, constants, start, end) : 0;
    if (done == 0) {
        PyObject *told = PyObject_CallFunction(self->finish, "OOOOOOOLL", call, result, args, kwargs ? kwargs : Py_None,
                                               rows, constants, frame, (long long)start, (long long)end);
        Py_XDECREF(told);
        done = told == NULL ? -1 : 1;
    }
    if (done < 0)
        Py_CLEAR(result);
leave:
    Py_XDECREF(held);
    Py_XDECREF(frame);
    Py_XDECREF(rows);
    Py_XDECREF(constants);
    Py_XDECREF(prepared);
    return result;
}

#define HELD(X)                                                                                                        \
    X(mode) X(prepare) X(finish) X(failed) X(view) X(purge) X(session) X(place) X(writer) X(calls) X(kinds) X(inside) X(table)            \
    X(tensor_type) X(known_class) X(tensor_kind) X(plain_kind) X(grad_enabled) X(sequence_number) X(link)

static int Handler_init(Handler *self, PyObject *args, PyObject *names)
{
    if (PyTuple_GET_SIZE(args) || names == NULL) {
        PyErr_SetString(PyExc_TypeError, "Handler takes everything by name");
        return -1;
    }
#define TAKE(name)                                                                                                     \
    PyObject *name = PyDict_GetItemString(names, #name);                                                               \
    if (name == NULL) {                                                                                                \
        PyErr_SetString(PyExc_TypeError, "Handler lacks " #name);                                                      \
        return -1;                                                                                                     \
    }                                                                                                                  \
    Py_XSETREF(self->name, Py_NewRef(name));
    HELD(TAKE)
    if (!PyDict_Check(self->calls) || !PyDict_Check(self->kinds) || !PyDict_Check(self->inside) ||
        !PyDict_Check(self->table)) {
        PyErr_SetString(PyExc_TypeError, "calls, kinds, inside and table are dicts");
        return -1;
    }
    self->vectorcall = Handler_call;
    return 0;
}

static int Handler_traverse(Handler *self, visitproc visit, void *arg)
{
#define VISIT(name) Py_VISIT(self->name);
    HELD(VISIT)
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static int Handler_clear(Handler *self)
{
#define CLEAR(name) Py_CLEAR(self->name);
    HELD(CLEAR)
    return 0;
}

static void Handler_dealloc(Handler *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Handler_clear(self);
    type->tp_free((PyObject *)self);
    Py_DECREF(type);
}

static PyMemberDef Handler_members[] = {
    {"__self__", T_OBJECT, offsetof(Handler, mode), READONLY, NULL}, /* torch wants a method of the mode */
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Handler, vectorcall), READONLY, NULL}, {NULL}};

static PyType_Slot Handler_slots[] = {{Py_tp_doc, "What torch calls in the place of its functions."},
                                      {Py_tp_new, PyType_GenericNew},
                                      {Py_tp_init, Handler_init},
                                      {Py_tp_call, PyVectorcall_Call},
                                      {Py_tp_dealloc, Handler_dealloc},
                                      {Py_tp_traverse, Handler_traverse},
                                      {Py_tp_clear, Handler_clear},
                                      {Py_tp_members, Handler_members},
                                      {0, NULL}};

static PyType_Spec Handler_spec = {"graphscope.adapters.torch._calls.Handler", sizeof(Handler), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, Handler_slots};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_calls", "The hot path of recording PyTorch.", -1, NULL};

PyMODINIT_FUNC PyInit__calls(void)
{
#define INTERN(name)                                                                                                   \
    if ((str_##name = PyUnicode_InternFromString(#name)) == NULL)                                                      \
        return NULL;
    NAMES(INTERN)
    PyObject *module = PyModule_Create(&definition);
    PyObject *known = PyType_FromSpec(&Known_spec), *site = PyType_FromSpec(&Site_spec),
             *handler = PyType_FromSpec(&Handler_spec);
    if (module == NULL || known == NULL || site == NULL || handler == NULL ||
        PyModule_AddObjectRef(module, "Known", known) < 0 || PyModule_AddObjectRef(module, "Site", site) < 0 ||
        PyModule_AddObjectRef(module, "Handler", handler) < 0)
        return NULL;
    known_type = (PyTypeObject *)known;
    site_type = (PyTypeObject *)site;
    Py_DECREF(handler);
    return module;
}
