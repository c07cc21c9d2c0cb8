/* What an update does to a parameter: its elements, of a large one a sample, before it and after it.
 *
 * A sample is runs of elements that lie together, spread evenly: so few lines of memory are read that a step of an
 * optimizer, which reads them all, takes no longer for it.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "_halves.h"
#include "_processors.h"

enum { MOST = 1024, RUN = 8, RUNS = MOST / RUN };

static const int sizes[] = {0, 2, 2, 4, 8}; /* by the number of the floating type: see appender.FLOATING */

static int64_t sampled(int64_t count) { return count < MOST ? count : MOST; }

/* So many elements lie between the beginnings of two runs. */
static int64_t apart(int64_t count) { return count <= MOST ? RUN : (count - RUN) / (RUNS - 1); }

static void take(char *to, const char *from, int64_t count, int size)
{
    if (count <= MOST)
        memcpy(to, from, count * size);
    else
        for (int64_t run = 0, between = apart(count) * size; run < RUNS; run++)
            memcpy(to + run * RUN * size, from + run * between, RUN * size);
}

/* Elements of any floating type as doubles, runs of them `between` elements apart. */
#define WIDEN(type, wide)                                                                                              \
    {                                                                                                                  \
        const type *x = from;                                                                                          \
        for (int64_t at = 0; at + RUN <= count; at += RUN, x += between)                                               \
            for (int each = 0; each < RUN; each++)                                                                     \
                to[at + each] = wide(x[each]);                                                                         \
        for (int64_t at = count - count % RUN; at < count; at++)                                                       \
            to[at] = wide(*x++);                                                                                       \
        break;                                                                                                         \
    }
#define ITSELF(x) x
#define FROM_FLOAT16(x) widened(x, 5)
#define FROM_BFLOAT16(x) widened(x, 8)

FOR_EACH_PROCESSOR static void widen(double *to, const void *from, int64_t count, int64_t between, int kind)
{
    switch (kind) {
    case 1:
        WIDEN(uint16_t, FROM_FLOAT16)
    case 2:
        WIDEN(uint16_t, FROM_BFLOAT16)
    case 3:
        WIDEN(float, ITSELF)
    default:
        WIDEN(double, ITSELF)
    }
}

static double sum_of_squares(const double *x, int64_t count)
{
    double lanes[RUN] = {0}, sum = 0;
    for (int64_t at = 0; at < count; at += RUN)
        for (int lane = 0; lane < RUN; lane++)
            lanes[lane] += x[at + lane] * x[at + lane];
    for (int lane = 0; lane < RUN; lane++)
        sum += lanes[lane];
    return sum;
}

typedef struct {
    double gradient, weight, update; /* sums of squares */
    int64_t pulled, moved, changed;  /* elements with a gradient, those of them that changed, and all that did */
} Sums;

FOR_EACH_PROCESSOR static Sums sums_of(const double *before, const double *after, const double *gradient, int64_t count)
{
    double change[MOST];
    Sums found = {0};
    for (int64_t at = 0; at < count; at++) {
        uint64_t was, is, by;
        memcpy(&was, before + at, sizeof was);
        memcpy(&is, after + at, sizeof is);
        memcpy(&by, gradient + at, sizeof by);
        int64_t differs = was != is, drawn = by << 1 != 0; /* a gradient of -0 is none */
        found.pulled += drawn;
        found.moved += differs & drawn;
        found.changed += differs;
    }
    for (int64_t at = 0; at < count; at++)
        change[at] = after[at] - before[at];
    found.gradient = sum_of_squares(gradient, count);
    found.weight = sum_of_squares(before, count);
    found.update = sum_of_squares(change, count);
    return found;
}

/* The norm of all, of the sum of squares of a sample. */
static double norm(double squares, double share) { return isnan(squares) ? INFINITY : sqrt(squares / share); }

/* The size and the floating type of elements: the last two arguments of each function. */
static int parse_kind(PyObject *const *args, int64_t *count, int *kind)
{
    int64_t nbytes = PyLong_AsLongLong(args[0]);
    *kind = (int)PyLong_AsLong(args[1]);
    if (PyErr_Occurred())
        return -1;
    if (*kind < 1 || *kind > 4) {
        PyErr_SetString(PyExc_ValueError, "no such floating type");
        return -1;
    }
    *count = nbytes / sizes[*kind];
    return 0;
}

/* The same behind the address of the elements. */
static int parse(PyObject *const *args, const char **data, int64_t *count, int *kind)
{
    *data = PyLong_AsVoidPtr(args[0]);
    return PyErr_Occurred() ? -1 : parse_kind(args + 1, count, kind);
}

/* sample(address, nbytes, floating): the elements that are compared later, as bytes. */
static PyObject *sample(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    const char *data;
    int64_t count;
    int kind;
    if (given != 3) {
        PyErr_SetString(PyExc_TypeError, "sample(address, nbytes, floating)");
        return NULL;
    }
    if (parse(args, &data, &count, &kind) < 0)
        return NULL;
    PyObject *found = PyBytes_FromStringAndSize(NULL, sampled(count) * sizes[kind]);
    if (found != NULL)
        take(PyBytes_AS_STRING(found), data, count, sizes[kind]);
    return found;
}

/* Whether these are the bytes of a sample of so many elements; 0 with an error set. */
static int is_sample(PyObject *bytes, int64_t count, int kind)
{
    if (PyBytes_GET_SIZE(bytes) == sampled(count) * sizes[kind])
        return 1;
    PyErr_SetString(PyExc_ValueError, "the sample is of another parameter");
    return 0;
}

/* The norms of gradient, weight and update, and the share that moved, by their bits: of a sample of so many elements, and
 * of gradient and new weight, runs of which lie `between` elements apart. */
static PyObject *measures(const char *sample, const char *gradient, const char *data, int64_t count, int64_t between,
                          int kind)
{
    int64_t size = sampled(count);
    double before[MOST], after[MOST], pulls[MOST];
    int64_t whole = (size + RUN - 1) / RUN * RUN; /* what is missing to a whole run is 0 in all three */
    for (int64_t at = size; at < whole; at++)
        before[at] = after[at] = pulls[at] = 0;
    widen(before, sample, size, RUN, kind);
    widen(after, data, size, between, kind);
    widen(pulls, gradient, size, between, kind);
    Sums sums = sums_of(before, after, pulls, whole);
    double share = (double)size / (double)count, moved = NAN;
    if (sums.pulled || sums.changed)
        moved = sums.pulled ? (double)sums.moved / (double)sums.pulled : 1;
    double found[] = {norm(sums.gradient, share), norm(sums.weight, share), norm(sums.update, share), moved};
    if (size < count && !sums.pulled) { /* what has a gradient lies beside the sample, as the few rows of an embedding */
        found[0] = NAN;
        found[2] = sums.changed ? found[2] : NAN;
    }
    PyObject *told = PyList_New(4);
    for (int each = 0; each < 4 && told != NULL; each++) {
        int64_t bits;
        memcpy(&bits, &found[each], sizeof bits);
        PyObject *number = PyLong_FromLongLong(bits);
        if (number == NULL)
            Py_CLEAR(told);
        else
            PyList_SET_ITEM(told, each, number);
    }
    return told;
}

/* compare(sample, gradient, address, nbytes, floating): what `measures` tells, of the addresses of whole tensors. */
static PyObject *compare(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    const char *data;
    int64_t count;
    int kind;
    if (given != 5 || !PyBytes_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "compare(sample, gradient, address, nbytes, floating)");
        return NULL;
    }
    const char *gradient = PyLong_AsVoidPtr(args[1]);
    if (parse(args + 2, &data, &count, &kind) < 0)
        return NULL;
    return is_sample(args[0], count, kind)
               ? measures(PyBytes_AS_STRING(args[0]), gradient, data, count, apart(count), kind)
               : NULL;
}

/* compare_samples(sample, gradient, after, nbytes, floating): the same of samples of all three. */
static PyObject *compare_samples(PyObject *module, PyObject *const *args, Py_ssize_t given)
{
    int64_t count;
    int kind;
    if (given != 5 || !PyBytes_Check(args[0]) || !PyBytes_Check(args[1]) || !PyBytes_Check(args[2])) {
        PyErr_SetString(PyExc_TypeError, "compare_samples(sample, gradient, after, nbytes, floating)");
        return NULL;
    }
    if (parse_kind(args + 3, &count, &kind) < 0)
        return NULL;
    for (int each = 0; each < 3; each++)
        if (!is_sample(args[each], count, kind))
            return NULL;
    return measures(PyBytes_AS_STRING(args[0]), PyBytes_AS_STRING(args[1]), PyBytes_AS_STRING(args[2]), count, RUN, kind);
}

static PyMethodDef methods[] = {
    {"sample", (PyCFunction)(void (*)(void))sample, METH_FASTCALL, "The elements of a parameter that are compared."},
    {"compare", (PyCFunction)(void (*)(void))compare, METH_FASTCALL, "What an update did to a parameter."},
    {"compare_samples", (PyCFunction)(void (*)(void))compare_samples, METH_FASTCALL, "The same of samples."},
    {NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_samples", "What updates do to parameters.", -1, methods};

PyMODINIT_FUNC PyInit__samples(void) { return PyModule_Create(&definition); }
