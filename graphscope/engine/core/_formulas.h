/* The formulas of `_formulas.c` for one type of elements: see `_types.h`. */

INLINE REAL NAME(silu_slope)(REAL x)
{
    REAL s = NAME(logistic)(x);
    return s * (1 + x * (1 - s));
}

/* √(2/π) (x + 0.044715 x³) */
INLINE REAL NAME(bend)(REAL x)
{
    return x * (EACH(0.79788456080286535588) + EACH(0.035677408136300125) * x * x);
}

INLINE REAL NAME(gelu_tanh_slope)(REAL x)
{
    REAL s = NAME(logistic)(2 * NAME(bend)(x));
    REAL steep = EACH(0.79788456080286535588) + EACH(0.107032224408900375) * x * x;
    return s + 2 * x * s * (1 - s) * steep;
}

/* 2 Φ(x) - 1 is erf(x / √2), and that is tanh(x · p(x²)) to 6e-8, float's own precision; (1 + tanh y) / 2 is the
 * logistic function of 2 y. */
INLINE REAL NAME(normal_cdf)(REAL x)
{
    REAL s = x * x, p = EACH(-1.32266263e-07) + s * EACH(1.75627692e-09);
    p = EACH(-5.5306316e-05) + s * (EACH(3.96477298e-06) + s * p);
    p = EACH(0.0363330844) + s * (EACH(-3.25947462e-05) + s * p);
    return NAME(logistic)(2 * x * (EACH(0.797884941) + s * p));
}

INLINE REAL NAME(mish_slope)(REAL x)
{
    REAL level = NAME(tanh)(NAME(soft)(x));
    return level + x * NAME(logistic)(x) * (1 - level * level);
}

/* Elementwise: of one array x is an element; of two g is one of the first, the cotangent, and x one of the second. */

#define ELEMENTWISE(name, expression)                                                                                  \
    FOR_EACH_PROCESSOR static void NAME(name)(REAL *restrict out, const REAL *gs, const REAL *xs,                      \
                                              const double *given, Extent extent)                                      \
    {                                                                                                                  \
        const REAL a = (REAL)given[0], b = (REAL)given[1], c = (REAL)given[2];                                         \
        (void)a, (void)b, (void)c;                                                                                     \
        for (Py_ssize_t at = 0; at < extent.count; at++) {                                                             \
            const REAL x = xs[at], g = gs[at];                                                                         \
            (void)g;                                                                                                   \
            out[at] = expression;                                                                                      \
        }                                                                                                              \
    }

ELEMENTWISE(of_relu, x < 0 ? 0 : x)
ELEMENTWISE(of_relu_rule, x <= 0 ? 0 : g)
ELEMENTWISE(of_sigmoid, NAME(logistic)(x))
ELEMENTWISE(of_silu, x * NAME(logistic)(x))
ELEMENTWISE(of_silu_rule, g * NAME(silu_slope)(x))
ELEMENTWISE(of_mish, x * NAME(tanh)(NAME(soft)(x)))
ELEMENTWISE(of_mish_rule, g * NAME(mish_slope)(x))
#ifndef OF_DOUBLE
ELEMENTWISE(of_normal_cdf, NAME(normal_cdf)(x))
ELEMENTWISE(of_gelu, x * NAME(normal_cdf)(x))
ELEMENTWISE(of_gelu_rule,
            g * (NAME(normal_cdf)(x) + x * NAME(exp)(x * x * EACH(-0.5)) * EACH(0.39894228040143267794)))
#endif
ELEMENTWISE(of_gelu_tanh, x * NAME(logistic)(2 * NAME(bend)(x)))
ELEMENTWISE(of_gelu_tanh_rule, g * NAME(gelu_tanh_slope)(x))
ELEMENTWISE(of_logsigmoid, -NAME(soft)(-x))
ELEMENTWISE(of_logsigmoid_rule, g * NAME(logistic)(-x))
ELEMENTWISE(of_softplus, x * a > b ? x : NAME(soft)(x * a) / a)
ELEMENTWISE(of_softplus_rule, x * a > b ? g : g * NAME(logistic)(x * a))
ELEMENTWISE(of_elu, x <= 0 ? NAME(expm1)(x * c) * (a * b) : x * b)
ELEMENTWISE(of_elu_rule, x <= 0 ? g * NAME(exp)(x * c) * (a * b * c) : g * b)
ELEMENTWISE(of_leaky_relu, x > 0 ? x : x * a)
ELEMENTWISE(of_leaky_relu_rule, x > 0 ? g : g * a)
#undef ELEMENTWISE

/* The largest element of a row, apart from NaN. */
INLINE REAL NAME(largest)(const REAL *x, Py_ssize_t length)
{
    REAL lanes[LANES], largest = -INFINITY;
    Py_ssize_t first = 0;
    for (int lane = 0; lane < LANES; lane++)
        lanes[lane] = -INFINITY;
    for (; first + LANES <= length; first += LANES)
        for (int lane = 0; lane < LANES; lane++)
            lanes[lane] = x[first + lane] > lanes[lane] ? x[first + lane] : lanes[lane];
    for (; first < length; first++)
        largest = x[first] > largest ? x[first] : largest;
    for (int lane = 0; lane < LANES; lane++)
        largest = lanes[lane] > largest ? lanes[lane] : largest;
    return largest;
}

#define ROWS(name)                                                                                                     \
    FOR_EACH_PROCESSOR static void NAME(name)(REAL *restrict out, const REAL *g, const REAL *x, const double *given,   \
                                              Extent extent)
#define EACH_ROW                                                                                                       \
    (Py_ssize_t row = 0, length = extent.length; row < extent.rows; row++, x += length, g += length, out += length)

ROWS(of_softmax)
{
    for EACH_ROW {
        const REAL largest = NAME(largest)(x, length);
        for (Py_ssize_t at = 0; at < length; at++)
            out[at] = NAME(exp)(x[at] - largest);
        SUM(total, length, out[at])
        for (Py_ssize_t at = 0; at < length; at++)
            out[at] /= (REAL)total;
    }
}

/* x is what softmax gave. */
ROWS(of_softmax_rule)
{
    for EACH_ROW {
        SUM(total, length, g[at] * x[at])
        for (Py_ssize_t at = 0; at < length; at++)
            out[at] = (g[at] - (REAL)total) * x[at];
    }
}

ROWS(of_log_softmax)
{
    for EACH_ROW {
        const REAL largest = NAME(largest)(x, length);
        SUM(total, length, NAME(exp)(x[at] - largest))
        const REAL less = (REAL)log(total);
        for (Py_ssize_t at = 0; at < length; at++)
            out[at] = x[at] - largest - less;
    }
}

/* x is what log_softmax gave. */
ROWS(of_log_softmax_rule)
{
    for EACH_ROW {
        SUM(total, length, g[at])
        for (Py_ssize_t at = 0; at < length; at++)
            out[at] = g[at] - NAME(exp)(x[at]) * (REAL)total;
    }
}

/* Along any dim, from its end if `back`: what lies behind it is worked on in lanes, each with a result so far in
 * double, as PyTorch keeps it. */
#define RUNNING(name, start, joined)                                                                                   \
    FOR_EACH_PROCESSOR static void NAME(name)(REAL *restrict out, const REAL *x, Extent extent, int back)              \
    {                                                                                                                  \
        const Py_ssize_t inner = extent.inner, step = back ? -inner : inner;                                           \
        for (Py_ssize_t row = 0; inner == 1 && row < extent.rows; row++) {                                             \
            Py_ssize_t at = row * extent.length + (back ? extent.length - 1 : 0);                                      \
            double result = start;                                                                                     \
            for (Py_ssize_t turn = 0; turn < extent.length; turn++, at += step)                                        \
                out[at] = (REAL)(result = result joined x[at]);                                                        \
        }                                                                                                              \
        for (Py_ssize_t row = 0; inner > 1 && row < extent.rows; row++)                                                \
            for (Py_ssize_t lane = 0; lane < inner; lane += LANES) {                                                   \
                const int lanes = inner - lane < LANES ? (int)(inner - lane) : LANES;                                  \
                Py_ssize_t at = (row * extent.length + (back ? extent.length - 1 : 0)) * inner + lane;                 \
                double so_far[LANES];                                                                                  \
                for (int each = 0; each < LANES; each++)                                                               \
                    so_far[each] = start;                                                                              \
                for (Py_ssize_t turn = 0; turn < extent.length; turn++, at += step)                                    \
                    for (int each = 0; each < lanes; each++)                                                           \
                        out[at + each] = (REAL)(so_far[each] = so_far[each] joined x[at + each]);                      \
            }                                                                                                          \
    }
RUNNING(running_sum, 0, +)
RUNNING(running_product, 1, *)
#undef RUNNING

#define ALONG(name)                                                                                                    \
    static void NAME(name)(REAL *restrict out, const REAL *g, const REAL *x, const double *given, Extent extent)
ALONG(of_cumsum) { NAME(running_sum)(out, x, extent, 0); }
ALONG(of_cumsum_rule) { NAME(running_sum)(out, x, extent, 1); }
ALONG(of_cumprod) { NAME(running_product)(out, x, extent, 0); }
#undef ROWS
#undef EACH_ROW
#undef ALONG
