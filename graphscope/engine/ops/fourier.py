"""Discrete Fourier transforms over dims: of complex numbers, of real ones, and back to real ones.

`scale` is the factor that the normalization asks for; what makes inputs longer or shorter is done before, by ops of
its own. Of a transform to complex numbers a rule is the transpose (see `rules`): the matrix of a transform is
symmetric. A transform to real numbers counts each element of half a spectrum twice that stands for two.

Source of the rules: Cooley, Lewis and Welch, "The Fast Fourier Transform Algorithm", 1970, on real sequences.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core import dtypes
from graphscope.engine.core.calls import define
from graphscope.engine.ops.complex_numbers import take_real
from graphscope.engine.ops.linalg import constant
from graphscope.engine.ops.pad import padded

Dims = tuple[int, ...]


def _scaled(found: Any, scale: float) -> Any:
    return found if scale == 1 else found * found.real.dtype.type(scale)


def _c2c(x: Any, *, dims: Dims, scale: float, inverse: bool) -> Any:
    transform = np.fft.ifftn if inverse else np.fft.fftn
    return _scaled(transform(x, axes=dims, norm="forward" if inverse else "backward"), scale)


def _to_half(x: Any, *, dims: Dims, scale: float) -> Any:
    return (x,), {"dims": dims, "scale": scale, "_size": x.shape[dims[-1]]}


def _r2c(x: Any, *, dims: Dims, scale: float, _size: int) -> Any:
    return _scaled(np.fft.rfftn(x, axes=dims), scale)


def _c2r(x: Any, *, dims: Dims, scale: float, size: int) -> Any:
    sizes = [x.shape[dim] for dim in dims[:-1]]
    return _scaled(np.fft.irfftn(x, (*sizes, size), axes=dims, norm="forward"), scale)


def _whole(g: Any, dims: Dims, scale: float, size: int) -> Any:
    """The transpose of the transform of real numbers: that of half a spectrum with nothing in the other half."""
    missing = size - g.shape[dims[-1]]
    wide = padded(g, [(0, missing if dim == dims[-1] else 0) for dim in range(len(g.shape))])
    return take_real(c2c(wide, dims=dims, scale=scale, inverse=False))


def _half(g: Any, dims: Dims, scale: float, size: int) -> Any:
    """The spectrum of a gradient; what stands for two elements counts twice."""
    found = r2c(g, dims=dims, scale=scale)
    times = np.ones(found.shape[dims[-1]], g.dtype.name)
    times[1 : (size + 1) // 2] = 2
    return found * constant(times.reshape(-1, *[1] * (len(found.shape) - dims[-1] - 1)), g)


def _shape_r2c(x: Any, *, dims: Dims, scale: float, _size: int) -> Any:
    return tuple(size if dim != dims[-1] or size is None else size // 2 + 1 for dim, size in enumerate(x))


def _shape_c2r(x: Any, *, dims: Dims, scale: float, size: int) -> Any:
    return tuple(size if dim == dims[-1] else length for dim, length in enumerate(x))


c2c: Any = define(
    "fft_c2c", "Fourier transform of complex numbers over dims, forward or inverse.",
    formula="out_k = scale · Σ_j x_j · e^(∓2πi · jk / n)", tensor_method=False, torch=None,
    grad_name="FftC2CBackward0",
    prepare=lambda x, **attrs: ((x,), attrs),
    forward=dtypes.only("c", _c2c),
    vjp=[lambda g, *, dims, scale, inverse: c2c(g, dims=dims, scale=scale, inverse=inverse)],
    shape=lambda x, **_: x,
    samples=[("complex", (2, 3), {"dims": (1,), "scale": 1.0, "inverse": False}),
             ("complex", (2, 4), {"dims": (0, 1), "scale": 0.125, "inverse": True})],
)  # fmt: skip

r2c: Any = define(
    "fft_r2c", "Fourier transform of real numbers over dims; of the last of them, half the spectrum.",
    formula="out_k = scale · Σ_j x_j · e^(-2πi · jk / n), k ≤ n / 2", tensor_method=False, torch=None,
    grad_name="FftR2CBackward0",
    prepare=_to_half,
    forward=dtypes.only("f", _r2c),
    vjp=[lambda g, *, dims, scale, _size: _whole(g, dims, scale, _size)],
    shape=_shape_r2c,
    samples=[((2, 5), {"dims": (1,), "scale": 0.2}), ((3, 4, 2), {"dims": (0, 1), "scale": 1.0})],
)  # fmt: skip

c2r: Any = define(
    "fft_c2r", "Inverse Fourier transform of half a spectrum over dims, to real numbers; `size` of them in the last.",
    formula="out_j = scale · Σ_k x_k · e^(2πi · jk / n), x_(n - k) = conj x_k", tensor_method=False, torch=None,
    grad_name="FftC2RBackward0",
    prepare=lambda x, **attrs: ((x,), attrs),
    forward=dtypes.only("c", _c2r),
    vjp=[lambda g, *, dims, scale, size: _half(g, dims, scale, size)],
    shape=_shape_c2r,
    samples=[("complex", (2, 3), {"dims": (1,), "scale": 0.2, "size": 5}),
             ("complex", (3, 3, 2), {"dims": (0, 1), "scale": 1.0, "size": 4})],
)  # fmt: skip
