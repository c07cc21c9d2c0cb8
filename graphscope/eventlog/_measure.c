/* The statistics of a value: smallest, largest, mean, standard deviation, and how many are NaN, Inf or 0.
 *
 * Block by block, in lanes that the compiler turns into vector instructions; a block whose squares are not finite, or
 * come to nothing, is looked at again, in double and without the elements that are not finite. Squares are those of
 * distances: the squares of numbers that lie close together would leave nothing. What blocks come to is joined in
 * double (Chan, Golub, LeVeque 1983).
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "_halves.h"
#include "_processors.h"

enum { BLOCK = 2048, LANES = 16, AHEAD = 1 << 14 };
/* So many bytes ahead of the loop memory is fetched: that it computes would else keep it from asking for the next lines
 * in time. */

typedef struct {
    double least, most, mean, squares; /* of the distances from the mean */
    uint64_t nan, inf, zero, finite;
} Found;

static void join(Found *found, const Found *more)
{
    double count = (double)more->finite, total = (double)found->finite + count, apart = more->mean - found->mean;
    found->nan += more->nan;
    found->inf += more->inf;
    if (more->finite == 0)
        return;
    found->least = found->finite == 0 || more->least < found->least ? more->least : found->least;
    found->most = found->finite == 0 || more->most > found->most ? more->most : found->most;
    found->squares += more->squares + apart * apart * (double)found->finite * (count / total);
    found->mean += apart * (count / total);
    found->zero += more->zero;
    found->finite += more->finite;
}

/* Elements of any kind, a whole number of lanes. Those that are not finite are counted, and left out of all else. */
FOR_EACH_PROCESSOR static void any_float64(Found *found, const double *x, int64_t count)
{
    double least[LANES], most[LANES], sum[LANES] = {0}, squares[LANES] = {0};
    uint64_t nan[LANES] = {0}, finite[LANES] = {0}, zero[LANES] = {0};
    for (int lane = 0; lane < LANES; lane++) {
        least[lane] = INFINITY;
        most[lane] = -INFINITY;
    }
    for (int64_t at = 0; at < count; at += LANES)
        for (int lane = 0; lane < LANES; lane++) {
            double each = x[at + lane], none = each - each; /* 0, or NaN where it is not finite */
            double low = none == 0 ? each : INFINITY, high = none == 0 ? each : -INFINITY;
            least[lane] = low < least[lane] ? low : least[lane];
            most[lane] = high > most[lane] ? high : most[lane];
            sum[lane] += none == 0 ? each : 0;
            nan[lane] += each != each;
            finite[lane] += none == 0;
            zero[lane] += each == 0;
        }
    Found these = {.least = INFINITY, .most = -INFINITY};
    double total = 0;
    for (int lane = 0; lane < LANES; lane++) {
        these.least = least[lane] < these.least ? least[lane] : these.least;
        these.most = most[lane] > these.most ? most[lane] : these.most;
        these.nan += nan[lane];
        these.zero += zero[lane];
        these.finite += finite[lane];
        total += sum[lane];
    }
    const double mean = these.finite ? total / (double)these.finite : 0;
    for (int64_t at = 0; at < count; at += LANES)
        for (int lane = 0; lane < LANES; lane++) {
            double each = x[at + lane], from = each - each == 0 ? each - mean : 0;
            squares[lane] += from * from;
        }
    for (int lane = 0; lane < LANES; lane++)
        these.squares += squares[lane];
    these.inf = (uint64_t)count - these.finite - these.nan;
    these.mean = mean;
    join(found, &these);
}

/* The same of floats, a block at most: the squares of all of them are doubles. */
static void any_float32(Found *found, const float *x, int64_t count)
{
    double wide[BLOCK];
    for (int64_t at = 0; at < count; at++)
        wide[at] = x[at];
    any_float64(found, wide, count);
}

/* The power of 2 by which distances like this one come to about 1, so that there is room for their squares; 1 where
 * there is none, or it is not finite. */
static float unit_for_float32(float distance)
{
    uint32_t bits, exponent;
    memcpy(&bits, &distance, sizeof bits);
    exponent = bits >> 23 & 255;
    if (bits << 1 == 0 || exponent == 255)
        return 1;
    bits = (exponent < 254 ? 254 - exponent : 1) << 23;
    memcpy(&distance, &bits, sizeof bits);
    return distance;
}

/* A block of numbers, a whole number of lanes; 0, with nothing noted, when some are not finite, or too large or too
 * small to be squared: little is left of squares that come to less than `smallest` each.
 * Distances are those from the mean of a sample, which is some standard deviations away from the mean of all at most.
 * How far its halves are apart tells in which unit: gradients that vanish on their way are that small. */
#define BLOCKWISE(name, type, bits, smallest, unit_for)                                                                \
    FOR_EACH_PROCESSOR static int name(Found *found, const type *x, int64_t count)                                     \
    {                                                                                                                  \
        type least[LANES], most[LANES], sum[LANES], squares[LANES], pivot = 0, other = 0;                              \
        const int64_t apart = count / LANES;                                                                           \
        for (int each = 0; each < LANES; each += 2) {                                                                  \
            pivot += x[each * apart];                                                                                  \
            other += x[(each + 1) * apart];                                                                            \
        }                                                                                                              \
        const type unit = unit_for(pivot - other);                                                                     \
        pivot = (pivot + other) / LANES;                                                                               \
        const type center = pivot * unit;                                                                              \
        bits zero[LANES];                                                                                              \
        for (int lane = 0; lane < LANES; lane++) {                                                                     \
            least[lane] = most[lane] = x[lane];                                                                        \
            sum[lane] = squares[lane] = 0;                                                                             \
            zero[lane] = 0;                                                                                            \
        }                                                                                                              \
        for (int64_t at = 0; at < count; at += LANES) {                                                                \
            for (size_t line = 0; line < LANES * sizeof(type); line += 64)                                             \
                FETCH((const char *)(x + at) + AHEAD + line);                                                          \
            for (int lane = 0; lane < LANES; lane++) {                                                                 \
                type each = x[at + lane], from = each * unit - center;                                                 \
                least[lane] = each < least[lane] ? each : least[lane];                                                 \
                most[lane] = each > most[lane] ? each : most[lane];                                                    \
                sum[lane] += from;                                                                                     \
                squares[lane] += from * from;                                                                          \
                zero[lane] += each == 0;                                                                               \
            }                                                                                                          \
        }                                                                                                              \
        double total = 0, total_squares = 0;                                                                           \
        for (int lane = 0; lane < LANES; lane++) {                                                                     \
            total += sum[lane];                                                                                        \
            total_squares += squares[lane];                                                                            \
        }                                                                                                              \
        if (!isfinite(total_squares))                                                                                  \
            return 0;                                                                                                  \
        total /= (double)count;                                                                                        \
        const double back = 1.0 / unit;                                                                                \
        Found these = {.least = least[0], .most = most[0], .mean = (double)pivot + total * back,                       \
                       .finite = (uint64_t)count,                                                                      \
                       .squares = fmax(total_squares - (double)count * total * total, 0) * back * back};               \
        for (int lane = 0; lane < LANES; lane++) {                                                                     \
            these.least = least[lane] < these.least ? least[lane] : these.least;                                       \
            these.most = most[lane] > these.most ? most[lane] : these.most;                                            \
            these.zero += zero[lane];                                                                                  \
        }                                                                                                              \
        if (these.least != these.most && total_squares < (double)count * (smallest))                                   \
            return 0;                                                                                                  \
        join(found, &these);                                                                                           \
        return 1;                                                                                                      \
    }

#define UNIT_FOR_FLOAT64(distance) 1
BLOCKWISE(block_float32, float, uint32_t, FLT_MIN, unit_for_float32)
BLOCKWISE(block_float64, double, uint64_t, 0, UNIT_FOR_FLOAT64) /* NumPy, too, has none for the squares of doubles */

#define MEASURE(name, type, block, any)                                                                                \
    static void name(Found *found, const void *data, int64_t count)                                                    \
    {                                                                                                                  \
        const type *x = data;                                                                                          \
        int64_t size;                                                                                                  \
        for (int64_t at = 0; at < count; at += size) {                                                                 \
            size = count - at < BLOCK ? count - at : BLOCK;                                                            \
            if (size > LANES)                                                                                          \
                size -= size % LANES;                                                                                  \
            if (size < LANES) { /* what is missing to a whole run of lanes is NaN, and not counted */                  \
                type rest[LANES];                                                                                      \
                for (int lane = 0; lane < LANES; lane++)                                                               \
                    rest[lane] = lane < size ? x[at + lane] : (type)NAN;                                               \
                any(found, rest, LANES);                                                                               \
                found->nan -= (uint64_t)(LANES - size);                                                                \
            }                                                                                                          \
            else if (!block(found, x + at, size))                                                                      \
                any(found, x + at, size);                                                                              \
        }                                                                                                              \
    }

MEASURE(measure_float32, float, block_float32, any_float32)
MEASURE(measure_float64, double, block_float64, any_float64)

/* Halves are widened a block at a time. */
static void measure_halves(Found *found, const uint16_t *x, int64_t count, int exponent_bits)
{
    float wide[BLOCK];
    for (int64_t at = 0; at < count; at += BLOCK) {
        int64_t size = count - at < BLOCK ? count - at : BLOCK;
        for (int64_t each = 0; each < size; each++)
            wide[each] = widened(x[at + each], exponent_bits);
        measure_float32(found, wide, size);
    }
}

static void measure_float16(Found *found, const void *data, int64_t count) { measure_halves(found, data, count, 5); }
static void measure_bfloat16(Found *found, const void *data, int64_t count) { measure_halves(found, data, count, 8); }

/* By the number of the floating type: see appender.FLOATING. */
static void (*const measures[])(Found *, const void *, int64_t) = {NULL, measure_float16, measure_bfloat16,
                                                                   measure_float32, measure_float64};
static const int sizes[] = {0, 2, 2, 4, 8};

/* measure(value, nbytes, floating): the SUMMARY record, as bytes, of an address or of contiguous memory. */
static PyObject *measure(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    Py_buffer buffer = {0};
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "measure(value, nbytes, floating)");
        return NULL;
    }
    int64_t nbytes = PyLong_AsLongLong(args[1]);
    long kind = PyLong_AsLong(args[2]);
    if (PyErr_Occurred())
        return NULL;
    if (kind < 1 || kind > 4) {
        PyErr_SetString(PyExc_ValueError, "no such floating type");
        return NULL;
    }
    const void *data;
    if (PyLong_CheckExact(args[0])) {
        data = PyLong_AsVoidPtr(args[0]);
        if (data == NULL && PyErr_Occurred())
            return NULL;
    }
    else {
        if (PyObject_GetBuffer(args[0], &buffer, PyBUF_ANY_CONTIGUOUS) < 0)
            return NULL;
        data = buffer.buf;
        nbytes = buffer.len;
    }
    Found found = {0};
    Py_BEGIN_ALLOW_THREADS
    measures[kind](&found, data, nbytes / sizes[kind]);
    Py_END_ALLOW_THREADS
    if (buffer.obj != NULL)
        PyBuffer_Release(&buffer);
    struct {
        double least, most, mean, std;
        uint64_t nan, inf, zero;
    } record = {found.least, found.most, found.mean, 0, found.nan, found.inf, found.zero};
    if (found.finite && found.least == found.most)
        record.mean = found.least;
    else if (found.finite)
        record.std = isnan(found.squares) ? INFINITY : sqrt(found.squares / (double)found.finite);
    return PyBytes_FromStringAndSize((const char *)&record, sizeof record);
}

static PyMethodDef methods[] = {
    {"measure", (PyCFunction)(void (*)(void))measure, METH_FASTCALL, "The statistics of a value, as a SUMMARY record."},
    {NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_measure", "Statistics in one pass.", -1, methods};

PyMODINIT_FUNC PyInit__measure(void) { return PyModule_Create(&definition); }
