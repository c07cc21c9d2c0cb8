/* Exponentials and their kin for one type of elements: see `_types.h`. They have no branches and no calls, so that
 * compilers turn loops of them into vector instructions.
 */

/* 2^n for an n that has a place in the exponent. */
INLINE REAL NAME(power_of_two)(WORD n)
{
    union { WORD word; REAL real; } bits = {.word = (n + EXPONENT_BIAS) << FRACTION_BITS};
    return bits.real;
}

/* x as n ln 2 + r with a whole number n and |r| of at most half of ln 2: n is what is left in the last bits of x / ln 2
 * once a number has been added to it that is so large that no bits of a fraction fit behind it. */
INLINE WORD NAME(reduced)(REAL x, REAL *r)
{
    union { WORD word; REAL real; } shifted = {.real = x * EACH(1.44269504088896340736) + ROUNDING},
                                    none = {.real = ROUNDING};
    REAL n = shifted.real - ROUNDING;
    *r = (x - n * LN2_HIGH) - n * LN2_LOW;
    return shifted.word - none.word;
}

/* e^r - 1 for |r| of at most half of ln 2, by Taylor's series. */
INLINE REAL NAME(series)(REAL r)
{
#ifdef OF_DOUBLE
    REAL rest = EACH(2.08767569878680989792e-9) + r * EACH(1.60590438368216145994e-10);
    rest = EACH(2.50521083854417187751e-8) + r * rest;
    rest = EACH(2.75573192239858906526e-7) + r * rest;
    rest = EACH(2.75573192239858906526e-6) + r * rest;
    rest = EACH(2.48015873015873015873e-5) + r * rest;
    rest = EACH(1.98412698412698412698e-4) + r * rest;
#else
    REAL rest = EACH(1.98412698412698412698e-4);
#endif
    rest = EACH(1.38888888888888888889e-3) + r * rest;
    rest = EACH(8.33333333333333333333e-3) + r * rest;
    rest = EACH(4.16666666666666666667e-2) + r * rest;
    rest = EACH(1.66666666666666666667e-1) + r * rest;
    rest = EACH(0.5) + r * rest;
    return r + r * r * rest;
}

INLINE REAL NAME(exp)(REAL x)
{
    REAL r;
    x = x < LOWEST ? LOWEST : x > HIGHEST ? HIGHEST : x; /* NaN stays */
    WORD n = NAME(reduced)(x, &r), half = n >> 1;
    return (1 + NAME(series)(r)) * NAME(power_of_two)(half) * NAME(power_of_two)(n - half);
}

/* e^x - 1, as exact near 0 as elsewhere. */
INLINE REAL NAME(expm1)(REAL x)
{
    REAL r;
    x = x < LOWEST ? LOWEST : x > HIGHEST ? HIGHEST : x;
    WORD n = NAME(reduced)(x, &r), half = n >> 1;
    REAL less = NAME(series)(r), whole = (1 + less) * NAME(power_of_two)(half) * NAME(power_of_two)(n - half);
    return n == 0 ? less : whole - 1;
}

/* ln(1 + u) for u from 0 to 1: twice the inverse hyperbolic tangent of u / (2 + u). */
INLINE REAL NAME(log1p)(REAL u)
{
    REAL z = u / (2 + u), s = z * z;
#ifdef OF_DOUBLE
    REAL rest = EACH(0.0303030303030303030303) + s * EACH(0.0285714285714285714286);
    rest = EACH(0.0322580645161290322581) + s * rest;
    rest = EACH(0.0344827586206896551724) + s * rest;
    rest = EACH(0.0370370370370370370370) + s * rest;
    rest = EACH(0.04) + s * rest;
    rest = EACH(0.0434782608695652173913) + s * rest;
    rest = EACH(0.0476190476190476190476) + s * rest;
    rest = EACH(0.0526315789473684210526) + s * rest;
    rest = EACH(0.0588235294117647058824) + s * rest;
#else
    REAL rest = EACH(0.0588235294117647058824);
#endif
    rest = EACH(0.0666666666666666666667) + s * rest;
    rest = EACH(0.0769230769230769230769) + s * rest;
    rest = EACH(0.0909090909090909090909) + s * rest;
    rest = EACH(0.111111111111111111111) + s * rest;
    rest = EACH(0.142857142857142857143) + s * rest;
    rest = EACH(0.2) + s * rest;
    rest = EACH(0.333333333333333333333) + s * rest;
    return 2 * (z + z * s * rest);
}

INLINE REAL NAME(tanh)(REAL x)
{
    REAL less = NAME(expm1)(x > 0 ? -2 * x : 2 * x), size = -less / (less + 2);
    return x > 0 ? size : -size;
}

INLINE REAL NAME(logistic)(REAL x)
{
    return 1 / (1 + NAME(exp)(-x));
}

/* ln(1 + e^s), which overflows nowhere. */
INLINE REAL NAME(soft)(REAL s)
{
    return (s > 0 ? s : 0) + NAME(log1p)(NAME(exp)(s > 0 ? -s : s));
}

/* The sum of `each` over a row: in lanes side by side, and of long rows in blocks, which are added up in double. */
#define SUM(total, length, each) SUM_IN(REAL, total, length, each)

/* The same with lanes of another type. */
#define SUM_IN(type, total, length, each)                                                                              \
    double total = 0;                                                                                                  \
    for (Py_ssize_t start = 0; start < (length); start += BLOCK) {                                                     \
        type lanes[LANES] = {0}, some = 0;                                                                             \
        Py_ssize_t first = start, end = (length) - start < BLOCK ? (length) : start + BLOCK;                           \
        for (; first + LANES <= end; first += LANES)                                                                   \
            SIDE_BY_SIDE                                                                                               \
            for (int lane = 0; lane < LANES; lane++) {                                                                 \
                Py_ssize_t at = first + lane;                                                                          \
                lanes[lane] += each;                                                                                   \
            }                                                                                                          \
        for (Py_ssize_t at = first; at < end; at++)                                                                    \
            some += each;                                                                                              \
        for (int half = LANES / 2; half; half /= 2)                                                                    \
            for (int lane = 0; lane < half; lane++)                                                                    \
                lanes[lane] += lanes[lane + half];                                                                     \
        some += lanes[0];                                                                                              \
        total += some;                                                                                                 \
    }
