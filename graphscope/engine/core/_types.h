/* What formulas and layers are compiled with: KERNELS, a header of them, is included for float and for double.
 *
 * In it REAL is the type, WORD an integer of its size, NAME(f) what f is called for it, EACH(decimals) a literal of it.
 */
#ifndef GRAPHSCOPE_TYPES_H
#define GRAPHSCOPE_TYPES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <float.h>
#include <math.h>
#include <stdint.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include "../../eventlog/_processors.h"
#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0
#error "exponentials take numbers apart by how they round, which this processor does otherwise"
#endif

enum { LANES = 16, BLOCK = 1024, MANY = 1 << 14 };

/* How many elements there are, and how they lie along a dim: `rows` times `length` of it, and `inner` behind each. */
typedef struct {
    Py_ssize_t count, rows, length, inner;
} Extent;

/* Whether an array is one that kernels take. */
static inline int is_plain(PyObject *value)
{
    if (!PyArray_CheckExact(value))
        return 0;
    PyArrayObject *array = (PyArrayObject *)value;
    int type = PyArray_TYPE(array);
    return (type == NPY_FLOAT || type == NPY_DOUBLE) && PyArray_NDIM(array) > 0 && PyArray_ISCARRAY_RO(array) &&
           PyArray_SIZE(array) > 0;
}

#define NAME(name) name##_float
#define REAL float
#define WORD int32_t
#define EACH(decimals) decimals##f
#define EXPONENT_BIAS 127
#define FRACTION_BITS 23
#define ROUNDING 12582912.0f /* 1.5 · 2^23 */
#define LN2_HIGH 0.693359375f
#define LN2_LOW -2.12194440e-4f
#define LOWEST -105.0f /* e to that is 0, and to HIGHEST infinite */
#define HIGHEST 89.5f
#include "_exponential.h"
#include KERNELS
#undef NAME
#undef REAL
#undef WORD
#undef EACH
#undef EXPONENT_BIAS
#undef FRACTION_BITS
#undef ROUNDING
#undef LN2_HIGH
#undef LN2_LOW
#undef LOWEST
#undef HIGHEST

#define NAME(name) name##_double
#define REAL double
#define WORD int64_t
#define EACH(decimals) decimals
#define EXPONENT_BIAS 1023
#define FRACTION_BITS 52
#define ROUNDING 6755399441055744.0 /* 1.5 · 2^52 */
#define LN2_HIGH 6.93145751953125e-1
#define LN2_LOW 1.42860682030941723212e-6
#define LOWEST -746.0
#define HIGHEST 710.5
#define OF_DOUBLE
#include "_exponential.h"
#include KERNELS

#endif
