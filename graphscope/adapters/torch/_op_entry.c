/* The entry of an op of ATen, at the capture level `ops`: what torch calls below autograd, with the keys of autograd
 * excluded. It does what `Ops.__torch_dispatch__` does, and the op alone runs below: all Python of ours runs as above,
 * since whatever a program has run between two lines - signal handlers, finalizers, callbacks of the collector - would
 * find gradients switched off.
 */
#include "_adapter.h"

#define HELD(X)                                                                                                        \
    X(ops) X(place) X(prepare) X(ran) X(op_class) X(guard) X(included) X(grad_enabled) X(set_grad_enabled) X(above)

#define DECLARE(name) PyObject *name;
typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    HELD(DECLARE)
} OpEntry;

/* What is to be put back when Python of ours is done. */
typedef struct {
    PyObject *guard, *grad_enabled;
    int collects;
} Below;

static int set_gradients(OpEntry *self, PyObject *enabled)
{
    PyObject *aside = ask_torch();
    PyObject *told = aside == NULL ? NULL : PyObject_CallOneArg(self->set_grad_enabled, enabled);
    if (aside != NULL)
        done_asking(aside);
    Py_XDECREF(told);
    return told == NULL ? -1 : 0;
}

/* Whether the program has gradients on, borrowed; NULL where torch has not changed that. */
static PyObject *gradients_above(OpEntry *self)
{
    PyObject *told = PyTuple_GET_ITEM(self->above, 1), *run = ((Place *)self->place)->run;
    if (told != Py_None)
        return told;
    return run == NULL || run == Py_None ? NULL : Py_True; /* the engine switches them off */
}

/* Run as the program does above autograd. */
static int rise(OpEntry *self, Below *below)
{
    *below = (Below){NULL, NULL, PyGC_Disable()};
    PyObject *above = self->above;
    int failed = 0;
    if (above != Py_None) {
        PyObject *words[2] = {PyObject_CallNoArgs(self->included), PyTuple_GET_ITEM(above, 0)};
        below->guard = words[0] == NULL ? NULL : PyObject_Vectorcall(self->guard, words, 2, NULL);
        Py_XDECREF(words[0]);
        PyObject *entered = below->guard == NULL ? NULL : PyObject_CallMethodNoArgs(below->guard, str___enter__);
        if (entered == NULL)
            Py_CLEAR(below->guard);
        Py_XDECREF(entered);
        PyObject *wanted = gradients_above(self);
        PyObject *enabled = entered == NULL ? NULL : PyObject_CallNoArgs(self->grad_enabled);
        failed = enabled == NULL;
        if (!failed && wanted != NULL && enabled != wanted) {
            failed = set_gradients(self, wanted) < 0;
            below->grad_enabled = Py_NewRef(enabled);
        }
        Py_XDECREF(enabled);
    }
    if (below->collects)
        PyGC_Enable();
    return failed ? -1 : 0;
}

/* Run as torch does again. */
static void sink(OpEntry *self, Below *below)
{
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    int collects = PyGC_Disable();
    if (below->grad_enabled != NULL && set_gradients(self, below->grad_enabled) < 0)
        put_off();
    Py_XDECREF(below->grad_enabled);
    if (below->guard != NULL)
        done_asking(below->guard);
    if (collects)
        PyGC_Enable();
    PyErr_Restore(type, error, trace);
}

/* Call something of ours that way. */
static PyObject *call_above(OpEntry *self, PyObject *asked, PyObject *const *words, size_t count)
{
    Below below;
    PyObject *answer = rise(self, &below) < 0 ? NULL : PyObject_Vectorcall(asked, words, count, NULL);
    sink(self, &below);
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
    if (!PyObject_TypeCheck(self->place, place_type)) {
        PyErr_SetString(PyExc_TypeError, "place is no Place");
        return -1;
    }
    self->vectorcall = OpEntry_call;
    return 0;
}

HOLDS(OpEntry, HELD)

static int set_above(OpEntry *self, PyObject *value, void *closure)
{
    if (value == NULL || (value != Py_None && !(PyTuple_CheckExact(value) && PyTuple_GET_SIZE(value) == 2))) {
        PyErr_SetString(PyExc_TypeError, "above is the keys that are excluded and whether gradients are on (None: as they are), or None");
        return -1;
    }
    put(&self->above, value);
    return 0;
}

static PyObject *get_above(OpEntry *self, void *closure) { return Py_NewRef(self->above); }

static PyObject *get_ops(OpEntry *self, void *closure) { return Py_NewRef(self->ops); }

static PyGetSetDef OpEntry_getset[] = {
    {"__self__", (getter)get_ops, NULL, "What torch takes this to be a method of: the mode.", NULL},
    {"above", (getter)get_above, (setter)set_above, "How the program runs above autograd; None: as torch does.", NULL},
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

int add_op_entry(PyObject *module)
{
    PyObject *entry = PyType_FromSpec(&OpEntry_spec);
    int failed = entry == NULL || PyModule_AddObjectRef(module, "OpEntry", entry) < 0;
    Py_XDECREF(entry);
    return failed ? -1 : 0;
}
