"""Pooling by windows in 1, 2 and 3 dimensions: maxima, means, powers; and the reverse of maxima."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from graphscope.engine.core.calls import define
from graphscope.engine.core.fused import fused
from graphscope.engine.core.windows import Windows
from graphscope.engine.ops.convolution import each
from graphscope.engine.ops.index import put
from graphscope.engine.ops.linalg import constant
from graphscope.engine.ops.shape import reshape

__all__ = ["avg_pool1d", "max_pool1d", "max_pool2d", "max_pool3d"]


def _check(name: str, input: Any, rank: int) -> tuple[int, ...]:
    if len(input.shape) not in (rank + 1, rank + 2):
        raise RuntimeError(
            f"{name}: the input must have {rank + 2} dims (samples, channels, ...), or {rank + 1} without samples, "
            f"not shape {tuple(input.shape)}"
        )
    return tuple(input.shape[-rank:])


def _windows(name: str, sizes: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> Windows:
    """The windows of a pooling; with `ceil_mode` the last ones may reach beyond the padding, not start there."""
    rank = len(sizes)
    kernel = each(name, "kernel_size", kernel, rank)
    stride = kernel if stride is None or stride == [] or stride == () else each(name, "stride", stride, rank)
    low, spacing = each(name, "padding", padding, rank), each(name, "dilation", dilation, rank)
    if any(pad * 2 > size for pad, size in zip(low, kernel, strict=True)):
        raise RuntimeError(f"{name}: padding={low} must be at most half of kernel_size={kernel}")
    if any(step < 1 for step in stride) or any(size < 1 for size in kernel):
        raise RuntimeError(f"{name}: kernel_size={kernel} and stride={stride} must be greater than 0")
    windows = Windows(kernel, stride, low, low, spacing)
    if ceil_mode:
        high = []
        for size, pad, span, step in zip(sizes, low, windows.span, stride, strict=True):
            count = -(-(size + 2 * pad - span) // step) + 1
            if (count - 1) * step >= size + pad:
                count -= 1
            high.append(max(pad, (count - 1) * step + span - size - pad))
        windows = Windows(kernel, stride, low, tuple(high), spacing)
    if any(count < 1 for count in windows.counts(sizes)):
        raise RuntimeError(f"{name}: windows of {windows.span} are larger than the padded input of sizes {sizes}")
    return windows


def _lowest(dtype: np.dtype) -> Any:
    return -math.inf if dtype.kind == "f" else np.iinfo(dtype).min


def _largest(x: Any, windows: Windows) -> Any:
    padded = windows.padded(x, _lowest(x.dtype))
    out: Any = None
    for _, where in windows.places(windows.counts(x.shape[-windows.rank :])):
        taken = padded[(..., *where)]
        out = taken.copy() if out is None else np.maximum(out, taken, out=out)
    return out


def _hits(x: Any, out: Any, windows: Windows) -> Any:
    """For each place, where it lies and for which windows it is the first to hold the maximum."""
    padded = windows.padded(x, _lowest(x.dtype))
    open_ = np.ones(out.shape, bool)
    for place, where in windows.places(out.shape[-windows.rank :]):
        taken = padded[(..., *where)]
        hit = taken == out
        hit |= taken != taken
        hit &= open_
        open_ ^= hit
        yield place, where, hit


def largest_places(x: Any, windows: Windows) -> Any:
    """Which element of its plane is the maximum of each window."""
    sizes = x.shape[-windows.rank :]
    out = _largest(x, windows)
    counts = out.shape[-windows.rank :]
    found = np.zeros(out.shape, np.int64)
    for place, _, hit in _hits(x, out, windows):
        flat = np.zeros((), np.int64)
        parts = zip(place, counts, windows.stride, windows.dilation, windows.low, sizes, strict=True)
        for at, count, step, spacing, low, size in parts:
            flat = flat[..., None] * size + (np.arange(count) * step + at * spacing - low)
        np.copyto(found, np.broadcast_to(flat, found.shape), where=hit)
    return found


def _at(indices: Any, rank: int) -> tuple[Any, ...]:
    """An index into flat planes that takes, in each plane, the elements at its indices."""
    grid = np.ogrid[tuple(slice(size) for size in indices.shape[:-rank])]
    wide = [axis.reshape(*axis.shape, 1) for axis in grid]
    return (*wide, indices.reshape(*indices.shape[:-rank], -1))


def _largest_and_residual(x: Any, *, _windows: Windows, **_: Any) -> Any:
    """The result, and a copy of it for the rule: people write into results, as `relu(pooled, inplace=True)` does."""
    out = _largest(x, _windows)
    return out, out.copy()


def _max_rule(g: Any, x: Any, residuals: Any, *, _windows: Windows) -> Any:
    plain = x.array if hasattr(x, "wants_grad") else x
    rank, shape = _windows.rank, tuple(x.shape)
    indices = largest_places(plain, _windows)
    flat = reshape(g, (*g.shape[:-rank], math.prod(g.shape[-rank:])))
    planes = put(flat, _at(indices, rank), (*shape[:-rank], math.prod(shape[-rank:])))
    return reshape(planes, shape)


def _max_on_arrays(g: Any, x: Any, residuals: Any, *, _windows: Windows) -> Any:
    total = _windows.padded(np.zeros(x.shape, g.dtype))
    apart = all(step >= span for step, span in zip(_windows.stride, _windows.span, strict=True))
    for _, where, hit in _hits(x, residuals, _windows):
        if apart:
            np.multiply(g, hit, out=total[(..., *where)])
        else:
            target = total[(..., *where)]
            target += g * hit
    return total[(..., *_windows.inner(x.shape[-_windows.rank :]))]


def _pooled_shape(x: Any, *, _windows: Windows, **_: Any) -> Any:
    return (*x[: -_windows.rank], *_windows.counts(x[-_windows.rank :]))


def _define_max(rank: int) -> Any:
    name = f"max_pool{rank}d"

    def prepare(
        input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
    ) -> Any:
        sizes = _check(name, input, rank)
        windows = _windows(name, sizes, kernel_size, stride, padding, dilation, ceil_mode)
        shown = {"kernel_size": windows.kernel, "stride": windows.stride, "padding": windows.low}
        return (input,), {**shown, "dilation": windows.dilation, "ceil_mode": ceil_mode, "_windows": windows}

    values = define(
        name, f"Largest element of each window, in {rank} dims.",
        tensor_method=False, grad_name="SqueezeBackward1" if rank == 1 else f"MaxPool{rank}DWithIndicesBackward0",
        prepare=prepare, residuals=True,
        forward=_largest_and_residual,
        vjp=[fused(_max_rule, _max_on_arrays)],
        shape=_pooled_shape,
        samples=[((1, 2, *(4,) * rank), {"kernel_size": 2}),
                 ((2, *(5,) * rank), {"kernel_size": 3, "stride": 2, "padding": 1}),
                 ((1, *(4,) * rank), {"kernel_size": 2, "stride": 1, "dilation": 2}),
                 ((1, *(5,) * rank), {"kernel_size": 2, "ceil_mode": True})],
    )  # fmt: skip

    places = define(
        f"{name}_indices", f"Where in its plane the largest element of each window is, in {rank} dims.",
        formula="out = argmax over windows of x", tensor_method=False, torch=None,
        prepare=prepare,
        forward=lambda x, *, _windows, **_: largest_places(x, _windows),
        vjp=[None],
        shape=_pooled_shape,
        samples=[((1, 2, *(4,) * rank), {"kernel_size": 2})],
    )  # fmt: skip

    def pool(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        out = values(input, kernel_size, stride, padding, dilation, ceil_mode)
        return (out, places(input, kernel_size, stride, padding, dilation, ceil_mode)) if return_indices else out

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = (
        f"Largest element of each window, in {rank} dims; with `return_indices` also where in its plane it is."
    )
    return pool


max_pool1d, max_pool2d, max_pool3d = (_define_max(rank) for rank in (1, 2, 3))


def _summed(x: Any, windows: Windows) -> Any:
    padded = windows.padded(x)
    out: Any = None
    for _, where in windows.places(windows.counts(x.shape[-windows.rank :])):
        taken = padded[(..., *where)]
        out = taken.copy() if out is None else np.add(out, taken, out=out)
    return out


def _summed_back(g: Any, windows: Windows, sizes: tuple[int, ...]) -> Any:
    total = windows.padded(np.zeros((*g.shape[: -windows.rank], *sizes), g.dtype))
    for _, where in windows.places(g.shape[-windows.rank :]):
        target = total[(..., *where)]
        target += g
    return total[(..., *windows.inner(sizes))]


_SMALL = Windows((2,), (2,), (1,), (1,), (1,))

window_sum: Any = define(
    "window_sum", "Sum of each window.", formula="out = Σ over windows of x", tensor_method=False, torch=None,
    prepare=lambda x, windows: ((x,), {"windows": windows, "_sizes": tuple(x.shape[-windows.rank :])}),
    forward=lambda x, *, windows, _sizes: _summed(x, windows), accumulates=True,
    vjp=[lambda g, *, windows, _sizes: window_spread(g, windows, _sizes)],
    shape=lambda x, *, windows, _sizes: (*x[: -windows.rank], *windows.counts(x[-windows.rank :])),
    samples=[((1, 2, 4), _SMALL)],
)  # fmt: skip

window_spread: Any = define(
    "window_spread", "To each element, the sum over the windows that it lies in.", formula="out = Σ over windows on x",
    tensor_method=False, torch=None,
    prepare=lambda x, windows, sizes: ((x,), {"windows": windows, "sizes": tuple(sizes)}),
    forward=lambda x, *, windows, sizes: _summed_back(x, windows, sizes),
    vjp=[lambda g, *, windows: window_sum(g, windows)],
    shape=lambda x, *, windows, sizes: (*x[: -windows.rank], *sizes),
    samples=[((1, 2, 3), _SMALL, [4])],
)  # fmt: skip


@functools.lru_cache(256)
def _divisor(windows: Windows, sizes: tuple[int, ...], include: bool, override: Any, dtype: Any) -> Any:
    """What the sum of each window is divided by: what lies beyond the padding never counts."""
    if override is not None:
        return dtype.type(override)
    padding = windows.low if include else (0,) * windows.rank
    if not any(windows.low) and not any(windows.high):
        return dtype.type(math.prod(windows.kernel))
    found = np.ones((), np.int64)
    counts = windows.counts(sizes)
    parts = zip(sizes, counts, windows.kernel, windows.stride, windows.low, padding, strict=True)
    for size, count, kernel, step, low, pad in parts:
        start = np.arange(count) * step - low
        inside = np.minimum(start + kernel, size + pad) - np.maximum(start, -pad)
        found = found[..., None] * inside
    return found.astype(dtype)


def _define_avg(rank: int) -> Any:
    name = f"avg_pool{rank}d"

    def prepare(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: Any = None,
    ) -> Any:
        sizes = _check(name, input, rank)
        windows = _windows(name, sizes, kernel_size, stride, padding, 1, ceil_mode)
        if divisor_override == 0:
            raise RuntimeError(f"{name}: divisor_override must not be 0")
        return (input,), {
            "kernel_size": windows.kernel,
            "stride": windows.stride,
            "padding": windows.low,
            "ceil_mode": ceil_mode,
            "count_include_pad": count_include_pad,
            "divisor_override": divisor_override,
            "_windows": windows,
            "_sizes": sizes,
        }

    def forward(
        x: Any, *, count_include_pad: bool, divisor_override: Any, _windows: Windows, _sizes: Any, **_: Any
    ) -> Any:
        out = _summed(x, _windows) / _divisor(_windows, _sizes, count_include_pad, divisor_override, x.dtype)
        return out.astype(x.dtype, copy=False)

    def rule(g: Any, *, count_include_pad: bool, divisor_override: Any, _windows: Windows, _sizes: Any) -> Any:
        divisor = _divisor(_windows, _sizes, count_include_pad, divisor_override, g.dtype)
        return window_spread(g / constant(divisor, g), _windows, _sizes)

    samples: list[Any] = [
        ((1, 2, *(4,) * rank), {"kernel_size": 2}),
        ((2, *(5,) * rank), {"kernel_size": 3, "stride": 2, "padding": 1}),
        ((2, *(5,) * rank), {"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": False}),
        ((1, *(5,) * rank), {"kernel_size": 2, "ceil_mode": True, "padding": 1}),
    ]
    if rank > 1:
        samples.append(((1, *(4,) * rank), {"kernel_size": 2, "divisor_override": 3}))
    return define(
        name, f"Mean of each window, in {rank} dims.", tensor_method=False,
        grad_name="SqueezeBackward1" if rank == 1 else f"AvgPool{rank}DBackward0",
        prepare=prepare,
        forward=forward, accumulates=True,
        vjp=[rule],
        shape=_pooled_shape,
        samples=samples,
    )  # fmt: skip


avg_pool1d, avg_pool2d, avg_pool3d = (_define_avg(rank) for rank in (1, 2, 3))
