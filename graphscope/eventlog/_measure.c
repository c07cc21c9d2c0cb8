/* The statistics of a value: smallest, largest, mean, standard deviation, and how many are NaN, Inf or 0.
 *
 * Block by block, in lanes that the compiler turns into vector instructions; a block whose squares are not finite holds
 * elements that are not, or too large ones, and is looked at again, element by element. Squares are those of distances:
 * the squares of numbers that lie close together would leave nothing. What blocks come to is joined in double (Chan,
 * Golub, LeVeque 1983).
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

/* Elements of any kind, one after the other. */
#define ANY(name, type)                                                                                                \
    static void name(Found *found, const type *x, int64_t count)                                                       \
    {                                                                                                                  \
        Found these = {.least = INFINITY, .most = -INFINITY};                                                          \
        double sum = 0;                                                                                                \
        for (int64_t at = 0; at < count; at++) {                                                                       \
            these.nan += isnan(x[at]) != 0;                                                                            \
            these.inf += isinf(x[at]) != 0;                                                                            \
            if (!isfinite(x[at]))                                                                                      \
                continue;                                                                                              \
            these.least = x[at] < these.least ? x[at] : these.least;                                                   \
            these.most = x[at] > these.most ? x[at] : these.most;                                                      \
            these.zero += x[at] == 0;                                                                                  \
            these.finite++;                                                                                            \
            sum += x[at];                                                                                              \
        }                                                                                                              \
        these.mean = these.finite ? sum / (double)these.finite : 0;                                                    \
        for (int64_t at = 0; at < count; at++)                                                                         \
            if (isfinite(x[at]))                                                                                       \
                these.squares += (x[at] - these.mean) * (x[at] - these.mean);                                          \
        join(found, &these);                                                                                           \
    }

ANY(any_float32, float)
ANY(any_float64, double)

/* A block of numbers, a whole number of lanes; 0, with nothing noted, when some are not finite, or too large or too small
 * to be squared: little is left of squares that come to less than `smallest` each.
 * Distances are those from the mean of a sample, which is some standard deviations away from the mean of all at most. */
#define BLOCKWISE(name, type, bits, smallest)                                                                          \
    FOR_EACH_PROCESSOR static int name(Found *found, const type *x, int64_t count)                                     \
    {                                                                                                                  \
        type least[LANES], most[LANES], sum[LANES], squares[LANES], pivot = 0, other = 0;                              \
        const int64_t apart = count / LANES;                                                                           \
        for (int each = 0; each < LANES; each += 2) {                                                                  \
            pivot += x[each * apart];                                                                                  \
            other += x[(each + 1) * apart];                                                                            \
        }                                                                                                              \
        pivot = (pivot + other) / LANES;                                                                               \
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
                type each = x[at + lane], from = each - pivot;                                                         \
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
        Found these = {.least = least[0], .most = most[0], .mean = (double)pivot + total, .finite = (uint64_t)count,   \
                       .squares = fmax(total_squares - (double)count * total * total, 0)};                             \
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

BLOCKWISE(block_float32, float, uint32_t, FLT_MIN)
BLOCKWISE(block_float64, double, uint64_t, 0) /* the squares that doubles have no room for, NumPy has none for, either */

#define MEASURE(name, type, block, any)                                                                                \
    static void name(Found *found, const void *data, int64_t count)                                                    \
    {                                                                                                                  \
        const type *x = data;                                                                                          \
        int64_t size;                                                                                                  \
        for (int64_t at = 0; at < count; at += size) {                                                                 \
            size = count - at < BLOCK ? count - at : BLOCK;                                                            \
            if (size > LANES)                                                                                          \
                size -= size % LANES;                                                                                  \
            if (size < LANES || !block(found, x + at, size))                                                           \
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
