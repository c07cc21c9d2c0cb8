/* The statistics of a value in one pass: smallest, largest, mean, standard deviation, and how many are NaN, Inf or 0.
 *
 * Blocks that stay in the first cache are looked at twice: whether all their elements are finite, and then, in lanes
 * that the compiler turns into vector instructions, what they come to. Sums of a block are kept in double.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "_processors.h"

enum { BLOCK = 1024, LANES = 16 };

typedef struct {
    double least, most, sum, squares, pivot;
    uint64_t nan, inf, zero, finite;
} Found;

static void take(Found *found, double x)
{
    if (isnan(x)) {
        found->nan++;
        return;
    }
    if (isinf(x)) {
        found->inf++;
        return;
    }
    if (found->finite++ == 0)
        found->least = found->most = found->pivot = x;
    if (x < found->least)
        found->least = x;
    if (x > found->most)
        found->most = x;
    found->zero += x == 0;
    x -= found->pivot;
    found->sum += x;
    found->squares += x * x;
}

/* A full block of numbers; 0, with nothing noted, when some are not finite or too large to be squared. Everything is told
 * from a pivot: of numbers that lie close together the squares would leave nothing. */
#define WHOLE_BLOCK(name, type, bits, exponent)                                                                        \
    FOR_EACH_PROCESSOR static int name(Found *found, const type *x)                                                    \
    {                                                                                                                  \
        const bits *raw = (const bits *)x, least_bit = (exponent) & -(exponent);                                       \
        bits carried = 0;                                                                                              \
        for (int at = 0; at < BLOCK; at++)                                                                             \
            carried |= (raw[at] & (exponent)) + least_bit;                                                             \
        if (carried >> (8 * sizeof(bits) - 1))                                                                         \
            return 0;                                                                                                  \
        if (found->finite == 0)                                                                                        \
            found->least = found->most = found->pivot = x[0];                                                          \
        type least[LANES], most[LANES], sum[LANES], squares[LANES], pivot = (type)found->pivot;                        \
        bits zero[LANES];                                                                                              \
        for (int lane = 0; lane < LANES; lane++) {                                                                     \
            least[lane] = most[lane] = x[lane];                                                                        \
            sum[lane] = squares[lane] = 0;                                                                             \
            zero[lane] = 0;                                                                                            \
        }                                                                                                              \
        for (int at = 0; at < BLOCK; at += LANES)                                                                      \
            for (int lane = 0; lane < LANES; lane++) {                                                                 \
                type each = x[at + lane], from = each - pivot;                                                         \
                least[lane] = each < least[lane] ? each : least[lane];                                                 \
                most[lane] = each > most[lane] ? each : most[lane];                                                    \
                sum[lane] += from;                                                                                     \
                squares[lane] += from * from;                                                                          \
                zero[lane] += each == 0;                                                                               \
            }                                                                                                          \
        double total = 0, total_squares = 0;                                                                           \
        for (int lane = 0; lane < LANES; lane++) {                                                                     \
            total += sum[lane];                                                                                        \
            total_squares += squares[lane];                                                                            \
        }                                                                                                              \
        if (!isfinite(total_squares))                                                                                  \
            return 0;                                                                                                  \
        for (int lane = 0; lane < LANES; lane++) {                                                                     \
            found->least = least[lane] < found->least ? least[lane] : found->least;                                    \
            found->most = most[lane] > found->most ? most[lane] : found->most;                                         \
            found->zero += zero[lane];                                                                                 \
        }                                                                                                              \
        found->sum += total;                                                                                           \
        found->squares += total_squares;                                                                               \
        found->finite += BLOCK;                                                                                        \
        return 1;                                                                                                      \
    }

WHOLE_BLOCK(block_float32, float, uint32_t, (uint32_t)0x7f800000)
WHOLE_BLOCK(block_float64, double, uint64_t, (uint64_t)0x7ff0000000000000)

#define MEASURE(name, type, block)                                                                                     \
    static void name(Found *found, const void *data, int64_t count)                                                    \
    {                                                                                                                  \
        const type *x = data;                                                                                          \
        int64_t at = 0;                                                                                                \
        for (; at + BLOCK <= count; at += BLOCK)                                                                       \
            if (!block(found, x + at))                                                                                 \
                for (int each = 0; each < BLOCK; each++)                                                               \
                    take(found, x[at + each]);                                                                         \
        for (; at < count; at++)                                                                                       \
            take(found, x[at]);                                                                                        \
    }

MEASURE(measure_float32, float, block_float32)
MEASURE(measure_float64, double, block_float64)

/* Halves are widened a block at a time. */
static float widened(uint16_t bits, int exponent_bits)
{
    if (exponent_bits == 8) {
        uint32_t wide = (uint32_t)bits << 16;
        float x;
        memcpy(&x, &wide, 4);
        return x;
    }
    uint32_t exponent = bits >> 10 & 31, mantissa = bits & 1023, sign = (uint32_t)(bits & 0x8000) << 16;
    if (exponent == 0) {
        float x = (float)mantissa * 5.9604644775390625e-8f; /* 2 ** -24 */
        return sign ? -x : x;
    }
    uint32_t wide = sign | (exponent == 31 ? 0x7f800000 : (exponent + 112) << 23) | mantissa << 13;
    float x;
    memcpy(&x, &wide, 4);
    return x;
}

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
    } record = {found.least, found.most, 0, 0, found.nan, found.inf, found.zero};
    if (found.finite) {
        double mean = found.sum / (double)found.finite;
        double variance = found.squares / (double)found.finite - mean * mean;
        record.mean = found.pivot + mean;
        record.std = isnan(variance) ? INFINITY : variance > 0 ? sqrt(variance) : 0; /* NaN: too large to be squared */
    }
    return PyBytes_FromStringAndSize((const char *)&record, sizeof record);
}

static PyMethodDef methods[] = {
    {"measure", (PyCFunction)(void (*)(void))measure, METH_FASTCALL, "The statistics of a value, as a SUMMARY record."},
    {NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_measure", "Statistics in one pass.", -1, methods};

PyMODINIT_FUNC PyInit__measure(void) { return PyModule_Create(&definition); }
