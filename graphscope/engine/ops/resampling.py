"""Resampling along the last dims: interpolation and adaptive pooling. Each is a matrix for each dim, and one op.

Rows of a matrix say from which elements, and in which shares, one element of the result is made. Source of the weights:
`aten/src/ATen/native/UpSample.h`; bicubic is Keys' kernel with a = -0.75.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from graphscope.engine.core import dtypes
from graphscope.engine.core.calls import define
from graphscope.engine.ops.index import getitem
from graphscope.engine.ops.shape import reshape

__all__ = ["adaptive_avg_pool1d", "adaptive_max_pool1d"]

Matrix = np.ndarray
_CUBIC: Final = -0.75


Dims = tuple[tuple[int, int, float | None], ...]
"""Of each dim: how many elements are made, of how many, and the factor between them where a person gave one."""


def _resampled(x: Any, *, mode: str, dims: Dims, align_corners: bool, transposed: bool) -> Any:
    if x.dtype == dtypes.uint8:
        return _in_bytes(x, mode, dims, align_corners)
    for back, (count, size, scale) in enumerate(reversed(dims), 1):
        weights = _matrix(mode, count, size, scale, align_corners).astype(x.dtype, copy=False)
        if transposed:
            weights = weights.T
        if back == 1:
            x = (x.reshape(math.prod(x.shape[:-1]), x.shape[-1]) @ weights.T).reshape(*x.shape[:-1], len(weights))
        else:
            x = np.matmul(weights, x.reshape(*x.shape[: 1 - back], math.prod(x.shape[1 - back :]))).reshape(
                *x.shape[:-back], len(weights), *x.shape[x.ndim - back + 1 :]
            )
    return x


def _in_bytes(x: Any, mode: str, dims: Dims, align_corners: bool) -> Any:
    """Of bytes one dim after the other, the last first: by shares in fixed point, and rounded to bytes in between.

    Source: `_compute_index_ranges_int16_weights` of `aten/src/ATen/native/cpu/UpSampleKernel.cpp`.
    """
    for back, (count, size, scale) in enumerate(reversed(dims), 1):
        if count == size:
            continue
        weights = _matrix(mode, count, size, scale, align_corners)
        digits = next(n for n in range(23) if n == 22 or int(0.5 + weights.max() * 2 ** (n + 1)) >= 1 << 15)
        shares = np.trunc(weights * 2**digits + np.copysign(0.5, weights)).astype(np.int32)
        sums = np.moveaxis(x, -back, -1).astype(np.int32) @ shares.T + (1 << digits - 1)
        x = np.moveaxis(np.clip(sums >> digits, 0, 255), -1, -back).astype(np.uint8)
    return x


def _resampled_shape(x: Any, *, dims: Dims, transposed: bool = False, **_: Any) -> Any:
    return (*x[: len(x) - len(dims)], *(size if transposed else count for count, size, _ in dims))


_NODES: Final = {
    ("nearest", 1): "UpsampleNearest1D", ("nearest", 2): "UpsampleNearest2D", ("nearest", 3): "UpsampleNearest3D",
    ("nearest-exact", 1): "UpsampleNearestExact1D", ("nearest-exact", 2): "UpsampleNearestExact2D",
    ("nearest-exact", 3): "UpsampleNearestExact3D", ("linear", 1): "UpsampleLinear1D",
    ("bilinear", 2): "UpsampleBilinear2D", ("trilinear", 3): "UpsampleTrilinear3D", ("bicubic", 2): "UpsampleBicubic2D",
    ("area", 1): "Squeeze", ("area", 2): "AdaptiveAvgPool2D", ("area", 3): "AdaptiveAvgPool3D",
}  # fmt: skip


def _node_name(attrs: Any) -> str:
    return _NODES.get((attrs["mode"], len(attrs["dims"])), "Resample") + "Backward0"


_OF_BYTES: Final = ("nearest", "nearest-exact", "bilinear", "bicubic")
"""Modes that take images of bytes as they are."""


def _to_resample(x: Any, mode: str, dims: Any, align_corners: bool = False, transposed: bool = False) -> Any:
    if x.dtype.kind not in "fV" and (x.dtype != dtypes.uint8 or mode not in _OF_BYTES):
        raise NotImplementedError(f"mode {mode!r} is not implemented for {x.dtype}: convert it first, with x.float()")
    return (x,), {"mode": mode, "dims": tuple(dims), "align_corners": align_corners, "transposed": transposed}


resample: Any = define(
    "resample", "Each of the last dims made anew: its elements are sums of the old ones, in the shares of a matrix.",
    formula="out[i, j] = Σ A[i, k] · B[j, l] · x[k, l]", tensor_method=False, torch=None, grad_name=_node_name,
    prepare=_to_resample,
    forward=_resampled, accumulates=True,
    vjp=[lambda g, *, mode, dims, align_corners, transposed: resample(g, mode, dims, align_corners, not transposed)],
    shape=_resampled_shape,
    samples=[((2, 3, 4), {"mode": "bilinear", "dims": ((5, 3, None), (2, 4, 0.5))}),
             ((2, 3, 4), {"mode": "area", "dims": ((2, 4, None),)})],
)  # fmt: skip


def _sources(count: int, size: int, scale: float | None, align_corners: bool) -> np.ndarray:
    """Where, among the old elements, the centre of each new one lies."""
    places = np.arange(count, dtype=np.float64)
    if align_corners:
        return places * ((size - 1) / (count - 1) if count > 1 else 0.0)
    ratio = 1.0 / scale if scale else size / count
    return (places + 0.5) * ratio - 0.5


def _picked(indices: np.ndarray, size: int, shares: np.ndarray | None = None, into: Matrix | None = None) -> Matrix:
    matrix = np.zeros((len(indices), size)) if into is None else into
    rows = np.arange(len(indices))
    np.add.at(matrix, (rows, np.clip(indices, 0, size - 1)), 1.0 if shares is None else shares)
    return matrix


def _nearest(count: int, size: int, scale: float | None, align_corners: bool, offset: float = 0.0) -> Matrix:
    ratio = np.float32(1.0 / scale if scale else size / count)
    return _picked(np.floor((np.arange(count, dtype=np.float32) + np.float32(offset)) * ratio).astype(np.int64), size)


def _linear(count: int, size: int, scale: float | None, align_corners: bool) -> Matrix:
    source = np.maximum(_sources(count, size, scale, align_corners), 0.0)
    low = np.minimum(np.floor(source).astype(np.int64), size - 1)
    share = source - low
    matrix = _picked(low, size, 1.0 - share)
    return _picked(low + 1, size, share, matrix)


def _cubic(count: int, size: int, scale: float | None, align_corners: bool) -> Matrix:
    source = _sources(count, size, scale, align_corners)
    low = np.floor(source).astype(np.int64)
    t = source - low
    matrix = np.zeros((count, size))
    for step in (-1, 0, 1, 2):
        d = np.abs(t - step)
        near = ((_CUBIC + 2) * d - (_CUBIC + 3)) * d * d + 1
        far = ((_CUBIC * d - 5 * _CUBIC) * d + 8 * _CUBIC) * d - 4 * _CUBIC
        _picked(low + step, size, np.where(d <= 1, near, far), matrix)
    return matrix


def _area(count: int, size: int, scale: float | None = None, align_corners: bool = False) -> Matrix:
    matrix = np.zeros((count, size))
    for row, (start, end) in enumerate(bins(count, size)):
        matrix[row, start:end] = 1.0 / (end - start)
    return matrix


def bins(count: int, size: int) -> list[tuple[int, int]]:
    """The ranges that adaptive pooling divides `size` elements into; they may overlap."""
    return [(i * size // count, -((-(i + 1) * size) // count)) for i in range(count)]


Mode = tuple[Callable[..., Matrix], tuple[int, ...], bool]
MODES: Final[dict[str, Mode]] = {
    "nearest": (_nearest, (1, 2, 3), False),
    "nearest-exact": (functools.partial(_nearest, offset=0.5), (1, 2, 3), False),
    "linear": (_linear, (1,), True),
    "bilinear": (_linear, (2,), True),
    "trilinear": (_linear, (3,), True),
    "bicubic": (_cubic, (2,), True),
    "area": (_area, (1, 2, 3), False),
}
"""Ways to interpolate: the matrix for a dim, over how many dims, and whether it knows `align_corners`."""


@functools.lru_cache(256)
def _matrix(mode: str, count: int, size: int, scale: float | None, align_corners: bool) -> Matrix:
    return MODES[mode][0](count, size, scale, align_corners)


def interpolate(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:
    """The input, larger or smaller along its last dims.

    Args:
        input: Samples, channels, and 1, 2 or 3 dims to resample.
        size: The new sizes; or
        scale_factor: how many times larger each dim becomes.
        mode: nearest, nearest-exact, linear (1 dim), bilinear (2), trilinear (3), bicubic (2) or area.
        align_corners: Whether the centres of the outermost elements stay where they are, or their edges.
        recompute_scale_factor: Whether shares follow from the sizes instead of `scale_factor`.
        antialias: Not supported.

    Raises:
        ValueError: Not just one of `size` and `scale_factor` is given, or they do not fit the dims.
        NotImplementedError: There is no such mode for so many dims.
    """
    rank = len(input.shape) - 2
    fitting = [name for name, (_, ranks, _) in MODES.items() if rank in ranks]
    if mode not in fitting:
        known = f"for {rank} dims beside samples and channels there are {', '.join(fitting)}"
        raise NotImplementedError(
            f"interpolate: mode {mode!r} does not take an input of shape {tuple(input.shape)}: "
            f"{known if fitting else 'it must have 3 to 5 dims'}"
        )
    if align_corners is not None and not MODES[mode][2]:
        raise ValueError(
            f"interpolate: align_corners can only be set with linear, bilinear, bicubic, trilinear; not {mode}"
        )
    if antialias:
        raise NotImplementedError("interpolate: antialias=True is not supported here")
    if (size is None) == (scale_factor is None):
        raise ValueError("interpolate: give one of size and scale_factor")
    sizes = tuple(int(each) for each in input.shape[2:])
    scales: tuple[float | None, ...] = (None,) * rank
    if size is not None:
        made = _as_many("size", size, rank)
    else:
        factors = _as_many("scale_factor", scale_factor, rank)
        made = tuple(math.floor(n * factor) for n, factor in zip(sizes, factors, strict=True))
        if not recompute_scale_factor:
            scales = tuple(float(factor) for factor in factors)
    if any(count < 1 for count in made):
        raise RuntimeError(f"interpolate: input and output sizes must be greater than 0, not {sizes} and {made}")
    corners = bool(align_corners)
    return resample(input, mode, zip(map(int, made), sizes, scales, strict=True), corners)


def _as_many(what: str, value: Any, rank: int) -> tuple[Any, ...]:
    values = tuple(value) if isinstance(value, list | tuple) else (value,) * rank
    if len(values) != rank:
        raise ValueError(f"interpolate: {what}={value} must have {rank} numbers, one for each dim to resample")
    return values


def _wanted(name: str, input: Any, output_size: Any, rank: int) -> tuple[int, ...]:
    if len(input.shape) not in (rank + 1, rank + 2):
        raise RuntimeError(f"{name}: the input must have {rank + 1} or {rank + 2} dims, not shape {tuple(input.shape)}")
    given = (output_size,) * rank if isinstance(output_size, int) else tuple(output_size)
    if len(given) == 1:
        given *= rank
    if len(given) != rank:
        raise RuntimeError(f"{name}: output_size is {output_size}; it must be one number, or {rank}")
    return tuple(n if count is None else int(count) for count, n in zip(given, input.shape[-rank:], strict=True))


def _define_avg(rank: int) -> Any:
    name = f"adaptive_avg_pool{rank}d"

    def pool(input: Any, output_size: Any) -> Any:
        counts = _wanted(name, input, output_size, rank)
        sizes = tuple(int(size) for size in input.shape[-rank:])
        return resample(input, "area", [(count, n, None) for count, n in zip(counts, sizes, strict=True)])

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = f"Means over as many windows as are asked for, in {rank} dims."
    return pool


def _define_max(rank: int) -> Any:
    name = f"adaptive_max_pool{rank}d"

    def pool(input: Any, output_size: Any, return_indices: bool = False) -> Any:
        counts = _wanted(name, input, output_size, rank)
        sizes = tuple(int(size) for size in input.shape[-rank:])
        data = input.array if hasattr(input, "wants_grad") else input
        indices = np.zeros((*data.shape[:-rank], *counts), np.int64)
        ranges = [bins(count, size) for count, size in zip(counts, sizes, strict=True)]
        for place in np.ndindex(*counts):
            spans = [axis[at] for axis, at in zip(ranges, place, strict=True)]
            window = data[(..., *(slice(start, end) for start, end in spans))]
            inside = window.shape[-rank:]
            best = np.argmax(window.reshape(*window.shape[:-rank], -1), -1)
            parts = [at + start for at, (start, _) in zip(np.unravel_index(best, inside), spans, strict=True)]
            indices[(..., *place)] = np.ravel_multi_index(parts, sizes)
        planes = reshape(input, (*data.shape[:-rank], math.prod(sizes)))
        grid = np.ogrid[tuple(slice(size) for size in data.shape[:-rank])]
        flat = indices.reshape(*data.shape[:-rank], -1)
        found = getitem(planes, (*(axis[..., None] for axis in grid), flat))
        out = reshape(found, indices.shape)
        return (out, type(input)(indices)) if return_indices else out

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = f"Largest elements of as many windows as are asked for, in {rank} dims."
    return pool


adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = (_define_avg(rank) for rank in (1, 2, 3))
adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = (_define_max(rank) for rank in (1, 2, 3))
