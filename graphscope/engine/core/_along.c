/* What is done at places along a dim: picking elements there, adding up there, finding where the extremes are.
 *
 * Each function returns None for what it does not take: other types, elements that do not lie in a row, places that do
 * not exist. That is for the same in NumPy to do, or to refuse.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include "../../eventlog/_processors.h"

enum { LARGEST, SMALLEST, LANES = 16, MANY = 1 << 14 };

/* How the elements of an array lie along a dim: `rows` times `length` of it, and `inner` behind each; `count` is the
 * length of the dim in the index. */
typedef struct {
    Py_ssize_t rows, length, inner, count;
} Extent;

static Extent extent_of(int dims, const npy_intp *shape, int dim)
{
    Extent extent = {.rows = 1, .length = shape[dim], .inner = 1, .count = 1};
    for (int place = 0; place < dims; place++)
        *(place < dim ? &extent.rows : place > dim ? &extent.inner : &extent.length) *= place == dim ? 1 : shape[place];
    return extent;
}

static inline int is_plain(PyObject *value)
{
    if (!PyArray_CheckExact(value))
        return 0;
    PyArrayObject *array = (PyArrayObject *)value;
    return PyArray_NDIM(array) > 0 && PyArray_ISCARRAY_RO(array) && PyArray_SIZE(array) > 0;
}

static inline int is_real(PyObject *value)
{
    return is_plain(value) && (PyArray_TYPE((PyArrayObject *)value) == NPY_FLOAT ||
                               PyArray_TYPE((PyArrayObject *)value) == NPY_DOUBLE);
}

/* An index as integers of 64 bits that lie in a row, a new reference; NULL, without an error, where it is none. */
static PyArrayObject *places_of(PyObject *value)
{
    if (!PyArray_CheckExact(value) || !PyArray_ISINTEGER((PyArrayObject *)value))
        return NULL;
    PyObject *places = PyArray_FROM_OTF(value, NPY_INT64, NPY_ARRAY_IN_ARRAY);
    if (places == NULL)
        PyErr_Clear();
    return (PyArrayObject *)places;
}

/* Whether all places are among so many. */
FOR_EACH_PROCESSOR static int are_within(const int64_t *places, Py_ssize_t count, Py_ssize_t length)
{
    int outside = 0;
    for (Py_ssize_t at = 0; at < count; at++)
        outside |= (uint64_t)places[at] >= (uint64_t)length;
    return !outside;
}

#define PICK(name, type)                                                                                               \
    static void name(type *out, const type *x, const int64_t *places, Extent extent)                                   \
    {                                                                                                                  \
        for (Py_ssize_t row = 0; extent.inner == 1 && row < extent.rows; row++, x += extent.length)                    \
            for (Py_ssize_t at = 0; at < extent.count; at++)                                                           \
                *out++ = x[*places++];                                                                                 \
        for (Py_ssize_t row = 0; extent.inner > 1 && row < extent.rows; row++, x += extent.length * extent.inner)      \
            for (Py_ssize_t at = 0; at < extent.count; at++)                                                           \
                for (Py_ssize_t behind = 0; behind < extent.inner; behind++)                                           \
                    *out++ = x[*places++ * extent.inner + behind];                                                     \
    }
PICK(pick_words, uint32_t)
PICK(pick_pairs, uint64_t)

#define ADD(name, type)                                                                                                \
    static void name(type *out, const type *values, const int64_t *places, Extent extent)                              \
    {                                                                                                                  \
        for (Py_ssize_t row = 0; extent.inner == 1 && row < extent.rows; row++, out += extent.length)                  \
            for (Py_ssize_t at = 0; at < extent.count; at++)                                                           \
                out[*places++] += *values++;                                                                           \
        for (Py_ssize_t row = 0; extent.inner > 1 && row < extent.rows; row++, out += extent.length * extent.inner)    \
            for (Py_ssize_t at = 0; at < extent.count; at++)                                                           \
                for (Py_ssize_t behind = 0; behind < extent.inner; behind++)                                           \
                    out[*places++ * extent.inner + behind] += *values++;                                               \
    }
ADD(add_floats, float)
ADD(add_doubles, double)

/* The extremes and where they are: the first of equal ones, and the first NaN if there is one. */
#define EXTREME(name, type, beyond)                                                                                    \
    FOR_EACH_PROCESSOR static void name##_of_row(type *value, int64_t *place, const type *x, Py_ssize_t length)        \
    {                                                                                                                  \
        type lanes[LANES], extreme = x[0];                                                                             \
        int nan = 0;                                                                                                   \
        Py_ssize_t first = 0;                                                                                          \
        for (int lane = 0; lane < LANES; lane++)                                                                       \
            lanes[lane] = x[0];                                                                                        \
        for (; first + LANES <= length; first += LANES)                                                                \
            for (int lane = 0; lane < LANES; lane++) {                                                                 \
                const type here = x[first + lane];                                                                     \
                nan |= here != here;                                                                                   \
                lanes[lane] = here beyond lanes[lane] ? here : lanes[lane];                                            \
            }                                                                                                          \
        for (; first < length; first++) {                                                                              \
            nan |= x[first] != x[first];                                                                               \
            extreme = x[first] beyond extreme ? x[first] : extreme;                                                    \
        }                                                                                                              \
        for (int lane = 0; lane < LANES; lane++)                                                                       \
            extreme = lanes[lane] beyond extreme ? lanes[lane] : extreme;                                              \
        first = 0;                                                                                                     \
        while (nan ? x[first] == x[first] : x[first] != extreme)                                                       \
            first++;                                                                                                   \
        *value = x[first];                                                                                             \
        *place = first;                                                                                                \
    }                                                                                                                  \
    static void name(type *values, int64_t *places, const type *x, Extent extent)                                      \
    {                                                                                                                  \
        const Py_ssize_t inner = extent.inner;                                                                         \
        for (Py_ssize_t row = 0; row < extent.rows; row++, values += inner, places += inner) {                         \
            if (inner == 1) {                                                                                          \
                name##_of_row(values, places, x, extent.length);                                                       \
                x += extent.length;                                                                                    \
                continue;                                                                                              \
            }                                                                                                          \
            for (Py_ssize_t at = 0; at < extent.length; at++, x += inner)                                              \
                for (Py_ssize_t behind = 0; behind < inner; behind++) {                                                \
                    const type here = x[behind], known = values[behind];                                               \
                    const int takes = !at || here beyond known || (here != here && known == known);                    \
                    values[behind] = takes ? here : known;                                                             \
                    places[behind] = takes ? at : places[behind];                                                      \
                }                                                                                                      \
        }                                                                                                              \
    }
EXTREME(largest_floats, float, >)
EXTREME(largest_doubles, double, >)
EXTREME(smallest_floats, float, <)
EXTREME(smallest_doubles, double, <)

/* The extremes so far along rows: of equal ones the last; once there was a NaN, the last NaN. */
#define RUNNING(name, type)                                                                                            \
    static void name(type *values, int64_t *places, const type *x, Extent extent, int what)                            \
    {                                                                                                                  \
        const Py_ssize_t length = extent.length;                                                                       \
        for (Py_ssize_t row = 0; row < extent.rows; row++, x += length, values += length, places += length) {          \
            type extreme = x[0];                                                                                       \
            int64_t place = 0;                                                                                         \
            for (Py_ssize_t at = 0; at < length; at++) {                                                               \
                const type here = x[at];                                                                               \
                const int beyond = what == LARGEST ? here >= extreme : here <= extreme;                                \
                if (here != here || (extreme == extreme && beyond)) {                                                  \
                    extreme = here;                                                                                    \
                    place = at;                                                                                        \
                }                                                                                                      \
                values[at] = extreme;                                                                                  \
                places[at] = place;                                                                                    \
            }                                                                                                          \
        }                                                                                                              \
    }
RUNNING(running_floats, float)
RUNNING(running_doubles, double)

/* Read (array, ..., dim) off the arguments: the dim, counted from the front; -1 where there is none such. */
static int dim_of(PyObject *value, int dims)
{
    long dim = PyLong_Check(value) ? PyLong_AsLong(value) : dims;
    if (dim == -1 && PyErr_Occurred())
        PyErr_Clear();
    dim += dim < 0 ? dims : 0;
    return dim < 0 || dim >= dims ? -1 : (int)dim;
}

static int takes(Py_ssize_t count, Py_ssize_t wanted, const char *usage)
{
    if (count == wanted)
        return 1;
    PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, not %zd", usage, wanted, count);
    return 0;
}

/* picked(x, index, dim): at each place of the index the element of x that it names along the dim. */
static PyObject *picked(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (!takes(count, 3, "picked(x, index, dim)"))
        return NULL;
    PyArrayObject *x = (PyArrayObject *)args[0], *places = NULL, *out = NULL;
    if (!is_plain(args[0]) || !PyArray_ISNUMBER(x) || (PyArray_ITEMSIZE(x) != 4 && PyArray_ITEMSIZE(x) != 8))
        Py_RETURN_NONE;
    int dims = PyArray_NDIM(x), dim = dim_of(args[2], dims);
    places = dim < 0 ? NULL : places_of(args[1]);
    int fits = places != NULL && PyArray_NDIM(places) == dims && PyArray_SIZE(places) > 0;
    for (int place = 0; fits && place < dims; place++)
        fits = place == dim || PyArray_DIM(places, place) == PyArray_DIM(x, place);
    if (!fits || !are_within(PyArray_DATA(places), PyArray_SIZE(places), PyArray_DIM(x, dim))) {
        Py_XDECREF(places);
        Py_RETURN_NONE;
    }
    Extent extent = extent_of(dims, PyArray_DIMS(x), dim);
    extent.count = PyArray_DIM(places, dim);
    Py_INCREF(PyArray_DESCR(x));
    out = (PyArrayObject *)PyArray_Empty(dims, PyArray_DIMS(places), PyArray_DESCR(x), 0);
    if (out != NULL) {
        PyThreadState *others = PyArray_SIZE(places) < MANY ? NULL : PyEval_SaveThread();
        if (PyArray_ITEMSIZE(x) == 4)
            pick_words(PyArray_DATA(out), PyArray_DATA(x), PyArray_DATA(places), extent);
        else
            pick_pairs(PyArray_DATA(out), PyArray_DATA(x), PyArray_DATA(places), extent);
        if (others != NULL)
            PyEval_RestoreThread(others);
    }
    Py_DECREF(places);
    return (PyObject *)out;
}

/* added(values, index, dim, start): a copy of `start`, or zeros of that shape, with each value added at its place. */
static PyObject *added(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (!takes(count, 4, "added(values, index, dim, start)"))
        return NULL;
    PyArrayObject *values = (PyArrayObject *)args[0], *start = NULL, *places, *out = NULL;
    npy_intp shape[NPY_MAXDIMS], *sizes = shape;
    int dims = -1, dim;
    if (!is_real(args[0]))
        Py_RETURN_NONE;
    if (PyTuple_Check(args[3])) {
        dims = (int)PyTuple_GET_SIZE(args[3]);
        if (dims > NPY_MAXDIMS)
            Py_RETURN_NONE;
        for (int place = 0; place < dims; place++)
            shape[place] = PyLong_AsSsize_t(PyTuple_GET_ITEM(args[3], place));
        if (PyErr_Occurred())
            return NULL;
    }
    else if (is_real(args[3]) && PyArray_TYPE((PyArrayObject *)args[3]) == PyArray_TYPE(values)) {
        start = (PyArrayObject *)args[3];
        dims = PyArray_NDIM(start);
        sizes = PyArray_DIMS(start);
    }
    dim = dims < 1 ? -1 : dim_of(args[2], dims);
    places = dim < 0 ? NULL : places_of(args[1]);
    if (places == NULL)
        Py_RETURN_NONE;
    Extent extent = extent_of(dims, sizes, dim);
    Py_ssize_t total = PyArray_SIZE(values), around = extent.rows * extent.inner;
    extent.count = around == 0 ? 0 : total / around;
    int fits = PyArray_SAMESHAPE(values, places) && total == around * extent.count;
    for (int place = 0; fits && PyArray_NDIM(values) == dims && place < dims; place++)
        fits = place == dim || PyArray_DIM(values, place) == sizes[place];
    if (!fits || (PyArray_NDIM(values) != dims && extent.count != 1) ||
        !are_within(PyArray_DATA(places), total, extent.length)) {
        Py_DECREF(places);
        Py_RETURN_NONE;
    }
    if (start == NULL)
        out = (PyArrayObject *)PyArray_ZEROS(dims, sizes, PyArray_TYPE(values), 0);
    else
        out = (PyArrayObject *)PyArray_NewCopy(start, NPY_CORDER);
    if (out != NULL) {
        PyThreadState *others = total < MANY ? NULL : PyEval_SaveThread();
        if (PyArray_TYPE(values) == NPY_FLOAT)
            add_floats(PyArray_DATA(out), PyArray_DATA(values), PyArray_DATA(places), extent);
        else
            add_doubles(PyArray_DATA(out), PyArray_DATA(values), PyArray_DATA(places), extent);
        if (others != NULL)
            PyEval_RestoreThread(others);
    }
    Py_DECREF(places);
    return (PyObject *)out;
}

/* The values and their places, computed by one of the functions above. `dims` and `sizes` are those of the results. */
static PyObject *values_and_places(PyArrayObject *x, int dims, const npy_intp *sizes, Extent extent, int what, int runs)
{
    PyObject *values = PyArray_SimpleNew(dims, sizes, PyArray_TYPE(x));
    PyObject *places = PyArray_SimpleNew(dims, sizes, NPY_INT64);
    if (values == NULL || places == NULL) {
        Py_XDECREF(values);
        Py_XDECREF(places);
        return NULL;
    }
    void *made = PyArray_DATA((PyArrayObject *)values), *given = PyArray_DATA(x);
    int64_t *found = PyArray_DATA((PyArrayObject *)places);
    PyThreadState *others = PyArray_SIZE(x) < MANY ? NULL : PyEval_SaveThread();
    if (PyArray_TYPE(x) == NPY_FLOAT) {
        if (runs)
            running_floats(made, found, given, extent, what);
        else
            (what == LARGEST ? largest_floats : smallest_floats)(made, found, given, extent);
    }
    else if (runs)
        running_doubles(made, found, given, extent, what);
    else
        (what == LARGEST ? largest_doubles : smallest_doubles)(made, found, given, extent);
    if (others != NULL)
        PyEval_RestoreThread(others);
    return Py_BuildValue("NN", values, places);
}

/* extremes(x, dim, what, keepdim): the extremes along a dim, and where they are. */
static PyObject *extremes(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (!takes(count, 4, "extremes(x, dim, what, keepdim)"))
        return NULL;
    PyArrayObject *x = (PyArrayObject *)args[0];
    int dims = is_real(args[0]) ? PyArray_NDIM(x) : 0, dim = dims ? dim_of(args[1], dims) : -1;
    if (dim < 0 || (dims == 1 && args[3] != Py_True)) /* of no dims there are numbers, no arrays */
        Py_RETURN_NONE;
    npy_intp sizes[NPY_MAXDIMS];
    int left = 0;
    for (int place = 0; place < dims; place++)
        if (place != dim || args[3] == Py_True)
            sizes[left++] = place == dim ? 1 : PyArray_DIM(x, place);
    return values_and_places(x, left, sizes, extent_of(dims, PyArray_DIMS(x), dim), (int)PyLong_AsLong(args[2]), 0);
}

/* running(x, what): the extremes so far along the last dim, and where they are. */
static PyObject *running(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (!takes(count, 2, "running(x, what)"))
        return NULL;
    PyArrayObject *x = (PyArrayObject *)args[0];
    if (!is_real(args[0]))
        Py_RETURN_NONE;
    int dims = PyArray_NDIM(x);
    Extent extent = extent_of(dims, PyArray_DIMS(x), dims - 1);
    return values_and_places(x, dims, PyArray_DIMS(x), extent, (int)PyLong_AsLong(args[1]), 1);
}

/* within(index, length): whether all of an index is from 0 to below a length. */
static PyObject *within(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (!takes(count, 2, "within(index, length)"))
        return NULL;
    PyArrayObject *places = places_of(args[0]);
    Py_ssize_t length = PyLong_AsSsize_t(args[1]);
    if (places == NULL || (length == -1 && PyErr_Occurred())) {
        Py_XDECREF(places);
        if (PyErr_Occurred())
            return NULL;
        Py_RETURN_NONE;
    }
    int answer = are_within(PyArray_DATA(places), PyArray_SIZE(places), length);
    Py_DECREF(places);
    return PyBool_FromLong(answer);
}

#define FUNCTION(name, usage) {#name, (PyCFunction)(void (*)(void))name, METH_FASTCALL, usage}

static PyMethodDef functions[] = {
    FUNCTION(picked, "picked(x, index, dim): the elements of x that an index names along a dim."),
    FUNCTION(added, "added(values, index, dim, start): a copy of start, or zeros of a shape, with the values added."),
    FUNCTION(extremes, "extremes(x, dim, what, keepdim): (values, places), of equal ones the first."),
    FUNCTION(running, "running(x, what): (values, places) so far along the last dim, of equal ones the last."),
    FUNCTION(within, "within(index, length): whether all of an index is from 0 to below a length."),
    {NULL}};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT, "_along", "What is done at places along a dim.", -1, functions};

PyMODINIT_FUNC PyInit__along(void)
{
    import_array();
    return PyModule_Create(&module_definition);
}
