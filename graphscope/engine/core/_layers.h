/* The loops of `_layers.c` for one type of elements: see `_types.h`. */

/* The means and the variances of rows, of nearly equal numbers too: all in double, as single precision tells hardly where
 * a mean is. */
FOR_EACH_PROCESSOR static void NAME(moments_of_rows)(double *restrict means, double *restrict variances, const REAL *x,
                                                     Extent extent)
{
    const Py_ssize_t length = extent.length;
    for (Py_ssize_t row = 0; row < extent.rows; row++, x += length) {
        const double origin = x[0]; /* equal numbers are to have no variance at all */
        SUM_IN(double, total, length, x[at] - origin)
        const double mean = origin + total / (double)length;
        SUM_IN(double, squares, length, (x[at] - mean) * (x[at] - mean))
        means[row] = mean;
        variances[row] = squares / (double)length;
    }
}

/* The means of columns of a matrix, in double. */
INLINE void NAME(means_of_columns)(double *restrict means, const REAL *x, Py_ssize_t length, Py_ssize_t inner)
{
    for (Py_ssize_t behind = 0; behind < inner; behind++)
        means[behind] = 0;
    for (Py_ssize_t at = 0; at < length; at++)
        for (Py_ssize_t behind = 0; behind < inner; behind++)
            means[behind] += x[at * inner + behind] - (double)x[behind];
    for (Py_ssize_t behind = 0; behind < inner; behind++)
        means[behind] = x[behind] + means[behind] / (double)length;
}

/* The same as of rows, along a dim with others behind it. */
FOR_EACH_PROCESSOR static void NAME(moments_along)(double *restrict means, double *restrict variances, const REAL *x,
                                                   Extent extent)
{
    const Py_ssize_t length = extent.length, inner = extent.inner;
    for (Py_ssize_t row = 0; row < extent.rows; row++, x += length * inner, means += inner, variances += inner) {
        NAME(means_of_columns)(means, x, length, inner);
        for (Py_ssize_t behind = 0; behind < inner; behind++)
            variances[behind] = 0;
        for (Py_ssize_t at = 0; at < length; at++)
            for (Py_ssize_t behind = 0; behind < inner; behind++) {
                const double distance = x[at * inner + behind] - means[behind];
                variances[behind] += distance * distance;
            }
        for (Py_ssize_t behind = 0; behind < inner; behind++)
            variances[behind] /= (double)length;
    }
}

/* The elements less their mean along a dim, times a factor for each mean. */
FOR_EACH_PROCESSOR static void NAME(distances)(REAL *restrict out, double *restrict means, const REAL *x,
                                               const REAL *factors, Extent extent)
{
    const Py_ssize_t length = extent.length, inner = extent.inner;
    for (Py_ssize_t row = 0; row < extent.rows; row++, x += length * inner, out += length * inner, factors += inner) {
        if (inner == 1) {
            const double origin = x[0];
            SUM_IN(double, total, length, x[at] - origin)
            const double mean = origin + total / (double)length;
            for (Py_ssize_t at = 0; at < length; at++)
                out[at] = (REAL)(x[at] - mean) * factors[0];
            continue;
        }
        NAME(means_of_columns)(means, x, length, inner);
        for (Py_ssize_t at = 0; at < length; at++)
            for (Py_ssize_t behind = 0; behind < inner; behind++)
                out[at * inner + behind] = (REAL)(x[at * inner + behind] - means[behind]) * factors[behind];
    }
}

/* Rows less their mean, over their standard deviation, times the weight y, plus the bias z, where these are given. */
FOR_EACH_PROCESSOR static void NAME(normalize)(REAL *restrict out, REAL *restrict centres, REAL *restrict scales,
                                               const REAL *x, const REAL *y, const REAL *z, double eps, Extent extent)
{
    const Py_ssize_t length = extent.length;
    for (Py_ssize_t row = 0; row < extent.rows; row++, x += length, out += length) {
        SUM_IN(double, total, length, x[at])
        const REAL centre = (REAL)(total / (double)length);
        const double rest = total / (double)length - centre; /* of a mean that rounding moved off its place */
        SUM(squares, length, (x[at] - centre) * (x[at] - centre))
        const REAL scale = (REAL)(1 / sqrt(squares / (double)length - rest * rest + eps));
        centres[row] = centre;
        scales[row] = scale;
        for (Py_ssize_t at = 0; at < length; at++)
            out[at] = (x[at] - centre) * scale;
        if (y != NULL)
            for (Py_ssize_t at = 0; at < length; at++)
                out[at] *= y[at];
        if (z != NULL)
            for (Py_ssize_t at = 0; at < length; at++)
                out[at] += z[at];
    }
}

/* The gradients: of the rows, and, added up in double, of y and z, where these are given. */
FOR_EACH_PROCESSOR static void NAME(normalize_rule)(REAL *restrict gx, double *restrict gy, double *restrict gz,
                                                    const REAL *g, const REAL *x, const REAL *y, const REAL *centres,
                                                    const REAL *scales, Extent extent)
{
    const Py_ssize_t length = extent.length;
    for (Py_ssize_t row = 0; row < extent.rows; row++, x += length, g += length, gx += length) {
        const REAL centre = centres[row], scale = scales[row];
        for (Py_ssize_t at = 0; at < length; at++)
            gx[at] = y == NULL ? g[at] : g[at] * y[at];
        SUM(total, length, gx[at])
        SUM(product, length, gx[at] * ((x[at] - centre) * scale))
        const REAL mean = (REAL)(total / (double)length), slope = (REAL)(product / (double)length);
        for (Py_ssize_t at = 0; at < length; at++)
            gx[at] = scale * (gx[at] - (x[at] - centre) * scale * slope - mean);
        if (gy != NULL)
            for (Py_ssize_t at = 0; at < length; at++)
                gy[at] += g[at] * ((x[at] - centre) * scale);
        if (gz != NULL)
            for (Py_ssize_t at = 0; at < length; at++)
                gz[at] += g[at];
    }
}

/* One step of an LSTM for all samples: of the sums before the gates (in blocks i, f, o and n; those of i, f and o
 * halved) the gates, tanh of the cell, the cell and the hidden state. */
FOR_EACH_PROCESSOR static void NAME(lstm_step)(const REAL *sums, const REAL *projected, REAL *restrict gates,
                                               REAL *restrict cell, REAL *restrict hidden, const REAL *before,
                                               Py_ssize_t batch, Py_ssize_t size)
{
    const Py_ssize_t block = batch * size;
    for (Py_ssize_t sample = 0; sample < batch; sample++) {
        for (Py_ssize_t at = 0; at < size; at++) {
            const REAL i = NAME(logistic)(2 * (sums[at] + projected[at]));
            const REAL f = NAME(logistic)(2 * (sums[size + at] + projected[size + at]));
            const REAL o = NAME(logistic)(2 * (sums[2 * size + at] + projected[2 * size + at]));
            const REAL n = NAME(tanh)(sums[3 * size + at] + projected[3 * size + at]);
            const REAL c = f * before[at] + i * n, squashed = NAME(tanh)(c);
            gates[at] = i;
            gates[block + at] = f;
            gates[2 * block + at] = o;
            gates[3 * block + at] = n;
            gates[4 * block + at] = squashed;
            cell[at] = c;
            hidden[at] = o * squashed;
        }
        sums += 4 * size, projected += 4 * size;
        gates += size, cell += size, hidden += size, before += size;
    }
}

/* The way back of a step: from the cotangents of its hidden state, in two shares, and of its cell state those of the
 * sums and, in place of the latter, of the cell state before. */
FOR_EACH_PROCESSOR static void NAME(lstm_step_back)(REAL *restrict g_sums, REAL *restrict g_cell, const REAL *share,
                                                    const REAL *other, const REAL *gates, const REAL *before,
                                                    Py_ssize_t batch, Py_ssize_t size)
{
    const Py_ssize_t block = batch * size;
    for (Py_ssize_t sample = 0; sample < batch; sample++) {
        for (Py_ssize_t at = 0; at < size; at++) {
            const REAL i = gates[at], f = gates[block + at], o = gates[2 * block + at], n = gates[3 * block + at];
            const REAL squashed = gates[4 * block + at], g_hidden = share[at] + other[at];
            const REAL g_c = g_cell[at] + g_hidden * o * (1 - squashed * squashed);
            g_sums[at] = g_c * n * (i - i * i);
            g_sums[size + at] = g_c * before[at] * (f - f * f);
            g_sums[2 * size + at] = g_hidden * squashed * (o - o * o);
            g_sums[3 * size + at] = g_c * i * (1 - n * n);
            g_cell[at] = g_c * f;
        }
        g_sums += 4 * size;
        g_cell += size, share += size, other += size, gates += size, before += size;
    }
}
