/* What stands in the place of methods and functions of torch: `Module.__call__`, `Tensor.backward`, and what functions
 * that are written in Python call for a mode.
 *
 * It does what `Modules.wrapped`, `Backward.direct`, `patches._straight`, `Losses.noting` and `Optimizers.after` do.
 */
#include "_adapter.h"

#define HELD(X) X(original) X(session) X(places) X(append) X(enter) X(kind) X(count) X(pop) X(push) X(attributes)

#define DECLARE(name) PyObject *name;
typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    HELD(DECLARE)
} Method;

/* Whether the recording goes on. */
static int goes_on(Method *self)
{
    int found = is(self->session, &slot_ended, Py_False);
    if (found < 0)
        PyErr_Clear();
    return found == 1;
}

/* Modules ---------------------------------------------------------------------------------------------------------- */

/* The context of a module that is called, a new reference; that of its caller where it is no scope. */
static PyObject *context_of(Method *self, PyObject *outer, PyObject *module)
{
    PyObject *inside = get(outer, &slot_inner);
    PyObject *found = inside == NULL || !PyDict_Check(inside) ? NULL : Py_XNewRef(by_address(inside, module));
    Py_XDECREF(inside);
    PyObject *reference = found == NULL ? NULL : get(found, &slot_module);
    int met = reference != NULL && PyWeakref_CheckRef(reference) && referent(reference) == module;
    Py_XDECREF(reference);
    if (met)
        return found;
    Py_XDECREF(found);
    if (PyErr_Occurred())
        return NULL;
    PyObject *frame = (PyObject *)PyEval_GetFrame();
    found = frame == NULL ? Py_NewRef(Py_None) : PyObject_CallFunctionObjArgs(self->enter, outer, module, frame, NULL);
    if (found == Py_None)
        Py_SETREF(found, Py_NewRef(outer));
    return found;
}

/* Append the mark at one end of a scope; -1 with an error set. */
static int mark(Method *self, PyObject *context, Slot *end)
{
    PyObject *template = get(context, end);
    int64_t row = 0;
    if (template == NULL)
        return -1;
    if (template != Py_None && appending != NULL && Py_IS_TYPE(self->append, appending->appender))
        row = appending->append(self->append, template, Py_None, &(Moment){now(), 0, 0, NULL, 0, -1, 0});
    else if (template != Py_None) {
        PyObject *told = PyObject_CallFunction(self->append, "OOL", template, Py_None, (long long)now());
        row = told == NULL ? -1 : 0;
        Py_XDECREF(told);
    }
    Py_DECREF(template);
    if (row < 0 && !is_interrupted()) { /* there is no room for us on the stack: the module may need less */
        PyErr_Clear();
        return 0;
    }
    return row < 0 ? -1 : 0;
}

/* module(*args, **kwargs), with its scope around it. */
static PyObject *call_module(PyObject *object, PyObject *const *args, size_t flags, PyObject *names)
{
    Method *self = (Method *)object;
    if (PyVectorcall_NARGS(flags) == 0 || !goes_on(self))
        return PyObject_Vectorcall(self->original, args, flags, names);
    Place *place = (Place *)PyObject_GetAttr(self->places, str_here);
    if (place == NULL)
        return NULL;
    if (!PyObject_TypeCheck((PyObject *)place, place_type) || place->busy || place->context == NULL) {
        Py_DECREF((PyObject *)place);
        return PyObject_Vectorcall(self->original, args, flags, names);
    }
    PyObject *outer = Py_NewRef(place->context), *inner = context_of(self, outer, args[0]), *result = NULL;
    if (inner != NULL)
        put(&place->context, inner);
    if (inner == outer)
        result = PyObject_Vectorcall(self->original, args, flags, names);
    else if (inner != NULL && mark(self, inner, &slot_entering) == 0) {
        PyObject *type, *error, *trace;
        result = PyObject_Vectorcall(self->original, args, flags, names);
        PyErr_Fetch(&type, &error, &trace);
        if (mark(self, inner, &slot_leaving) == 0)
            PyErr_Restore(type, error, trace);
        else {
            Py_CLEAR(result);
            Py_XDECREF(type);
            Py_XDECREF(error);
            Py_XDECREF(trace);
        }
    }
    put(&place->context, outer);
    Py_XDECREF(inner);
    Py_DECREF(outer);
    Py_DECREF((PyObject *)place);
    return result;
}

/* Backward --------------------------------------------------------------------------------------------------------- */

/* Our mode, taken from torch's stack where it is the only one, a new reference; NULL where it is not. */
static PyObject *taken(Method *self)
{
    PyObject *count = PyObject_CallNoArgs(self->count);
    int alone = count != NULL && PyLong_Check(count) && PyLong_AsLong(count) == 1;
    Py_XDECREF(count);
    PyObject *mode = alone ? PyObject_CallNoArgs(self->pop) : NULL;
    if (mode != NULL && !Py_IS_TYPE(mode, handler_type)) {
        PyObject *pushed = PyObject_CallOneArg(self->push, mode);
        Py_XDECREF(pushed);
        Py_CLEAR(mode);
    }
    return mode;
}

/* Put it back, unless the recording has ended meanwhile; whether or not an error is set. */
static void give_back(Method *self, PyObject *mode)
{
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyObject *pushed = goes_on(self) ? PyObject_CallOneArg(self->push, mode) : NULL;
    Py_XDECREF(pushed);
    PyErr_Restore(type, error, trace);
    Py_DECREF(mode);
}

/* tensor.backward(...), for which torch would ask the modes: ours has nothing to say to it. */
static PyObject *call_backward(PyObject *object, PyObject *const *args, size_t flags, PyObject *names)
{
    Method *self = (Method *)object;
    int ordinary = PyVectorcall_NARGS(flags) > 0 && (PyObject *)Py_TYPE(args[0]) == self->kind && goes_on(self);
    PyObject *mode = ordinary ? taken(self) : NULL;
    if (PyErr_Occurred())
        return NULL;
    PyObject *result = PyObject_Vectorcall(self->original, args, flags, names);
    if (mode != NULL)
        give_back(self, mode);
    return result;
}

/* Functions written in Python -------------------------------------------------------------------------------------- */

/* Whether these leave a call to the modes: tensors of torch's own classes, and None. */
static int leave_it_to_modes(PyObject *relevant)
{
    if (!PyTuple_CheckExact(relevant))
        return 0;
    for (Py_ssize_t place = 0; place < PyTuple_GET_SIZE(relevant); place++) {
        PyObject *each = PyTuple_GET_ITEM(relevant, place);
        if (each != Py_None && !is_ordinary(each))
            return 0;
    }
    return 1;
}

/* Ask our mode, which stands aside meanwhile, as torch does: with the arguments in a tuple and a dict. None in the place
 * of their classes says that the function hands itself on. */
static PyObject *ask_mode(PyObject *mode, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *given = PyTuple_New(count - 2), *named = PyDict_New(), *result = NULL;
    int failed = given == NULL || named == NULL;
    for (Py_ssize_t place = 2; !failed && place < count; place++)
        PyTuple_SET_ITEM(given, place - 2, Py_NewRef(args[place]));
    for (Py_ssize_t place = 0; !failed && names != NULL && place < PyTuple_GET_SIZE(names); place++)
        failed = PyDict_SetItem(named, PyTuple_GET_ITEM(names, place), args[count + place]) < 0;
    if (!failed)
        result = PyObject_CallFunctionObjArgs(mode, args[0], Py_None, given, named, NULL);
    Py_XDECREF(given);
    Py_XDECREF(named);
    return result;
}

/* handle_torch_function(function, relevant, *args, **kwargs): where ours is the only mode, it is asked at once. */
static PyObject *call_straight(PyObject *object, PyObject *const *args, size_t flags, PyObject *names)
{
    Method *self = (Method *)object;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    PyObject *mode = count >= 2 && leave_it_to_modes(args[1]) ? taken(self) : NULL;
    if (PyErr_Occurred())
        return NULL;
    if (mode == NULL)
        return PyObject_Vectorcall(self->original, args, flags, names);
    PyObject *result = ask_mode(mode, args, count, names);
    give_back(self, mode);
    return result;
}

/* Method ----------------------------------------------------------------------------------------------------------- */

HOLDS(Method, HELD)

/* Bind, as functions of Python do. */
static PyObject *Method_bind(PyObject *self, PyObject *object, PyObject *owner)
{
    return object == NULL || object == Py_None ? Py_NewRef(self) : PyMethod_New(self, object);
}

/* By the name under which it stands in the place of what it is called after: see `pickle`. */
static PyObject *Method_reduce(PyObject *self, PyObject *version) { return PyObject_GetAttr(self, str___qualname__); }

static PyMethodDef Method_methods[] = {{"__reduce_ex__", Method_reduce, METH_O, "The name to be found by."}, {NULL}};

static PyMemberDef Method_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Method, vectorcall), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(Method, attributes), READONLY, NULL},
    {NULL}};

static PyGetSetDef Method_getset[] = {{"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
                                      {NULL}};

static PyType_Slot Method_slots[] = {{Py_tp_call, PyVectorcall_Call},
                                     {Py_tp_descr_get, Method_bind},
                                     {Py_tp_dealloc, Method_dealloc},
                                     {Py_tp_traverse, Method_traverse},
                                     {Py_tp_clear, Method_clear},
                                     {Py_tp_members, Method_members},
                                     {Py_tp_methods, Method_methods},
                                     {Py_tp_getset, Method_getset},
                                     {0, NULL}};

static PyType_Spec Method_spec = {"graphscope.adapters.torch._calls.Method", sizeof(Method), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                                      Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  Method_slots};

static PyTypeObject *method_type;

static Method *new_method(vectorcallfunc vectorcall, PyObject *original, PyObject *session)
{
    Method *self = (Method *)method_type->tp_alloc(method_type, 0);
    if (self != NULL) {
        self->vectorcall = vectorcall;
        put(&self->original, original);
        put(&self->session, session);
    }
    return self;
}

/* scoped(original, session, places, append, enter): `Module.__call__`. */
static PyObject *scoped(PyObject *module, PyObject *args)
{
    PyObject *original, *session, *places, *append, *enter;
    if (!PyArg_ParseTuple(args, "OOOOO", &original, &session, &places, &append, &enter))
        return NULL;
    Method *self = new_method(call_module, original, session);
    if (self != NULL) {
        put(&self->places, places);
        put(&self->append, append);
        put(&self->enter, enter);
    }
    return (PyObject *)self;
}

/* What takes our mode from torch's stack and puts it back: by functions of torch. */
static Method *aside(vectorcallfunc vectorcall, PyObject *args)
{
    PyObject *original, *session, *count, *pop, *push, *kind = Py_None;
    if (!PyArg_ParseTuple(args, "OOOOO|O", &original, &session, &count, &pop, &push, &kind))
        return NULL;
    Method *self = new_method(vectorcall, original, session);
    if (self != NULL) {
        put(&self->kind, kind);
        put(&self->count, count);
        put(&self->pop, pop);
        put(&self->push, push);
    }
    return self;
}

/* direct(original, session, count, pop, push, kind): `backward` of tensors of one class. */
static PyObject *direct(PyObject *module, PyObject *args) { return (PyObject *)aside(call_backward, args); }

/* straight(original, session, count, pop, push): `handle_torch_function`. */
static PyObject *straight(PyObject *module, PyObject *args) { return (PyObject *)aside(call_straight, args); }

/* Training steps that are left out --------------------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    Steps steps;
    PyObject *original, *look;
} StepCall;

#define STEP_PARTS(X) X(original) X(look) X(steps.sampling) X(steps.memory) X(steps.passed)
HOLDS(StepCall, STEP_PARTS)

/* original(first, ...), when the first argument was noted; in a step that is looked at somebody is told of one that could
 * not be, and what he raises is his. */
static PyObject *call_noting(PyObject *object, PyObject *const *args, size_t flags, PyObject *names)
{
    StepCall *self = (StepCall *)object;
    int noted = PyVectorcall_NARGS(flags) > 0 ? note_loss(&self->steps, args[0]) : 1;
    if (noted == 0 && self->steps.counts->idle <= 1) {
        PyObject *told = PyErr_Occurred() ? NULL : PyObject_CallOneArg(self->look, args[0]);
        if (told == NULL)
            return NULL;
        Py_DECREF(told);
    }
    return PyErr_Occurred() ? NULL : PyObject_Vectorcall(self->original, args, flags, names);
}

/* original(...), unless this step is passed over, as by `Sampling.passes_over`: no signal is handled in between. */
static PyObject *call_passing(PyObject *object, PyObject *const *args, size_t flags, PyObject *names)
{
    StepCall *self = (StepCall *)object;
    int passed = PyVectorcall_NARGS(flags) > 0 ? pass_over(&self->steps, args[0]) : 0;
    if (passed > 0)
        return Py_NewRef(Py_None);
    return passed < 0 ? NULL : PyObject_Vectorcall(self->original, args, flags, names);
}

static PyMemberDef StepCall_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(StepCall, vectorcall), READONLY, NULL}, {NULL}};

static PyType_Slot StepCall_slots[] = {{Py_tp_call, PyVectorcall_Call},
                                       {Py_tp_dealloc, StepCall_dealloc},
                                       {Py_tp_traverse, StepCall_traverse},
                                       {Py_tp_clear, StepCall_clear},
                                       {Py_tp_members, StepCall_members},
                                       {0, NULL}};

static PyType_Spec StepCall_spec = {"graphscope.adapters.torch._calls.StepCall", sizeof(StepCall), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                                        Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                    StepCall_slots};

static PyTypeObject *step_call_type;

static PyObject *new_step_call(vectorcallfunc vectorcall, PyObject *original, PyObject *look, PyObject *sampling)
{
    StepCall *self = (StepCall *)step_call_type->tp_alloc(step_call_type, 0);
    if (self == NULL)
        return NULL;
    self->vectorcall = vectorcall;
    put(&self->original, original);
    put(&self->look, look);
    if (find_steps(sampling, &self->steps) < 0)
        Py_CLEAR(self);
    return (PyObject *)self;
}

/* noting(original, look, sampling): a function whose first argument somebody looks at. */
static PyObject *noting(PyObject *module, PyObject *args)
{
    PyObject *original, *look, *sampling;
    if (!PyArg_ParseTuple(args, "OOO", &original, &look, &sampling))
        return NULL;
    return new_step_call(call_noting, original, look, sampling);
}

/* passing(original, sampling): what is told that an optimizer has made a step. */
static PyObject *passing(PyObject *module, PyObject *args)
{
    PyObject *original, *sampling;
    if (!PyArg_ParseTuple(args, "OO", &original, &sampling))
        return NULL;
    return new_step_call(call_passing, original, Py_None, sampling);
}

static PyMethodDef functions[] = {
    {"scoped", scoped, METH_VARARGS, "What stands in the place of Module.__call__."},
    {"direct", direct, METH_VARARGS, "What stands in the place of Tensor.backward."},
    {"straight", straight, METH_VARARGS, "What functions written in Python call for a mode."},
    {"noting", noting, METH_VARARGS, "A function whose first argument somebody looks at."},
    {"passing", passing, METH_VARARGS, "What is told of the steps that are looked at."},
    {NULL}};

int add_methods(PyObject *module)
{
    if (add_passed_steps(module) < 0)
        return -1;
    method_type = (PyTypeObject *)PyType_FromSpec(&Method_spec);
    step_call_type = (PyTypeObject *)PyType_FromSpec(&StepCall_spec);
    return method_type == NULL || step_call_type == NULL ? -1 : PyModule_AddFunctions(module, functions);
}
