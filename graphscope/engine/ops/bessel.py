"""Modified Bessel functions of the first kind, of orders 0 and 1, as they are and scaled by e^-|x|.

Up to 8 the scaled function (that of order 1 over x) is a series of Chebyshev polynomials in x / 4 - 1, beyond it one in
16 / x - 1, times the root of x; see C. Clenshaw, "Chebyshev Series for Mathematical Functions", 1962. The coefficients
are those of the interpolation at Chebyshev's points; the relative error is below 1e-13.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.polynomial.chebyshev import chebval

from graphscope.engine.core import shapes
from graphscope.engine.core.calls import define
from graphscope.engine.ops.index import where
from graphscope.engine.ops.signs import abs as absolute
from graphscope.engine.ops.signs import sign

__all__ = ["i0"]

_NEAR_ZERO: Final = (
    0.338397637204738, -0.30468267234319835, 0.17162090152220863, -0.09490109704804754, 0.0493052842396706,
    -0.0237374148058994, 0.010546460394594896, -0.004324309995050481, 0.001639475616941194, -0.0005763755745384218,
    0.00018850288509557797, -5.7541950100581384e-05, 1.644844807035158e-05, -4.416738358134498e-06,
    1.1173875386197295e-06, -2.670793850159843e-07, 6.046994972368676e-08, -1.3000249709608595e-08,
    2.659823215844792e-09, -5.189790819315476e-10, 9.675730957188952e-11, -1.7267506868812177e-11,
    2.953816820768414e-12, -4.844754227425104e-13, 7.493357786122109e-14, -1.0026239098219018e-14,
    -8.844776762847081e-16, 1.8573106016125016e-15, -2.976322891849274e-15, 2.3903333016643085e-15
)  # fmt: skip
_FAR_ZERO: Final = (
    0.4022452055070544, 0.003369116478255682, 6.889758346910166e-05, 2.8913705208338563e-06, 2.0489185877405602e-07,
    2.2666689916321828e-08, 3.396231725801304e-09, 4.940602238917327e-10, 1.1888673620442996e-11,
    -3.149918007587214e-11, -1.3216423124988623e-11, -1.7941783324737986e-12, 7.174599079091778e-13,
    3.8526669777144456e-13, 1.496387554929559e-14, -4.150001598407263e-14, -1.0083117915495104e-14,
    3.80130709518396e-15, 1.0764336282235213e-15, -3.572021905315721e-16, -1.1560800625988043e-15,
    1.9308226515220113e-17, -9.56963976660597e-16
)  # fmt: skip
_NEAR_ONE: Final = (
    0.12629359322181682, -0.17641651835783403, 0.10264365868984707, -0.05294598120809494, 0.024726449030626464,
    -0.01056408489462615, 0.004156422944312832, -0.0015135724506311992, 0.0005122859561685124,
    -0.00016176081582580266, 4.781565107537661e-05, -1.3273163655894034e-05, 3.470251307949891e-06,
    -8.568720262585571e-07, 2.0032947512108394e-07, -4.445059106198002e-08, 9.381537160983952e-09,
    -1.8872495479577146e-09, 3.6255877889033543e-10, -6.66346223569351e-11, 1.1735831172606422e-11,
    -1.9835507079439077e-12, 3.2182000120339894e-13, -4.9774536344434256e-14, 6.773285636067309e-15,
    -1.7555401576885288e-16, -1.0060239678348162e-15, 1.1863773852205383e-15, -1.396250013755799e-15,
    1.3533589758122725e-15
)  # fmt: skip
_FAR_ONE: Final = (
    0.38928811750914, -0.009761097491361453, -0.0001105889387626723, -3.882564808862462e-06, -2.512236239714189e-07,
    -2.6314688437940218e-08, -3.835380674890503e-09, -5.589743257633264e-10, -1.8975431129767937e-11,
    3.252606396780097e-11, 1.4125217903550373e-11, 2.0356518403297703e-12, -7.20375450112976e-13,
    -4.0833278787218935e-13, -2.1432131431894326e-14, 4.273212218857512e-14, 9.876157862535088e-15,
    -3.803720623498362e-15, -2.558340013266665e-15, 3.42721020645157e-16, -5.382168141117606e-16,
    -2.6548811458427657e-17, -1.0571254017083013e-15
)  # fmt: skip


def _scaled(near: tuple[float, ...], far: tuple[float, ...], odd: bool) -> Callable[[Any], Any]:
    """e^-|x| times the function of these coefficients."""

    def of(x: Any) -> Any:
        size = np.abs(np.asarray(x, np.float64))
        small = chebval(np.minimum(size, 8) / 4 - 1, near)
        large = np.maximum(size, 8)
        out = np.where(size <= 8, small * size if odd else small, chebval(16 / large - 1, far) / np.sqrt(large))
        return np.where(np.isnan(size), np.nan, np.copysign(out, x) if odd else out)

    return of


_I0E, _I1E = _scaled(_NEAR_ZERO, _FAR_ZERO, False), _scaled(_NEAR_ONE, _FAR_ONE, True)


def _scaled_forward(scaled: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: scaled(x).astype(x.dtype)[()]


def _forward(scaled: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: (scaled(x) * np.exp(np.abs(np.asarray(x, np.float64)))).astype(x.dtype)[()]


def _off_zero(x: Any, slope: Callable[[Any], Any]) -> Any:
    """A slope that divides by x; where that is 0, what it comes to."""
    far = absolute(x) > np.finfo(x.dtype).eps
    return where(far, slope(where(far, x, 1.0)), 0.5)


i0: Any = define(
    "i0", "Modified Bessel function of the first kind, of order 0.", formula="out = Σ_k (x/2)^2k / (k!)²",
    floating=True,
    forward=_forward(_I0E),
    vjp=[lambda g, x: g * i1(x)],
    shape=shapes.same,
    samples=[((2, 3),), ((),), (np.array([9.0, -20.0, 3.0]),)],
)  # fmt: skip

i1: Any = define(
    "i1", "Modified Bessel function of the first kind, of order 1.", formula="out = d i0(x) / dx",
    floating=True, tensor_method=False, torch="special.i1", grad_name="SpecialI1Backward0",
    forward=_forward(_I1E),
    vjp=[lambda g, x, out: g * _off_zero(x, lambda x: i0(x) - out / x)],
    shape=shapes.same,
    samples=[((2, 3),), ((),), (np.array([9.0, -20.0, 3.0]),)],
)  # fmt: skip

i0e: Any = define(
    "i0e", "Modified Bessel function of order 0, scaled so that it stays small.", formula="out = e^-|x| · i0(x)",
    floating=True, tensor_method=False, torch="special.i0e", grad_name="SpecialI0EBackward0",
    forward=_scaled_forward(_I0E),
    vjp=[lambda g, x, out: g * (i1e(x) - sign(x) * out)],
    shape=shapes.same,
    samples=[((2, 3),), ((),), (np.array([9.0, -200.0, 3.0]),)],
)  # fmt: skip

i1e: Any = define(
    "i1e", "Modified Bessel function of order 1, scaled so that it stays small.", formula="out = e^-|x| · i1(x)",
    floating=True, tensor_method=False, torch="special.i1e", grad_name="SpecialI1EBackward0",
    forward=_scaled_forward(_I1E),
    vjp=[lambda g, x, out: g * _off_zero(x, lambda x: i0e(x) - sign(x) * out - out / x)],
    shape=shapes.same,
    samples=[((2, 3),), ((),), (np.array([9.0, -200.0, 3.0]),)],
)  # fmt: skip
