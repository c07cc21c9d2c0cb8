/* Loops of whole layers: means and variances, normalization of rows, and the steps of an LSTM. */
#define KERNELS "_layers.h"
#include "_types.h"

/* The elements of a parameter, as many as a row has; NULL where there is none, and *fits of 0 where it is other. */
static void *parameter(PyObject *value, int type, Py_ssize_t length, int *fits)
{
    if (value == Py_None)
        return NULL;
    *fits &= is_plain(value) && PyArray_TYPE((PyArrayObject *)value) == type &&
             PyArray_SIZE((PyArrayObject *)value) == length;
    return *fits ? PyArray_DATA((PyArrayObject *)value) : NULL;
}

/* How an array lies along dims of `length` elements, `inner` elements apart; of no rows where they do not fit it. */
static Extent along(PyObject *x, Py_ssize_t length, Py_ssize_t inner)
{
    Extent extent = {.length = length, .inner = inner};
    if (!is_plain(x) || length < 1 || inner < 1 || PyArray_SIZE((PyArrayObject *)x) % (length * inner))
        return extent;
    extent.count = PyArray_SIZE((PyArrayObject *)x);
    extent.rows = extent.count / (length * inner);
    return extent;
}

/* moments_along(x, length, inner): (means, variances) along dims, each one after another, in double. */
static PyObject *moments_along(PyObject *module, PyObject *args)
{
    PyObject *given;
    Py_ssize_t length, inner;
    if (!PyArg_ParseTuple(args, "Onn", &given, &length, &inner))
        return NULL;
    const Extent extent = along(given, length, inner);
    if (!extent.rows)
        Py_RETURN_NONE;
    npy_intp sizes[1] = {extent.rows * inner};
    PyObject *means = PyArray_SimpleNew(1, sizes, NPY_DOUBLE), *variances = PyArray_SimpleNew(1, sizes, NPY_DOUBLE);
    if (means == NULL || variances == NULL) {
        Py_XDECREF(means);
        Py_XDECREF(variances);
        return NULL;
    }
    void *first = PyArray_DATA((PyArrayObject *)means), *second = PyArray_DATA((PyArrayObject *)variances);
    void *x = PyArray_DATA((PyArrayObject *)given);
    PyThreadState *others = extent.count < MANY ? NULL : PyEval_SaveThread();
    if (PyArray_TYPE((PyArrayObject *)given) == NPY_FLOAT)
        (inner == 1 ? moments_of_rows_float : moments_along_float)(first, second, x, extent);
    else
        (inner == 1 ? moments_of_rows_double : moments_along_double)(first, second, x, extent);
    if (others != NULL)
        PyEval_RestoreThread(others);
    return Py_BuildValue("NN", means, variances);
}

/* distances(x, factors, length, inner): the elements less their mean along dims, times the factor of each mean. */
static PyObject *distances(PyObject *module, PyObject *args)
{
    PyObject *given, *wanted;
    Py_ssize_t length, inner;
    if (!PyArg_ParseTuple(args, "OOnn", &given, &wanted, &length, &inner))
        return NULL;
    const Extent extent = along(given, length, inner);
    if (!extent.rows)
        Py_RETURN_NONE;
    const int type = PyArray_TYPE((PyArrayObject *)given);
    int fits = 1;
    void *factors = parameter(wanted, type, extent.rows * inner, &fits);
    if (factors == NULL)
        Py_RETURN_NONE;
    PyObject *out = PyArray_SimpleNew(PyArray_NDIM((PyArrayObject *)given), PyArray_DIMS((PyArrayObject *)given), type);
    double *means = PyMem_Malloc((size_t)inner * sizeof(double));
    if (out == NULL || means == NULL) {
        Py_XDECREF(out);
        PyMem_Free(means);
        return PyErr_NoMemory();
    }
    void *made = PyArray_DATA((PyArrayObject *)out), *x = PyArray_DATA((PyArrayObject *)given);
    PyThreadState *others = extent.count < MANY ? NULL : PyEval_SaveThread();
    if (type == NPY_FLOAT)
        distances_float(made, means, x, factors, extent);
    else
        distances_double(made, means, x, factors, extent);
    if (others != NULL)
        PyEval_RestoreThread(others);
    PyMem_Free(means);
    return out;
}

/* normalized(x, y, z, length, eps): (rows of so many elements normalized, their means, one over their deviations). */
static PyObject *normalized(PyObject *module, PyObject *args)
{
    PyObject *given, *weight, *bias;
    Py_ssize_t length;
    double eps;
    if (!PyArg_ParseTuple(args, "OOOnd", &given, &weight, &bias, &length, &eps))
        return NULL;
    PyArrayObject *x = (PyArrayObject *)given;
    if (!is_plain(given) || length < 1 || PyArray_SIZE(x) % length)
        Py_RETURN_NONE;
    int type = PyArray_TYPE(x), fits = 1;
    void *y = parameter(weight, type, length, &fits), *z = parameter(bias, type, length, &fits);
    if (!fits)
        Py_RETURN_NONE;
    Extent extent = {.count = PyArray_SIZE(x), .rows = PyArray_SIZE(x) / length, .length = length, .inner = 1};
    npy_intp sizes[2] = {extent.rows, 1};
    PyArrayObject *out = (PyArrayObject *)PyArray_SimpleNew(PyArray_NDIM(x), PyArray_DIMS(x), type);
    PyArrayObject *centres = (PyArrayObject *)PyArray_SimpleNew(2, sizes, type);
    PyArrayObject *scales = (PyArrayObject *)PyArray_SimpleNew(2, sizes, type);
    if (out == NULL || centres == NULL || scales == NULL) {
        Py_XDECREF(out);
        Py_XDECREF(centres);
        Py_XDECREF(scales);
        return NULL;
    }
    void *made = PyArray_DATA(out), *means = PyArray_DATA(centres), *roots = PyArray_DATA(scales);
    PyThreadState *others = extent.count < MANY ? NULL : PyEval_SaveThread();
    if (type == NPY_FLOAT)
        normalize_float(made, means, roots, PyArray_DATA(x), y, z, eps, extent);
    else
        normalize_double(made, means, roots, PyArray_DATA(x), y, z, eps, extent);
    if (others != NULL)
        PyEval_RestoreThread(others);
    return Py_BuildValue("NNN", out, centres, scales);
}

/* Zeros in double, of the shape of an array; None for None. */
static PyObject *zeros_like(PyObject *value)
{
    if (value == Py_None)
        return Py_NewRef(Py_None);
    return PyArray_ZEROS(PyArray_NDIM((PyArrayObject *)value), PyArray_DIMS((PyArrayObject *)value), NPY_DOUBLE, 0);
}

/* normalized_rule(g, x, y, z, means, scales): the gradients of x, y and z, those of the last two in double; None for
 * what was None. */
static PyObject *normalized_rule(PyObject *module, PyObject *args)
{
    PyObject *cotangent, *given, *weight, *bias, *means, *roots;
    if (!PyArg_ParseTuple(args, "OOOOOO", &cotangent, &given, &weight, &bias, &means, &roots))
        return NULL;
    PyArrayObject *x = (PyArrayObject *)given, *g = (PyArrayObject *)cotangent;
    if (!is_plain(given) || !is_plain(cotangent) || !is_plain(means) || PyArray_TYPE(g) != PyArray_TYPE(x) ||
        PyArray_SIZE(g) != PyArray_SIZE(x) || PyArray_SIZE(x) % PyArray_SIZE((PyArrayObject *)means))
        Py_RETURN_NONE;
    int type = PyArray_TYPE(x), fits = 1;
    Extent extent = {.count = PyArray_SIZE(x), .rows = PyArray_SIZE((PyArrayObject *)means), .inner = 1};
    extent.length = extent.count / extent.rows;
    void *y = parameter(weight, type, extent.length, &fits), *centres = parameter(means, type, extent.rows, &fits);
    void *scales = parameter(roots, type, extent.rows, &fits);
    parameter(bias, type, extent.length, &fits);
    if (!fits || scales == NULL)
        Py_RETURN_NONE;
    PyObject *gx = PyArray_SimpleNew(PyArray_NDIM(x), PyArray_DIMS(x), type), *gy = zeros_like(weight);
    PyObject *gz = zeros_like(bias);
    if (gx == NULL || gy == NULL || gz == NULL) {
        Py_XDECREF(gx);
        Py_XDECREF(gy);
        Py_XDECREF(gz);
        return NULL;
    }
    void *made = PyArray_DATA((PyArrayObject *)gx);
    double *sums = gy == Py_None ? NULL : PyArray_DATA((PyArrayObject *)gy);
    double *totals = gz == Py_None ? NULL : PyArray_DATA((PyArrayObject *)gz);
    PyThreadState *others = extent.count < MANY ? NULL : PyEval_SaveThread();
    if (type == NPY_FLOAT)
        normalize_rule_float(made, sums, totals, PyArray_DATA(g), PyArray_DATA(x), y, centres, scales, extent);
    else
        normalize_rule_double(made, sums, totals, PyArray_DATA(g), PyArray_DATA(x), y, centres, scales, extent);
    if (others != NULL)
        PyEval_RestoreThread(others);
    return Py_BuildValue("NNN", gx, gy, gz);
}

/* Whether arrays are of the type of the last of them and have `sizes[at]` times as many elements; else an error. */
static int fit_a_step(PyObject *const *args, const int *sizes, int count)
{
    PyArrayObject *state = (PyArrayObject *)args[count - 1];
    for (int at = count - 1; at >= 0; at--) {
        PyArrayObject *array = (PyArrayObject *)args[at];
        if (!is_plain(args[at]) || PyArray_NDIM(state) != 2 || PyArray_TYPE(array) != PyArray_TYPE(state) ||
            PyArray_SIZE(array) != sizes[at] * PyArray_SIZE(state)) {
            PyErr_Format(PyExc_ValueError, "argument %d of an LSTM's step does not fit its state", at);
            return 0;
        }
    }
    return 1;
}

static inline void *data_of(PyObject *array)
{
    return PyArray_DATA((PyArrayObject *)array);
}

/* lstm_step(gates, cell, hidden, sums, projected, before): writes the first three. */
static PyObject *lstm_step(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 6 || !fit_a_step(args, (const int[]){5, 1, 1, 4, 4, 1}, 6)) {
        if (count != 6)
            PyErr_SetString(PyExc_TypeError, "lstm_step(gates, cell, hidden, sums, projected, before)");
        return NULL;
    }
    PyArrayObject *state = (PyArrayObject *)args[5];
    Py_ssize_t batch = PyArray_DIM(state, 0), size = PyArray_DIM(state, 1);
    if (PyArray_TYPE(state) == NPY_FLOAT)
        lstm_step_float(data_of(args[3]), data_of(args[4]), data_of(args[0]), data_of(args[1]), data_of(args[2]),
                        data_of(args[5]), batch, size);
    else
        lstm_step_double(data_of(args[3]), data_of(args[4]), data_of(args[0]), data_of(args[1]), data_of(args[2]),
                         data_of(args[5]), batch, size);
    Py_RETURN_NONE;
}

/* lstm_step_back(g_sums, g_cell, share, other, gates, before): writes the first two. */
static PyObject *lstm_step_back(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 6 || !fit_a_step(args, (const int[]){4, 1, 1, 1, 5, 1}, 6)) {
        if (count != 6)
            PyErr_SetString(PyExc_TypeError, "lstm_step_back(g_sums, g_cell, share, other, gates, before)");
        return NULL;
    }
    PyArrayObject *state = (PyArrayObject *)args[5];
    Py_ssize_t batch = PyArray_DIM(state, 0), size = PyArray_DIM(state, 1);
    if (PyArray_TYPE(state) == NPY_FLOAT)
        lstm_step_back_float(data_of(args[0]), data_of(args[1]), data_of(args[2]), data_of(args[3]), data_of(args[4]),
                             data_of(args[5]), batch, size);
    else
        lstm_step_back_double(data_of(args[0]), data_of(args[1]), data_of(args[2]), data_of(args[3]), data_of(args[4]),
                              data_of(args[5]), batch, size);
    Py_RETURN_NONE;
}

#define FUNCTION(name, how, usage) {#name, (PyCFunction)(void (*)(void))name, how, usage}

static PyMethodDef functions[] = {
    FUNCTION(moments_along, METH_VARARGS, "moments_along(x, length, inner): (means, variances) in double; or None."),
    FUNCTION(distances, METH_VARARGS, "distances(x, factors, length, inner): from the means along dims; or None."),
    FUNCTION(normalized, METH_VARARGS, "normalized(x, y, z, length, eps): (out, means, 1 / deviations), or None."),
    FUNCTION(normalized_rule, METH_VARARGS, "normalized_rule(g, x, y, z, means, scales): the gradients, or None."),
    FUNCTION(lstm_step, METH_FASTCALL, "lstm_step(gates, cell, hidden, sums, projected, before): writes three."),
    FUNCTION(lstm_step_back, METH_FASTCALL, "lstm_step_back(g_sums, g_cell, share, other, gates, before): writes two."),
    {NULL}};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT, "_layers", "Loops of whole layers.", -1, functions};

PyMODINIT_FUNC PyInit__layers(void)
{
    import_array();
    return PyModule_Create(&module_definition);
}
