"""Special functions, elementwise: the error function and its inverse, the logarithm of the gamma function, its slopes.

Sources:
    erf, erfc: M. Shepherd and J. Laframboise, "Chebyshev Approximation of (1 + 2x) exp(x²) erfc x in 0 ≤ x < ∞",
        Math. Comp. 36 (1981): the same function of the same variable, in powers, to 2e-15. Of single precision, erf is
        tanh(x · p(x²)), p by least squares of the relative error, to 2e-7.
    erfinv: M. Giles, "Approximating the erfinv function", GPU Computing Gems (2012); in double precision
        Newton's steps after it.
    lgamma: C. Lanczos, "A precision approximation of the gamma function", SIAM J. Numer. Anal. 1 (1964), g = 7, n = 9.
    digamma and its slopes: Abramowitz and Stegun, "Handbook of Mathematical Functions", 6.3.18 and 6.4.11,
        after recurrence.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from graphscope.engine.core import shapes
from graphscope.engine.core.buffers import polynomial
from graphscope.engine.core.calls import define, elementwise
from graphscope.engine.core.fused import in_blocks
from graphscope.engine.ops.exponential import exp

__all__ = ["digamma", "erf", "erfc", "erfinv", "lgamma"]

_TAIL: Final = (
    4.2514714447963895e-10, 3.1114333809799254e-10, -5.1739902140113095e-09, -3.744210080962018e-09,
    3.8675334242222354e-08, 2.3263508708859124e-08, -2.5866850716155884e-07, -5.7218230603224086e-08,
    1.751637648849062e-06, -9.73559896736775e-07, -1.1444146237700524e-05, 2.238423915508223e-05,
    5.164909889268241e-05, -0.0002901540805408417, 0.0002937136655913448, 0.0017556258528952954,
    -0.009746579558029276, 0.028362277418956406, -0.05869339858963677, 0.09230432116037748,
    -0.10880393014174886, 0.0822767384901452, 0.0035854154854644293, -0.14024059858554697, 1.2375126308378275,
)  # fmt: skip
"""(1 + 2x) exp(x²) erfc x in powers of (x - 3.75) / (x + 3.75)."""
_TAIL_SINGLE: Final = (
    0.000396307613, 0.00105959116, -0.00984449486, 0.0290255734, -0.0586468587, 0.0920211291, -0.10881427,
    0.0823265701, 0.00358627039, -0.140243066, 1.23751262,
)  # fmt: skip
"""The same in single precision."""
_NEAR_ZERO: Final = tuple(
    2 / math.sqrt(math.pi) * (-1) ** n / (math.factorial(n) * (2 * n + 1)) for n in range(17, -1, -1)
)
"""erf(x) / x in powers of x², up to 1."""
_SINGLE: Final = (
    1.4186544898856696e-07, -5.668687833513793e-06, 8.763848506785392e-05, -0.0006197872944882898,
    -0.0001918283341832534, 0.10276905499570319, 1.12837927435846,
)  # fmt: skip
"""artanh(erf x) / x in powers of x²."""
_CENTRE: Final = (
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503, -0.00417768164,
    0.246640727, 1.50140941,
)  # fmt: skip
_EDGES: Final = (
    -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047,
    1.00167406, 2.83297682,
)  # fmt: skip
"""erfinv(x) / x in powers of w - 2.5 and of √w - 3, where w = -ln(1 - x²)."""
_FAR: Final = (1.641345311, 3.429567803, -1.624906493, -1.970840454)
_FAR_BELOW: Final = (1.637067800, 3.543889200, 1.0)
"""erfinv(x) in powers of √(-ln((1 - x) / 2)): a quotient that Newton's steps begin from."""
_LANCZOS: Final = (
    676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
    -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
)  # fmt: skip
_BERNOULLI: Final = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
"""B2, B4, ..., B16."""
_SHIFT: Final = 9
"""How far the recurrence goes before the asymptotic series is exact enough."""


def _blockwise(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays, done block by block; of half precision in single precision."""

    def kernel(out: Any, x: Any, **attrs: Any) -> None:
        out[...] = function(x.astype(np.float32) if x.dtype.itemsize == 2 else x, **attrs)

    return lambda x, **attrs: in_blocks(kernel, x, **attrs)


def _in_double(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, **attrs: function(x.astype(np.float64), **attrs)


def _upper_scaled(x: Any) -> Any:
    """E to the x², times erfc, of numbers that are not negative."""
    out = polynomial((x - 3.75) / (x + 3.75), _TAIL if x.dtype == np.float64 else _TAIL_SINGLE)
    out /= 1 + 2 * x
    return out


def _upper(x: Any) -> Any:
    """Erfc of numbers that are not negative; from 30 on it is 0 in double precision."""
    x = np.minimum(x, 30)
    out = _upper_scaled(x)
    out *= np.exp(-x * x)
    return out


def error_function(x: Any) -> Any:
    """Erf of an array of single or double precision."""
    if x.dtype == np.float32:
        x = np.minimum(np.maximum(x, -4), 4)
        return np.tanh(x * polynomial(x * x, _SINGLE))
    near = x * polynomial(np.minimum(x * x, 1), _NEAR_ZERO)
    return np.where(np.abs(x) < 1, near, np.copysign(1 - _upper(np.abs(x)), x))


def _complement(x: Any) -> Any:
    out = _upper(np.abs(x))
    return np.subtract(2, out, out=out, where=x < 0)


def _inverse(x: Any) -> Any:
    w = -np.log((1 - x) * (1 + x))
    out = polynomial(w - 2.5, _CENTRE) * x
    if not (w < 5).all():
        if x.dtype == np.float64:
            z = np.sqrt(-np.log((1 - np.abs(x)) / 2))
            far = np.copysign(polynomial(z, _FAR), x) / polynomial(z, _FAR_BELOW)
        else:
            far = polynomial(np.sqrt(w) - 3, _EDGES) * x
        out = np.where(w < 5, out, far)
    if x.dtype == np.float64:
        for _ in range(3):
            size = np.abs(out)
            excess = np.where(size < 1, error_function(size) - np.abs(x), (1 - np.abs(x)) - _upper(size))
            out -= np.copysign(excess * np.exp(size * size) * (math.sqrt(math.pi) / 2), excess * x)
    return np.where(np.abs(x) == 1, np.copysign(np.inf, x), out)


erf = define(
    "erf", "Error function.", floating=True,
    **elementwise(_blockwise(error_function), lambda g, x: g * exp(x * -x) * (2 / math.sqrt(math.pi))),
)  # fmt: skip

erfc = define(
    "erfc", "Error function's complement to 1, exact where that is small.", formula="out = 1 - erf x", floating=True,
    **elementwise(_blockwise(_complement), lambda g, x: g * exp(x * -x) * (-2 / math.sqrt(math.pi))),
)  # fmt: skip


erfinv = define(
    "erfinv", "Inverse of the error function.", formula="erf out = x", floating=True,
    **elementwise(_blockwise(_inverse), lambda g, out: g * exp(out * out) * (math.sqrt(math.pi) / 2), "unit"),
)  # fmt: skip


def _log_gamma(x: Any) -> Any:
    low = x < 0.5
    z = np.where(low, -x, x - 1)  # of low ones, Γ(1 - x) by the reflection formula
    series = np.full_like(x, 0.99999999999980993)
    for place, coefficient in enumerate(_LANCZOS, 1):
        series += coefficient / (z + place)
    out = (z + 0.5) * np.log(z + 7.5) - (z + 7.5) + np.log(series) + math.log(2 * math.pi) / 2
    if low.any():
        reflected = np.log(math.pi / np.abs(np.sin(math.pi * (x - np.rint(x))))) - out
        out = np.where(low, reflected, out)
    return np.where(np.isinf(x) | ((x <= 0) & (x == np.floor(x))), np.inf, out)


def _digamma(x: Any) -> Any:
    low = x < 0.5
    y = np.where(low, 1 - x, x)
    z = y + _SHIFT
    out = np.log(z) - 0.5 / z
    power = z * z
    for place, bernoulli in enumerate(_BERNOULLI, 1):
        out -= bernoulli / (2 * place) / power
        power *= z * z
    for place in range(_SHIFT):
        out -= 1 / (y + place)
    if low.any():
        reflected = out - math.pi / np.tan(math.pi * (x - np.trunc(x)))
        out = np.where(low, np.where(x == np.floor(x), np.nan, reflected), out)
    return np.where(x == 0, np.copysign(np.inf, -x), out)


def _polygamma(x: Any, *, n: int) -> Any:
    """(-1)^(n+1) n! ζ(n+1, x), the sum of (x+k)^-(n+1) over all k, by the formula of Euler and Maclaurin."""
    order = n + 1
    shift = _SHIFT + max(0, math.ceil(-np.min(x, initial=0, where=np.isfinite(x))))
    out = np.zeros_like(x)
    for place in range(shift):
        out += (x + place) ** -order
    z = x + shift
    out += z ** (1 - order) / n + z**-order / 2
    factor = 1.0
    for place, bernoulli in enumerate(_BERNOULLI, 1):
        factor *= (order + 2 * place - 2) * (order + 2 * place - 3 if place > 1 else 1) / (2 * place * (2 * place - 1))
        out += bernoulli * factor * z ** -(order + 2 * place - 1)
    return out * ((-1) ** (n + 1) * math.factorial(n))


lgamma = define(
    "lgamma", "Logarithm of the absolute value of the gamma function.", formula="out = ln |Γ(x)|", floating=True,
    forward=_blockwise(_in_double(_log_gamma)),
    vjp=[lambda g, x: g * digamma(x)],
    shape=shapes.same,
    samples=[("positive", (2, 3)), ("positive", ()), ((2, 3),)],
)  # fmt: skip

digamma: Any = define(
    "digamma", "Slope of the logarithm of the gamma function.", formula="out = d ln Γ(x) / dx", floating=True,
    **elementwise(_blockwise(_in_double(_digamma)), lambda g, x: g * _polygamma_of(x, 1), "positive"),
)  # fmt: skip

_polygamma_of: Any = define(
    "polygamma", "The n-th derivative of digamma.", formula="out = dⁿ digamma(x) / dxⁿ", tensor_method=False,
    torch=None,
    prepare=lambda input, n: ((input,), {"n": n}),
    forward=_blockwise(_in_double(_polygamma)),
    vjp=[lambda g, x, *, n: g * _polygamma_of(x, n + 1)],
    shape=shapes.same,
    samples=[("positive", (2, 3), {"n": 1}), ("positive", (), {"n": 2})],
)  # fmt: skip
