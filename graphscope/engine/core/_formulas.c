/* Formulas in one pass over memory, where NumPy would take several: activations, softmax, and their rules.
 *
 * A Formula is a function of arrays that is made of one in Python: it computes what it can take (arrays of one shape,
 * all of float or all of double, their elements in a row) and hands on what it cannot.
 */
#define KERNELS "_formulas.h"
#include "../../eventlog/_holding.h"
#include "_types.h"

#include <stddef.h>
#include <structmember.h>

enum { MOST_NUMBERS = 3 };

typedef void (*OfFloat)(float *, const float *, const float *, const double *, Extent);
typedef void (*OfDouble)(double *, const double *, const double *, const double *, Extent);

/* What a formula is called, what it takes, and what computes it. */
typedef struct {
    const char *name;
    int arrays;
    enum { NO_DIM, LAST_DIM, ANY_DIM } along; /* whether it takes a dim, and which */
    const char *numbers[MOST_NUMBERS];
    OfFloat of_float;
    OfDouble of_double;
} Kind;

#define KIND_OF_FLOAT(name, arrays, along, ...) {#name, arrays, along, {__VA_ARGS__}, of_##name##_float, NULL}
#define KIND(name, arrays, along, ...)                                                                                 \
    {#name, arrays, along, {__VA_ARGS__}, of_##name##_float, of_##name##_double}

static const Kind KINDS[] = {
    KIND(relu, 1, NO_DIM, NULL),
    KIND(relu_rule, 2, NO_DIM, NULL),
    KIND(sigmoid, 1, NO_DIM, NULL),
    KIND(silu, 1, NO_DIM, NULL),
    KIND(silu_rule, 2, NO_DIM, NULL),
    KIND(mish, 1, NO_DIM, NULL),
    KIND(mish_rule, 2, NO_DIM, NULL),
    KIND_OF_FLOAT(normal_cdf, 1, NO_DIM, NULL),
    KIND_OF_FLOAT(gelu, 1, NO_DIM, NULL),
    KIND_OF_FLOAT(gelu_rule, 2, NO_DIM, NULL),
    KIND(gelu_tanh, 1, NO_DIM, NULL),
    KIND(gelu_tanh_rule, 2, NO_DIM, NULL),
    KIND(logsigmoid, 1, NO_DIM, NULL),
    KIND(logsigmoid_rule, 2, NO_DIM, NULL),
    KIND(softplus, 1, NO_DIM, "beta", "threshold"),
    KIND(softplus_rule, 2, NO_DIM, "beta", "threshold"),
    KIND(elu, 1, NO_DIM, "alpha", "scale", "input_scale"),
    KIND(elu_rule, 2, NO_DIM, "alpha", "scale", "input_scale"),
    KIND(leaky_relu, 1, NO_DIM, "negative_slope"),
    KIND(leaky_relu_rule, 2, NO_DIM, "negative_slope"),
    KIND(softmax, 1, LAST_DIM, NULL),
    KIND(softmax_rule, 2, LAST_DIM, NULL),
    KIND(log_softmax, 1, LAST_DIM, NULL),
    KIND(log_softmax_rule, 2, LAST_DIM, NULL),
    KIND(cumsum, 1, ANY_DIM, NULL),
    KIND(cumsum_rule, 1, ANY_DIM, NULL),
    KIND(cumprod, 1, ANY_DIM, NULL),
};

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *python; /* the same in Python */
    const Kind *kind;
} Formula;

/* Read what is given by name. 0: it is not what the formula knows. */
static int read_named(const Kind *kind, PyObject *const *values, PyObject *names, int dims, double *numbers, int *along)
{
    Py_ssize_t count = names == NULL ? 0 : PyTuple_GET_SIZE(names), known = 0;
    while (known < MOST_NUMBERS && kind->numbers[known] != NULL)
        known++;
    known += kind->along != NO_DIM;
    if (count != known)
        return 0;
    for (Py_ssize_t at = 0; at < count; at++) {
        PyObject *name = PyTuple_GET_ITEM(names, at);
        if (kind->along != NO_DIM && PyUnicode_CompareWithASCIIString(name, "dim") == 0) {
            long dim = PyLong_Check(values[at]) ? PyLong_AsLong(values[at]) : dims;
            dim += dim < 0 ? dims : 0;
            if (dim < 0 || dim >= dims || (kind->along == LAST_DIM && dim != dims - 1))
                return 0;
            *along = (int)dim;
            continue;
        }
        int place = 0;
        while (place < MOST_NUMBERS && kind->numbers[place] != NULL &&
               PyUnicode_CompareWithASCIIString(name, kind->numbers[place]) != 0)
            place++;
        if (place == MOST_NUMBERS || kind->numbers[place] == NULL)
            return 0;
        numbers[place] = PyFloat_AsDouble(values[at]);
    }
    if (PyErr_Occurred()) {
        PyErr_Clear();
        return 0;
    }
    return 1;
}

static PyObject *call(PyObject *object, PyObject *const *args, size_t flags, PyObject *names)
{
    Formula *self = (Formula *)object;
    const Kind *kind = self->kind;
    double numbers[MOST_NUMBERS] = {0};
    if (PyVectorcall_NARGS(flags) != kind->arrays || !is_plain(args[0]))
        return PyObject_Vectorcall(self->python, args, flags, names);
    PyArrayObject *first = (PyArrayObject *)args[0], *last = (PyArrayObject *)args[kind->arrays - 1];
    int dims = PyArray_NDIM(first), dim = dims - 1;
    if ((last != first && (!is_plain((PyObject *)last) || PyArray_TYPE(first) != PyArray_TYPE(last) ||
                           !PyArray_SAMESHAPE(first, last))) ||
        (PyArray_TYPE(first) == NPY_DOUBLE && kind->of_double == NULL) ||
        !read_named(kind, args + kind->arrays, names, dims, numbers, &dim))
        return PyObject_Vectorcall(self->python, args, flags, names);
    PyArrayObject *out = (PyArrayObject *)PyArray_SimpleNew(dims, PyArray_DIMS(first), PyArray_TYPE(first));
    if (out == NULL)
        return NULL;
    Extent extent = {.count = PyArray_SIZE(first), .length = PyArray_DIM(first, dim), .inner = 1};
    for (int behind = dim + 1; behind < dims; behind++)
        extent.inner *= PyArray_DIM(first, behind);
    extent.rows = extent.count / extent.length / extent.inner;
    void *made = PyArray_DATA(out), *g = PyArray_DATA(first), *x = PyArray_DATA(last);
    PyThreadState *others = extent.count < MANY ? NULL : PyEval_SaveThread();
    if (PyArray_TYPE(first) == NPY_FLOAT)
        kind->of_float(made, g, x, numbers, extent);
    else
        kind->of_double(made, g, x, numbers, extent);
    if (others != NULL)
        PyEval_RestoreThread(others);
    return (PyObject *)out;
}

/* Formula(name, python) */
static int Formula_init(Formula *self, PyObject *args, PyObject *names)
{
    const char *name;
    PyObject *python;
    if (!PyArg_ParseTuple(args, "sO", &name, &python))
        return -1;
    for (size_t place = 0; place < Py_ARRAY_LENGTH(KINDS); place++)
        if (strcmp(KINDS[place].name, name) == 0) {
            self->kind = &KINDS[place];
            Py_XSETREF(self->python, Py_NewRef(python));
            self->vectorcall = call;
            return 0;
        }
    PyErr_Format(PyExc_ValueError, "there is no compiled formula %s", name);
    return -1;
}

#define FORMULA_PARTS(X) X(python)
HOLDS(Formula, FORMULA_PARTS)

static PyMemberDef Formula_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Formula, vectorcall), READONLY, NULL},
    {"__wrapped__", T_OBJECT, offsetof(Formula, python), READONLY, "The same in Python."},
    {NULL}};

static PyType_Slot Formula_slots[] = {
    {Py_tp_doc, "A formula in one pass over memory; what it cannot take, the function in Python gets."},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_init, Formula_init},
    {Py_tp_dealloc, Formula_dealloc},
    {Py_tp_traverse, Formula_traverse},
    {Py_tp_clear, Formula_clear},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_members, Formula_members},
    {0, NULL}};

static PyType_Spec Formula_spec = {"graphscope.engine.core._formulas.Formula", sizeof(Formula), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
                                   Formula_slots};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT, "_formulas", "Formulas in one pass over memory.", -1, NULL};

PyMODINIT_FUNC PyInit__formulas(void)
{
    import_array();
    PyObject *module = PyModule_Create(&module_definition);
    PyTypeObject *type = module == NULL ? NULL : (PyTypeObject *)PyType_FromSpec(&Formula_spec);
    if (type == NULL || PyModule_AddType(module, type) < 0) {
        Py_XDECREF(module);
        return NULL;
    }
    return module;
}
