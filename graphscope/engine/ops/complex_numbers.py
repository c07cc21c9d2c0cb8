"""Complex numbers: made of two real ones, taken apart again, conjugated.

The rules say transposes: of an op whose result is complex, `g` is the conjugate of the gradient, and what the rule
gives is conjugated in turn (see `rules`). Of a real result `g` is the gradient as it is.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from graphscope.engine.core import dtypes, shapes
from graphscope.engine.core.calls import define, elementwise
from graphscope.engine.core.placement import to_dtype
from graphscope.engine.core.tensor import Tensor, method
from graphscope.engine.ops.signs import abs, sgn

__all__ = ["adjoint", "angle", "complex", "conj", "imag", "polar", "real", "view_as_complex", "view_as_real"]

COMPLEX_OF: Final = {"float32": np.dtype("complex64"), "float64": np.dtype("complex128")}
"""Which complex numbers have real parts of a dtype."""


def _raised(x: Any) -> Any:
    """Real numbers as complex ones."""
    return to_dtype(x, COMPLEX_OF[x.dtype.name])


take_real: Any = define(
    "real", "The real parts of complex numbers.", formula="out = re x", view=True, tensor_method=False,
    **elementwise(lambda x: x.real, _raised, "complex"),
)  # fmt: skip


def _imag(x: Any) -> Any:
    if x.dtype.kind != "c":
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes: all of it would be 0")
    return x.imag


imag: Any = define(
    "imag", "The imaginary parts of complex numbers, in the same memory.", formula="out = im x", view=True,
    tensor_method=False,
    forward=_imag,
    vjp=[lambda g: _raised(g) * 1j],
    shape=shapes.same,
    samples=[("complex", (2, 3)), ("complex", ())],
)  # fmt: skip


def _pair(real: Any, imag: Any) -> Any:
    one, other = (np.dtype(getattr(value, "dtype", object)) for value in (real, imag))
    if one != other or one.name not in COMPLEX_OF:
        raise RuntimeError(f"of two parts both must be tensors of one dtype, float32 or float64, not {one} and {other}")
    return (real, imag), {}


def _complex(x: Any, y: Any) -> Any:
    x, y = np.broadcast_arrays(x, y)
    out: Any = np.empty(x.shape, COMPLEX_OF[x.dtype.name])
    out.real, out.imag = x, y
    return out[()]


complex: Any = define(
    "complex", "Complex numbers of their real and imaginary parts.", formula="out = x + i · y", tensor_method=False,
    prepare=_pair,
    forward=_complex,
    vjp=[lambda g: take_real(g),  # noqa: PLW0108 - its text is shown
         lambda g: -imag(g)],
    shape=shapes.broadcast,
    samples=[((2, 3), (2, 3)), ((3,), (2, 1)), ((), ())],
)  # fmt: skip

polar: Any = define(
    "polar", "Complex numbers of their absolute values and angles, in radians.", formula="out = x · e^(iy)",
    tensor_method=False,
    prepare=lambda abs, angle: _pair(real=abs, imag=angle),
    forward=lambda x, y: _complex(x * np.cos(y), x * np.sin(y)),
    vjp=[lambda g, out: take_real(g * sgn(out)),
         lambda g, out: take_real(g * (out * 1j))],
    shape=shapes.broadcast,
    samples=[("positive", (2, 3), (2, 3)), ("positive", (3,), (2, 1)), ("positive", (), ())],
)  # fmt: skip

view_as_real: Any = define(
    "view_as_real", "Complex numbers as pairs of real ones: a last dim of 2 more.",
    formula="out = (re x, im x)", view=True, tensor_method=False,
    forward=dtypes.only("c", lambda x: np.asarray(x)[..., None].view(x.real.dtype)),
    vjp=[lambda g: complex(g[..., 0], g[..., 1])],
    shape=lambda x: (*x, 2),
    samples=[("complex", (2, 3)), ("complex", ())],
)  # fmt: skip


def _paired(x: Any) -> Any:
    if x.dtype.name not in COMPLEX_OF or not x.ndim or x.shape[-1] != 2:
        raise RuntimeError(f"view_as_complex takes float32 or float64 with a last dim of 2, not {x.dtype} of {x.shape}")
    if x.strides[-1] != x.itemsize:
        raise RuntimeError("view_as_complex: the two parts must lie beside each other in memory; call contiguous()")
    return x.view(COMPLEX_OF[x.dtype.name])[..., 0]


view_as_complex: Any = define(
    "view_as_complex", "Pairs of real numbers, in a last dim of 2, as complex ones.",
    formula="out = x[..., 0] + i · x[..., 1]", view=True, tensor_method=False,
    prepare=lambda input: ((input,), {}),
    forward=lambda x: _paired(np.asarray(x)),
    vjp=[lambda g: view_as_real(g.conj())],
    shape=lambda x: x[:-1],
    samples=[((3, 2),), ((2,),)],
)  # fmt: skip

conjugate: Any = define(
    "conj", "Conjugates of complex numbers.", formula="out = re x - i · im x", tensor_method=False,
    **elementwise(lambda x: x.conj(), lambda g: g.conj(), "complex"),
)  # fmt: skip


def _angle(x: Any) -> Any:
    if x.dtype.kind == "c":
        return np.angle(x)
    found = np.where(np.isnan(x), np.nan, np.where(x < 0, np.pi, 0))
    return found.astype(dtypes.get_default_dtype() if x.dtype.kind in "biu" else x.dtype)[()]


def _turned(g: Any, x: Any) -> Any:
    """The gradient of the angle: none of real numbers; of complex ones across their direction, and 0 at 0."""
    if x.dtype.kind != "c":
        return g * 0
    return g * (1j * sgn(x)) * (1 / abs(x + (abs(x) == 0)))


angle: Any = define(
    "angle", "Angles of complex numbers, in radians; of real numbers 0 or π.", formula="out = atan2(im x, re x)",
    forward=_angle,
    vjp=[_turned],
    shape=shapes.same,
    samples=[("complex", (2, 3)), ((2, 3),), ("complex", ())],
)  # fmt: skip


def real(input: Any) -> Any:
    """The real parts, in the same memory; of real numbers the tensor itself."""
    return take_real(input) if input.dtype.kind == "c" else input


@method
def conj(input: Any) -> Any:
    """The conjugates of complex numbers; of real numbers the tensor itself."""
    return conjugate(input) if input.dtype.kind == "c" else input


@method
def adjoint(input: Any) -> Any:
    """The last two dims swapped, and complex numbers conjugated.

    Raises:
        RuntimeError: There is but one dim.
    """
    if len(input.shape) == 1:
        raise RuntimeError("adjoint: only matrices and batches of matrices have one, not a tensor of 1 dim")
    return conj(input.transpose(-2, -1) if input.shape else input)


@method
def resolve_conj(input: Any) -> Any:
    """The tensor itself: conjugates are no views here."""
    return input


setattr(Tensor, "real", property(real))  # noqa: B010
setattr(Tensor, "imag", property(imag))  # noqa: B010
setattr(Tensor, "mH", property(adjoint))  # noqa: B010
setattr(Tensor, "H", property(adjoint))  # noqa: B010
