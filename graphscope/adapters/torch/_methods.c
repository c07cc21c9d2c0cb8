/* What stands in the place of methods of torch: `Module.__call__`, and `Tensor.backward`.
 *
 * It does what `Modules.wrapped` and `Backward.direct` do.
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
    return row < 0 ? -1 : 0;
}

/* module(*args, **kwargs), with its scope around it. */
static PyObject *call_module(PyObject *object, PyObject *const *args, size_t flags, PyObject *names)
{
    Method *self = (Method *)object;
    Place *place = (Place *)PyObject_GetAttr(self->places, str_here);
    if (place == NULL)
        return NULL;
    if (PyVectorcall_NARGS(flags) == 0 || !PyObject_TypeCheck((PyObject *)place, place_type) || place->busy ||
        place->context == NULL || !goes_on(self)) {
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

/* tensor.backward(...), for which torch would ask the modes: ours has nothing to say to it. */
static PyObject *call_backward(PyObject *object, PyObject *const *args, size_t flags, PyObject *names)
{
    Method *self = (Method *)object;
    PyObject *result = NULL;
    if (PyVectorcall_NARGS(flags) == 0 || (PyObject *)Py_TYPE(args[0]) != self->kind || !goes_on(self))
        return PyObject_Vectorcall(self->original, args, flags, names);
    PyObject *count = PyObject_CallNoArgs(self->count), *mode = NULL;
    int alone = count != NULL && PyLong_Check(count) && PyLong_AsLong(count) == 1;
    Py_XDECREF(count);
    if (count == NULL || (alone && (mode = PyObject_CallNoArgs(self->pop)) == NULL))
        return NULL;
    int ours = mode != NULL && Py_IS_TYPE(mode, handler_type);
    if (ours)
        result = PyObject_Vectorcall(self->original, args, flags, names);
    if (mode != NULL) {
        PyObject *type, *error, *trace;
        PyErr_Fetch(&type, &error, &trace);
        PyObject *pushed = PyObject_CallOneArg(self->push, mode);
        Py_XDECREF(pushed);
        PyErr_Restore(type, error, trace);
        Py_DECREF(mode);
    }
    return ours ? result : PyObject_Vectorcall(self->original, args, flags, names);
}

/* Method ----------------------------------------------------------------------------------------------------------- */

HOLDS(Method, HELD)

/* Bind, as functions of Python do. */
static PyObject *Method_bind(PyObject *self, PyObject *object, PyObject *owner)
{
    return object == NULL || object == Py_None ? Py_NewRef(self) : PyMethod_New(self, object);
}

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

/* direct(original, session, kind, count, pop, push): `backward` of tensors of one class; the rest is torch's stack. */
static PyObject *direct(PyObject *module, PyObject *args)
{
    PyObject *original, *session, *kind, *count, *pop, *push;
    if (!PyArg_ParseTuple(args, "OOOOOO", &original, &session, &kind, &count, &pop, &push))
        return NULL;
    Method *self = new_method(call_backward, original, session);
    if (self != NULL) {
        put(&self->kind, kind);
        put(&self->count, count);
        put(&self->pop, pop);
        put(&self->push, push);
    }
    return (PyObject *)self;
}

static PyMethodDef functions[] = {
    {"scoped", scoped, METH_VARARGS, "What stands in the place of Module.__call__."},
    {"direct", direct, METH_VARARGS, "What stands in the place of Tensor.backward."},
    {NULL}};

int add_methods(PyObject *module)
{
    method_type = (PyTypeObject *)PyType_FromSpec(&Method_spec);
    return method_type == NULL ? -1 : PyModule_AddFunctions(module, functions);
}
