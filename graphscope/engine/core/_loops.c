/* Loops that NumPy has no call for, or a slow one: products of rows, adding up at places, adding what is scaled,
 * depthwise convolution.
 *
 * Each function takes buffers of one dim and of float or double, told apart by their format, that `loops.py` has made
 * sure are as long as they must be; here no place and no offset is checked again but those that a program gave.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#include "../../eventlog/_processors.h"

enum { MOST_BUFFERS = 4, LANES = 16, STRETCH = 512 };

typedef struct {
    Py_buffer buffers[MOST_BUFFERS];
    int count;
} Held;

static void release(Held *held)
{
    while (held->count)
        PyBuffer_Release(&held->buffers[--held->count]);
}

/* The first is written into. Whether they are of double is the format of the first. */
static int hold(Held *held, PyObject **given, int count)
{
    held->count = 0;
    for (int place = 0; place < count; place++) {
        int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (place ? 0 : PyBUF_WRITABLE);
        if (PyObject_GetBuffer(given[place], &held->buffers[place], flags) < 0) {
            release(held);
            return -1;
        }
        held->count++;
    }
    return 0;
}

static int is_double(const Held *held)
{
    return held->buffers[0].format[0] == 'd';
}

/* The product of each row: lanes side by side, that the compiler turns into vector instructions. */
#define PRODUCTS(name, type)                                                                                           \
    FOR_EACH_PROCESSOR static void name(type *out, const type *x, Py_ssize_t rows, Py_ssize_t length)                  \
    {                                                                                                                  \
        for (Py_ssize_t row = 0; row < rows; row++, x += length) {                                                     \
            type lanes[LANES], product = 1;                                                                            \
            Py_ssize_t at = 0;                                                                                         \
            for (int lane = 0; lane < LANES; lane++)                                                                   \
                lanes[lane] = 1;                                                                                       \
            for (; at + LANES <= length; at += LANES)                                                                  \
                for (int lane = 0; lane < LANES; lane++)                                                               \
                    lanes[lane] *= x[at + lane];                                                                       \
            for (; at < length; at++)                                                                                  \
                product *= x[at];                                                                                      \
            for (int lane = 0; lane < LANES; lane++)                                                                   \
                product *= lanes[lane];                                                                                \
            out[row] = product;                                                                                        \
        }                                                                                                              \
    }
PRODUCTS(products_float, float)
PRODUCTS(products_double, double)

/* Adds values up at places. Returns the first value whose place does not exist, or -1. */
#define ADD_AT(name, type)                                                                                             \
    static Py_ssize_t name(type *out, Py_ssize_t size, const int64_t *places, const type *values, Py_ssize_t count)    \
    {                                                                                                                  \
        for (Py_ssize_t at = 0; at < count; at++) {                                                                    \
            if ((uint64_t)places[at] >= (uint64_t)size)                                                                \
                return at;                                                                                             \
            out[places[at]] += values[at];                                                                             \
        }                                                                                                              \
        return -1;                                                                                                     \
    }
ADD_AT(add_at_float, float)
ADD_AT(add_at_double, double)

/* Adds values that are scaled first. The products of a stretch are put down, so that none is added before it is rounded:
 * NumPy's calls, and PyTorch's, round both. */
#define ADD_SCALED(name, type)                                                                                         \
    FOR_EACH_PROCESSOR static void name(type *out, const type *values, type by, Py_ssize_t count)                      \
    {                                                                                                                  \
        type scaled[STRETCH];                                                                                          \
        for (Py_ssize_t done = 0; done < count; done += STRETCH) {                                                     \
            Py_ssize_t size = count - done < STRETCH ? count - done : STRETCH;                                         \
            for (Py_ssize_t at = 0; at < size; at++)                                                                   \
                scaled[at] = values[done + at] * by;                                                                   \
            for (Py_ssize_t at = 0; at < size; at++)                                                                   \
                out[done + at] += scaled[at];                                                                          \
        }                                                                                                              \
    }
ADD_SCALED(add_scaled_float, float)
ADD_SCALED(add_scaled_double, double)

/* Depthwise convolution of planes that lie `step` elements apart, of which the first `run` are windows of y. Place k of
 * every window is `offsets[k]` behind its first; plane p has the weights of channel p % channels. */
typedef struct {
    Py_ssize_t planes, channels, places, step, run;
    const int64_t *offsets;
} Planes;

#define DEPTHWISE(type)                                                                                                \
    FOR_EACH_PROCESSOR static void correlate_##type(type *restrict y, const type *x, const type *w, const Planes *in)  \
    {                                                                                                                  \
        for (Py_ssize_t plane = 0; plane < in->planes; plane++, x += in->step, y += in->step) {                         \
            const type *weights = w + plane % in->channels * in->places;                                               \
            for (Py_ssize_t at = 0; at < in->run; at++)                                                                \
                y[at] = 0;                                                                                             \
            for (Py_ssize_t place = 0; place < in->places; place++) {                                                  \
                const type *restrict from = x + in->offsets[place];                                                    \
                const type weight = weights[place];                                                                    \
                for (Py_ssize_t at = 0; at < in->run; at++)                                                            \
                    y[at] += from[at] * weight;                                                                        \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    FOR_EACH_PROCESSOR static void spread_##type(type *x, const type *restrict y, const type *w, const Planes *in)     \
    {                                                                                                                  \
        for (Py_ssize_t plane = 0; plane < in->planes; plane++, x += in->step, y += in->step) {                         \
            const type *weights = w + plane % in->channels * in->places;                                               \
            for (Py_ssize_t place = 0; place < in->places; place++) {                                                  \
                type *restrict to = x + in->offsets[place];                                                            \
                const type weight = weights[place];                                                                    \
                for (Py_ssize_t at = 0; at < in->run; at++)                                                            \
                    to[at] += y[at] * weight;                                                                          \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    FOR_EACH_PROCESSOR static void weigh_##type(type *w, const type *x, const type *y, const Planes *in)               \
    {                                                                                                                  \
        for (Py_ssize_t plane = 0; plane < in->planes; plane++, x += in->step, y += in->step) {                         \
            type *weights = w + plane % in->channels * in->places;                                                     \
            for (Py_ssize_t place = 0; place < in->places; place++) {                                                  \
                const type *from = x + in->offsets[place];                                                             \
                type lanes[LANES] = {0}, sum = 0;                                                                      \
                Py_ssize_t at = 0;                                                                                     \
                for (; at + LANES <= in->run; at += LANES)                                                             \
                    for (int lane = 0; lane < LANES; lane++)                                                           \
                        lanes[lane] += from[at + lane] * y[at + lane];                                                 \
                for (; at < in->run; at++)                                                                             \
                    sum += from[at] * y[at];                                                                           \
                for (int lane = 0; lane < LANES; lane++)                                                               \
                    sum += lanes[lane];                                                                                \
                weights[place] += sum;                                                                                 \
            }                                                                                                          \
        }                                                                                                              \
    }
DEPTHWISE(float)
DEPTHWISE(double)

static PyObject *products(PyObject *self, PyObject *args)
{
    PyObject *given[2];
    Held held;
    if (!PyArg_ParseTuple(args, "OO", &given[0], &given[1]) || hold(&held, given, 2) < 0)
        return NULL;
    Py_ssize_t rows = held.buffers[0].len / held.buffers[0].itemsize, length = held.buffers[1].len / held.buffers[0].len;
    Py_BEGIN_ALLOW_THREADS
    if (is_double(&held))
        products_double(held.buffers[0].buf, held.buffers[1].buf, rows, length);
    else
        products_float(held.buffers[0].buf, held.buffers[1].buf, rows, length);
    Py_END_ALLOW_THREADS
    release(&held);
    Py_RETURN_NONE;
}

static PyObject *add_at(PyObject *self, PyObject *args)
{
    PyObject *given[3];
    Py_ssize_t wrong;
    Held held;
    if (!PyArg_ParseTuple(args, "OOO", &given[0], &given[1], &given[2]) || hold(&held, given, 3) < 0)
        return NULL;
    Py_ssize_t count = held.buffers[1].len / (Py_ssize_t)sizeof(int64_t);
    Py_ssize_t size = held.buffers[0].len / held.buffers[0].itemsize;
    int64_t *places = held.buffers[1].buf;
    Py_BEGIN_ALLOW_THREADS
    wrong = is_double(&held) ? add_at_double(held.buffers[0].buf, size, places, held.buffers[2].buf, count)
                             : add_at_float(held.buffers[0].buf, size, places, held.buffers[2].buf, count);
    Py_END_ALLOW_THREADS
    if (wrong >= 0)
        PyErr_Format(PyExc_IndexError, "place %lld does not exist: there are %zd", (long long)places[wrong], size);
    release(&held);
    return wrong >= 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *add_scaled(PyObject *self, PyObject *args)
{
    PyObject *given[2];
    double by;
    Held held;
    if (!PyArg_ParseTuple(args, "OOd", &given[0], &given[1], &by) || hold(&held, given, 2) < 0)
        return NULL;
    Py_ssize_t size = held.buffers[0].len, count = size / held.buffers[0].itemsize;
    char *out = held.buffers[0].buf, *values = held.buffers[1].buf;
    if (out != values && out < values + size && values < out + size) {
        release(&held);
        Py_RETURN_FALSE;
    }
    Py_BEGIN_ALLOW_THREADS
    if (is_double(&held))
        add_scaled_double((double *)out, (double *)values, by, count);
    else
        add_scaled_float((float *)out, (float *)values, (float)by, count);
    Py_END_ALLOW_THREADS
    release(&held);
    Py_RETURN_TRUE;
}

static PyObject *depthwise(PyObject *self, PyObject *args)
{
    PyObject *given[4];
    int what;
    Planes in;
    Held held;
    if (!PyArg_ParseTuple(args, "iOOOOnnn", &what, &given[0], &given[1], &given[2], &given[3], &in.channels, &in.step,
                          &in.run) ||
        hold(&held, given, 4) < 0)
        return NULL;
    void *made = held.buffers[0].buf, *first = held.buffers[1].buf, *second = held.buffers[2].buf;
    in.offsets = held.buffers[3].buf;
    in.places = held.buffers[3].len / (Py_ssize_t)sizeof(int64_t);
    in.planes = held.buffers[what == 0 ? 0 : what == 1 ? 1 : 2].len / held.buffers[0].itemsize / in.step;
    Py_BEGIN_ALLOW_THREADS
    if (is_double(&held))
        (what == 0 ? correlate_double : what == 1 ? spread_double : weigh_double)(made, first, second, &in);
    else
        (what == 0 ? correlate_float : what == 1 ? spread_float : weigh_float)(made, first, second, &in);
    Py_END_ALLOW_THREADS
    release(&held);
    Py_RETURN_NONE;
}

static PyMethodDef METHODS[] = {
    {"products", products, METH_VARARGS, "products(out, x): of the rows of x."},
    {"add_at", add_at, METH_VARARGS, "add_at(out, places, values): add each value at its place."},
    {"add_scaled", add_scaled, METH_VARARGS, "add_scaled(out, values, by): add each value, scaled, at its own place."},
    {"depthwise", depthwise, METH_VARARGS,
     "depthwise(what, made, first, second, offsets, channels, step, run): 0 correlate, 1 spread, 2 weigh."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "_loops", NULL, -1, METHODS};

PyMODINIT_FUNC PyInit__loops(void)
{
    return PyModule_Create(&MODULE);
}
