/* Loops that NumPy has no call for, or a slow one: running sums along rows, adding up at places, depthwise convolution,
 * elementwise formulas in one pass over memory.
 *
 * Each function takes buffers of one dim and of float or double, told apart by their format, that `loops.py` has made
 * sure are as long as they must be; here no place and no offset is checked again but those that a program gave.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

enum { SUM, PRODUCT, LARGEST, SMALLEST, MOST_BUFFERS = 4, LANES = 16 };

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

/* Running results along rows of `length`; sums and products are kept in double, as PyTorch does. */
#define RUNNING(name, type)                                                                                            \
    static void name(type *out, const type *x, Py_ssize_t rows, Py_ssize_t length, int what)                           \
    {                                                                                                                  \
        for (Py_ssize_t row = 0; row < rows; row++, x += length, out += length) {                                      \
            double so_far = what == SUM ? 0 : 1;                                                                       \
            if (what == SUM)                                                                                           \
                for (Py_ssize_t at = 0; at < length; at++)                                                             \
                    out[at] = (type)(so_far += x[at]);                                                                 \
            else                                                                                                       \
                for (Py_ssize_t at = 0; at < length; at++)                                                             \
                    out[at] = (type)(so_far *= x[at]);                                                                 \
        }                                                                                                              \
    }
RUNNING(running_float, float)
RUNNING(running_double, double)

/* Where the extreme of a row so far is: of equal ones the last; once there was a NaN, the last NaN. */
#define EXTREMES(name, type)                                                                                           \
    static void name(int64_t *out, const type *x, Py_ssize_t rows, Py_ssize_t length, int what)                        \
    {                                                                                                                  \
        for (Py_ssize_t row = 0; row < rows; row++, x += length, out += length) {                                      \
            type extreme = x[0];                                                                                       \
            int64_t place = 0;                                                                                         \
            for (Py_ssize_t at = 0; at < length; at++) {                                                               \
                type here = x[at];                                                                                     \
                int beyond = what == LARGEST ? here >= extreme : here <= extreme;                                      \
                if (isnan(here) || (!isnan(extreme) && beyond)) {                                                      \
                    extreme = here;                                                                                    \
                    place = at;                                                                                        \
                }                                                                                                      \
                out[at] = place;                                                                                       \
            }                                                                                                          \
        }                                                                                                              \
    }
EXTREMES(extremes_float, float)
EXTREMES(extremes_double, double)

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

/* Adds values up at places: `width` values belong to each row of `length` of `out`, and their places are counted in that.
 * Returns the first value whose place does not exist, or -1. */
#define ADD_AT(name, type)                                                                                             \
    static Py_ssize_t name(type *out, Py_ssize_t length, const int64_t *places, const type *values, Py_ssize_t count,  \
                           Py_ssize_t width)                                                                           \
    {                                                                                                                  \
        for (Py_ssize_t at = 0, end = width; at < count; end += width, out += length)                                  \
            for (; at < end; at++) {                                                                                   \
                if ((uint64_t)places[at] >= (uint64_t)length)                                                          \
                    return at;                                                                                         \
                out[places[at]] += values[at];                                                                         \
            }                                                                                                          \
        return -1;                                                                                                     \
    }
ADD_AT(add_at_float, float)
ADD_AT(add_at_double, double)

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

/* x · p(x²), with the seven coefficients of p from the constant one on; and what gelu makes of 2 Φ(x) - 1 in out:
 * the result, and the gradient, for which `density` is e^(-x²/2). */
#define TAIL 0.39894228040143267794
#define SMOOTH(type)                                                                                                   \
    FOR_EACH_PROCESSOR static void odd_##type(type *restrict out, const type *restrict x, const type *coefficients,    \
                                              Py_ssize_t count)                                                        \
    {                                                                                                                  \
        const type a = coefficients[0], b = coefficients[1], c = coefficients[2], d = coefficients[3];                 \
        const type e = coefficients[4], f = coefficients[5], g = coefficients[6];                                      \
        for (Py_ssize_t at = 0; at < count; at++) {                                                                    \
            const type s = x[at] * x[at];                                                                              \
            out[at] = x[at] * (a + s * (b + s * (c + s * (d + s * (e + s * (f + s * g))))));                           \
        }                                                                                                              \
    }                                                                                                                  \
    FOR_EACH_PROCESSOR static void gelu_##type(type *restrict out, const type *restrict x, Py_ssize_t count)           \
    {                                                                                                                  \
        for (Py_ssize_t at = 0; at < count; at++)                                                                      \
            out[at] = (1 + out[at]) * (x[at] * (type)0.5);                                                             \
    }                                                                                                                  \
    FOR_EACH_PROCESSOR static void gelu_slope_##type(type *restrict out, const type *restrict g,                       \
                                                     const type *restrict x, const type *restrict density,             \
                                                     Py_ssize_t count)                                                 \
    {                                                                                                                  \
        for (Py_ssize_t at = 0; at < count; at++)                                                                      \
            out[at] = g[at] * ((1 + out[at]) * (type)0.5 + x[at] * density[at] * (type)TAIL);                          \
    }
SMOOTH(float)
SMOOTH(double)

/* Where x is above 0, what is given for that; `with_nan` says whether NaN counts as such. */
#define CHOOSE(type)                                                                                                   \
    FOR_EACH_PROCESSOR static void choose_##type(type *restrict out, const type *restrict x,                           \
                                                 const type *restrict above, int with_nan, Py_ssize_t count)           \
    {                                                                                                                  \
        if (with_nan)                                                                                                  \
            for (Py_ssize_t at = 0; at < count; at++)                                                                  \
                out[at] = x[at] <= 0 ? out[at] : above[at];                                                            \
        else                                                                                                           \
            for (Py_ssize_t at = 0; at < count; at++)                                                                  \
                out[at] = x[at] > 0 ? above[at] : out[at];                                                             \
    }
CHOOSE(float)
CHOOSE(double)

static PyObject *running(PyObject *self, PyObject *args)
{
    PyObject *given[2];
    Py_ssize_t length;
    int what;
    Held held;
    if (!PyArg_ParseTuple(args, "OOni", &given[0], &given[1], &length, &what) || hold(&held, given, 2) < 0)
        return NULL;
    void *out = held.buffers[0].buf, *x = held.buffers[1].buf;
    Py_ssize_t rows = held.buffers[1].len / held.buffers[1].itemsize / length;
    Py_BEGIN_ALLOW_THREADS
    int wide = held.buffers[1].format[0] == 'd';
    if (what >= LARGEST)
        wide ? extremes_double(out, x, rows, length, what) : extremes_float(out, x, rows, length, what);
    else
        wide ? running_double(out, x, rows, length, what) : running_float(out, x, rows, length, what);
    Py_END_ALLOW_THREADS
    release(&held);
    Py_RETURN_NONE;
}

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
    Py_ssize_t length, width, wrong;
    Held held;
    if (!PyArg_ParseTuple(args, "OOOnn", &given[0], &given[1], &given[2], &length, &width) || hold(&held, given, 3) < 0)
        return NULL;
    Py_ssize_t count = held.buffers[1].len / (Py_ssize_t)sizeof(int64_t);
    int64_t *places = held.buffers[1].buf;
    Py_BEGIN_ALLOW_THREADS
    wrong = is_double(&held) ? add_at_double(held.buffers[0].buf, length, places, held.buffers[2].buf, count, width)
                             : add_at_float(held.buffers[0].buf, length, places, held.buffers[2].buf, count, width);
    Py_END_ALLOW_THREADS
    if (wrong >= 0)
        PyErr_Format(PyExc_IndexError, "place %lld does not exist: there are %zd", (long long)places[wrong], length);
    release(&held);
    return wrong >= 0 ? NULL : Py_NewRef(Py_None);
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

static PyObject *odd_polynomial(PyObject *self, PyObject *args)
{
    PyObject *given[3];
    Held held;
    if (!PyArg_ParseTuple(args, "OOO", &given[0], &given[1], &given[2]) || hold(&held, given, 3) < 0)
        return NULL;
    Py_ssize_t count = held.buffers[0].len / held.buffers[0].itemsize;
    Py_BEGIN_ALLOW_THREADS
    if (is_double(&held))
        odd_double(held.buffers[0].buf, held.buffers[1].buf, held.buffers[2].buf, count);
    else
        odd_float(held.buffers[0].buf, held.buffers[1].buf, held.buffers[2].buf, count);
    Py_END_ALLOW_THREADS
    release(&held);
    Py_RETURN_NONE;
}

static PyObject *gelu(PyObject *self, PyObject *args)
{
    PyObject *given[2];
    Held held;
    if (!PyArg_ParseTuple(args, "OO", &given[0], &given[1]) || hold(&held, given, 2) < 0)
        return NULL;
    Py_ssize_t count = held.buffers[0].len / held.buffers[0].itemsize;
    Py_BEGIN_ALLOW_THREADS
    if (is_double(&held))
        gelu_double(held.buffers[0].buf, held.buffers[1].buf, count);
    else
        gelu_float(held.buffers[0].buf, held.buffers[1].buf, count);
    Py_END_ALLOW_THREADS
    release(&held);
    Py_RETURN_NONE;
}

static PyObject *gelu_slope(PyObject *self, PyObject *args)
{
    PyObject *given[4];
    Held held;
    if (!PyArg_ParseTuple(args, "OOOO", &given[0], &given[1], &given[2], &given[3]) || hold(&held, given, 4) < 0)
        return NULL;
    void *out = held.buffers[0].buf, *g = held.buffers[1].buf, *x = held.buffers[2].buf, *density = held.buffers[3].buf;
    Py_ssize_t count = held.buffers[0].len / held.buffers[0].itemsize;
    Py_BEGIN_ALLOW_THREADS
    if (is_double(&held))
        gelu_slope_double(out, g, x, density, count);
    else
        gelu_slope_float(out, g, x, density, count);
    Py_END_ALLOW_THREADS
    release(&held);
    Py_RETURN_NONE;
}

static PyObject *choose(PyObject *self, PyObject *args)
{
    PyObject *given[3];
    int with_nan;
    Held held;
    if (!PyArg_ParseTuple(args, "OOOp", &given[0], &given[1], &given[2], &with_nan) || hold(&held, given, 3) < 0)
        return NULL;
    Py_ssize_t count = held.buffers[0].len / held.buffers[0].itemsize;
    Py_BEGIN_ALLOW_THREADS
    if (is_double(&held))
        choose_double(held.buffers[0].buf, held.buffers[1].buf, held.buffers[2].buf, with_nan, count);
    else
        choose_float(held.buffers[0].buf, held.buffers[1].buf, held.buffers[2].buf, with_nan, count);
    Py_END_ALLOW_THREADS
    release(&held);
    Py_RETURN_NONE;
}

static PyMethodDef METHODS[] = {
    {"running", running, METH_VARARGS, "running(out, x, length, what): along rows of x; places, of extremes."},
    {"products", products, METH_VARARGS, "products(out, x): of the rows of x."},
    {"add_at", add_at, METH_VARARGS, "add_at(out, places, values, length, width): add each value at its place."},
    {"depthwise", depthwise, METH_VARARGS,
     "depthwise(what, made, first, second, offsets, channels, step, run): 0 correlate, 1 spread, 2 weigh."},
    {"odd_polynomial", odd_polynomial, METH_VARARGS, "odd_polynomial(out, x, coefficients): x times p of its square."},
    {"gelu", gelu, METH_VARARGS, "gelu(out, x): from 2 Phi(x) - 1, which out holds."},
    {"gelu_slope", gelu_slope, METH_VARARGS, "gelu_slope(out, g, x, density): the gradient, from the same."},
    {"choose", choose, METH_VARARGS, "choose(out, x, above, with_nan): above where x is above 0."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "_loops", NULL, -1, METHODS};

PyMODINIT_FUNC PyInit__loops(void)
{
    return PyModule_Create(&MODULE);
}
