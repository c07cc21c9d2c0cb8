/* What torch calls for a call and for an op of ATen, at the capture level `ops`.
 *
 * For an op that is below autograd, with the keys of autograd excluded. The entry does what `Ops.__torch_dispatch__`
 * does, and the op alone runs below: all Python of ours runs as above, since whatever a program has run between two
 * lines - signal handlers, finalizers, callbacks of the collector - would find gradients switched off. The entry of a
 * call tells it what holds above, and leaves no frame of ours in a traceback.
 */
#include "_adapter.h"

/* Ops -------------------------------------------------------------------------------------------------------------- */

#define HELD(X) X(ops) X(prepare) X(ran) X(op_class) X(guard) X(included) X(above)

static PyTypeObject *op_entry_type;

/* `above` are the keys that are excluded where the program runs. */
#define DECLARE(name) PyObject *name;
typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    HELD(DECLARE)
} OpEntry;

/* Run as the program does above autograd; what is to be put back, a new reference, or NULL with an error set. */
static PyObject *rise(OpEntry *self)
{
    int collects = PyGC_Disable(); /* what the collector calls would run below */
    PyObject *words[2] = {PyObject_CallNoArgs(self->included), self->above};
    PyObject *guard = words[0] == NULL ? NULL : PyObject_Vectorcall(self->guard, words, 2, NULL);
    Py_XDECREF(words[0]);
    PyObject *entered = guard == NULL ? NULL : PyObject_CallMethodNoArgs(guard, str___enter__);
    if (entered == NULL)
        Py_CLEAR(guard);
    Py_XDECREF(entered);
    if (collects)
        PyGC_Enable();
    return guard;
}

/* Run as torch does again. */
static void sink(PyObject *guard)
{
    int collects = PyGC_Disable();
    done_asking(guard);
    if (collects)
        PyGC_Enable();
}

/* Call something of ours that way. */
static PyObject *call_above(OpEntry *self, PyObject *asked, PyObject *const *words, size_t count)
{
    PyObject *guard = rise(self);
    PyObject *answer = guard == NULL ? NULL : PyObject_Vectorcall(asked, words, count, NULL);
    if (guard != NULL)
        sink(guard);
    return answer;
}

/* Run an op; `known`: it is recorded, and one that is called by its name is not to be asked about as a call again. */
static PyObject *run_op(PyObject *func, PyObject *args, PyObject *names, int known)
{
    PyObject *aside = known ? ask_torch() : NULL;
    PyObject *op = known && aside == NULL ? NULL : PyObject_GetAttr(func, str__op);
    PyObject *result = op == NULL ? NULL : PyObject_Call(op, args, names);
    Py_XDECREF(op);
    if (aside != NULL)
        done_asking(aside);
    return result;
}

static PyObject *OpEntry_call(PyObject *object, PyObject *const *words, size_t flags, PyObject *keywords)
{
    OpEntry *self = (OpEntry *)object;
    calls_made++;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    if (keywords != NULL || count < 3 || !PyTuple_Check(words[2])) {
        PyErr_SetString(PyExc_TypeError, "__torch_dispatch__(func, types, args, kwargs)");
        return NULL;
    }
    PyObject *func = words[0], *args = words[2];
    PyObject *names = count > 3 && words[3] != Py_None ? Py_NewRef(words[3]) : PyDict_New();
    int is_op = names == NULL ? -1 : PyObject_IsInstance(func, self->op_class);
    PyObject *frame = (PyObject *)PyEval_GetFrame(), *result = NULL, *prepared = NULL;
    if (is_op == 0) /* it takes functions, and calls them */
        result = PyObject_Call(func, args, names);
    else if (is_op > 0) {
        PyObject *given[4] = {frame == NULL ? Py_None : frame, func, args, names};
        prepared = call_above(self, self->prepare, given, 4);
    }
    if (prepared == Py_None)
        result = run_op(func, args, names, 0);
    else if (prepared != NULL) {
        int64_t start = now();
        result = run_op(func, args, names, 1);
        PyObject *times[2] = {PyLong_FromLongLong(start), PyLong_FromLongLong(now())};
        if (result != NULL && times[0] != NULL && times[1] != NULL) {
            PyObject *given[6] = {prepared, args, names, result, times[0], times[1]};
            PyObject *told = call_above(self, self->ran, given, 6);
            if (told == NULL)
                Py_CLEAR(result);
            Py_XDECREF(told);
        }
        Py_XDECREF(times[0]);
        Py_XDECREF(times[1]);
    }
    Py_XDECREF(prepared);
    Py_XDECREF(names);
    return result;
}

static int OpEntry_init(OpEntry *self, PyObject *args, PyObject *names)
{
    TAKE_BY_NAME(OpEntry, HELD)
    self->vectorcall = OpEntry_call;
    return 0;
}

HOLDS(OpEntry, HELD)

static PyObject *get_ops(OpEntry *self, void *closure) { return Py_NewRef(self->ops); }

static PyGetSetDef OpEntry_getset[] = {
    {"__self__", (getter)get_ops, NULL, "What torch takes this to be a method of: the mode.", NULL},
    {NULL}};

static PyMemberDef OpEntry_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(OpEntry, vectorcall), READONLY, NULL}, {NULL}};

static PyType_Slot OpEntry_slots[] = {{Py_tp_doc, "What torch calls for each op of ATen."},
                                      {Py_tp_new, PyType_GenericNew},
                                      {Py_tp_init, OpEntry_init},
                                      {Py_tp_call, PyVectorcall_Call},
                                      {Py_tp_dealloc, OpEntry_dealloc},
                                      {Py_tp_traverse, OpEntry_traverse},
                                      {Py_tp_clear, OpEntry_clear},
                                      {Py_tp_members, OpEntry_members},
                                      {Py_tp_getset, OpEntry_getset},
                                      {0, NULL}};

static PyType_Spec OpEntry_spec = {"graphscope.adapters.torch._calls.OpEntry", sizeof(OpEntry), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, OpEntry_slots};

/* Calls ------------------------------------------------------------------------------------------------------------ */

#define CALL_HELD(X) X(calls) X(called) X(code) X(ops) X(excluded)

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    CALL_HELD(DECLARE)
} CallEntry;

/* Take the frame of a code from the head of the traceback of the error that is set. */
static void hide(PyObject *code)
{
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    if (trace != NULL && PyTraceBack_Check(trace)) {
        PyTracebackObject *head = (PyTracebackObject *)trace;
        PyCodeObject *first = PyFrame_GetCode(head->tb_frame);
        if ((PyObject *)first == code)
            Py_SETREF(trace, Py_XNewRef((PyObject *)head->tb_next));
        Py_DECREF(first);
    }
    PyErr_Restore(type, error, trace);
}

static PyObject *CallEntry_call(PyObject *object, PyObject *const *words, size_t flags, PyObject *keywords)
{
    CallEntry *self = (CallEntry *)object;
    calls_made++;
    OpEntry *ops = (OpEntry *)self->ops;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    if (keywords != NULL || count < 3 || !PyTuple_Check(words[2])) {
        PyErr_SetString(PyExc_TypeError, "__torch_function__(func, types, args, kwargs)");
        return NULL;
    }
    PyObject *names = count > 3 ? words[3] : Py_None, *frame = (PyObject *)PyEval_GetFrame();
    if (frame == NULL) /* no line of the program's */
        return PyObject_Call(words[0], words[2], names == Py_None ? NULL : names);
    PyObject *above = PyObject_CallNoArgs(self->excluded), *around = ops->above;
    if (above == NULL)
        return NULL;
    PyObject *given[5] = {frame, words[0], words[1], words[2], names};
    ops->above = above;
    PyObject *result = PyObject_Vectorcall(self->called, given, 5, NULL);
    Py_SETREF(ops->above, around);
    if (result == NULL)
        hide(self->code);
    return result;
}

static int CallEntry_init(CallEntry *self, PyObject *args, PyObject *names)
{
    TAKE_BY_NAME(CallEntry, CALL_HELD)
    if (!Py_IS_TYPE(self->ops, op_entry_type)) {
        PyErr_SetString(PyExc_TypeError, "ops is no OpEntry");
        return -1;
    }
    self->vectorcall = CallEntry_call;
    return 0;
}

HOLDS(CallEntry, CALL_HELD)

static PyObject *get_calls(CallEntry *self, void *closure) { return Py_NewRef(self->calls); }

static PyGetSetDef CallEntry_getset[] = {
    {"__self__", (getter)get_calls, NULL, "What torch takes this to be a method of: the mode.", NULL}, {NULL}};

static PyMemberDef CallEntry_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(CallEntry, vectorcall), READONLY, NULL}, {NULL}};

static PyType_Slot CallEntry_slots[] = {{Py_tp_doc, "What torch calls in the place of its functions."},
                                        {Py_tp_new, PyType_GenericNew},
                                        {Py_tp_init, CallEntry_init},
                                        {Py_tp_call, PyVectorcall_Call},
                                        {Py_tp_dealloc, CallEntry_dealloc},
                                        {Py_tp_traverse, CallEntry_traverse},
                                        {Py_tp_clear, CallEntry_clear},
                                        {Py_tp_members, CallEntry_members},
                                        {Py_tp_getset, CallEntry_getset},
                                        {0, NULL}};

static PyType_Spec CallEntry_spec = {"graphscope.adapters.torch._calls.CallEntry", sizeof(CallEntry), 0,
                                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
                                     CallEntry_slots};

int add_op_entry(PyObject *module)
{
    op_entry_type = (PyTypeObject *)PyType_FromSpec(&OpEntry_spec);
    PyObject *call = PyType_FromSpec(&CallEntry_spec);
    int failed = op_entry_type == NULL || call == NULL || PyModule_AddObjectRef(module, "CallEntry", call) < 0 ||
                 PyModule_AddObjectRef(module, "OpEntry", (PyObject *)op_entry_type) < 0;
    Py_XDECREF(call);
    return failed ? -1 : 0;
}
