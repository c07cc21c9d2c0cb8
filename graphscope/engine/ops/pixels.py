"""Channels into pixels and back, channels among groups, and windows as columns and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphscope.engine.core.calls import define
from graphscope.engine.core.windows import Windows, add_columns, columns
from graphscope.engine.ops.convolution import each
from graphscope.engine.ops.shape import permute, reshape

__all__ = ["pixel_shuffle", "pixel_unshuffle"]


def _to_pixels(x: Any, r: int) -> Any:
    *lead, channels, height, width = x.shape
    wide = reshape(x, (*lead, channels // (r * r), r, r, height, width))
    n = len(lead)
    turned = permute(wide, (*range(n), n, n + 3, n + 1, n + 4, n + 2))
    return reshape(turned, (*lead, channels // (r * r), height * r, width * r))


def _to_channels(x: Any, r: int) -> Any:
    *lead, channels, height, width = x.shape
    wide = reshape(x, (*lead, channels, height // r, r, width // r, r))
    n = len(lead)
    turned = permute(wide, (*range(n), n, n + 2, n + 4, n + 1, n + 3))
    return reshape(turned, (*lead, channels * r * r, height // r, width // r))


def _times(size: Any, factor: int) -> Any:
    return None if size is None else size * factor


def _over(size: Any, factor: int) -> Any:
    return None if size is None else size // factor


def _to_shuffle(input: Any, upscale_factor: int) -> Any:
    if len(input.shape) < 3 or input.shape[-3] % (upscale_factor**2):
        raise RuntimeError(
            f"pixel_shuffle: dim -3 of shape {tuple(input.shape)} must be divisible by {upscale_factor**2}, "
            "the square of upscale_factor"
        )
    return (input,), {"upscale_factor": upscale_factor}


def _to_unshuffle(input: Any, downscale_factor: int) -> Any:
    if len(input.shape) < 3 or input.shape[-1] % downscale_factor or input.shape[-2] % downscale_factor:
        raise RuntimeError(
            f"pixel_unshuffle: the last two dims of shape {tuple(input.shape)} must be divisible by "
            f"downscale_factor, {downscale_factor}"
        )
    return (input,), {"downscale_factor": downscale_factor}


pixel_shuffle: Any = define(
    "pixel_shuffle", "Channels become pixels: a picture r times as large in both dims.",
    formula="out[c, h·r + i, w·r + j] = x[c·r² + i·r + j, h, w]", tensor_method=False,
    prepare=_to_shuffle,
    forward=lambda x, *, upscale_factor: _to_pixels(x, upscale_factor),
    vjp=[lambda g, *, upscale_factor: pixel_unshuffle(g, upscale_factor)],
    shape=lambda x, *, upscale_factor: (
        *x[:-3], _over(x[-3], upscale_factor**2), _times(x[-2], upscale_factor), _times(x[-1], upscale_factor)
    ),
    samples=[((1, 4, 2, 3), {"upscale_factor": 2}), ((9, 2, 1), {"upscale_factor": 3})],
)  # fmt: skip

pixel_unshuffle: Any = define(
    "pixel_unshuffle", "Pixels become channels: a picture r times as small in both dims.",
    formula="out[c·r² + i·r + j, h, w] = x[c, h·r + i, w·r + j]", tensor_method=False,
    prepare=_to_unshuffle,
    forward=lambda x, *, downscale_factor: _to_channels(x, downscale_factor),
    vjp=[lambda g, *, downscale_factor: pixel_shuffle(g, downscale_factor)],
    shape=lambda x, *, downscale_factor: (
        *x[:-3], _times(x[-3], downscale_factor**2), _over(x[-2], downscale_factor), _over(x[-1], downscale_factor)
    ),
    samples=[((1, 1, 4, 6), {"downscale_factor": 2})],
)  # fmt: skip


def _windows(name: str, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Windows:
    low = each(name, "padding", padding, 2)
    return Windows(
        each(name, "kernel_size", kernel_size, 2), each(name, "stride", stride, 2), low, low,
        each(name, "dilation", dilation, 2),
    )  # fmt: skip


def _unfolded(x: Any, *, _windows: Windows) -> Any:
    single = x.ndim == 3
    x = x[None] if single else x
    counts = _windows.counts(x.shape[2:])
    found = np.moveaxis(columns(_windows.padded(x).swapaxes(0, 1), _windows, counts), 3, 0)
    out = found.reshape(x.shape[0], x.shape[1] * math.prod(_windows.kernel), math.prod(counts))
    return out[0] if single else out


def _folded(x: Any, *, output_size: Any, _windows: Windows) -> Any:
    single = x.ndim == 2
    x = x[None] if single else x
    counts = _windows.counts(output_size)
    places = _windows.kernel[0] * _windows.kernel[1]
    parts = np.moveaxis(x.reshape(len(x), x.shape[1] // places, *_windows.kernel, *counts), 0, 3)
    total = _windows.padded(np.zeros((len(x), x.shape[1] // places, *output_size), x.dtype))
    add_columns(parts, _windows, counts, total.swapaxes(0, 1))
    out = total[(slice(None), slice(None), *_windows.inner(output_size))]
    return out[0] if single else out


def _to_unfold(input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    if len(input.shape) not in (3, 4):
        raise RuntimeError(f"unfold: the input must have 4 dims, or 3 without samples, not shape {tuple(input.shape)}")
    windows = _windows("unfold", kernel_size, dilation, padding, stride)
    if any(count < 1 for count in windows.counts(tuple(input.shape[-2:]))):
        raise RuntimeError(
            f"unfold: windows of {windows.span} are larger than the padded input of {tuple(input.shape)}"
        )
    return (input,), {"_windows": windows, "_from": tuple(input.shape)}


def _to_fold(
    input: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Any:
    windows = _windows("fold", kernel_size, dilation, padding, stride)
    sizes = each("fold", "output_size", output_size, 2)
    counts = windows.counts(sizes)
    shape = tuple(input.shape)
    if (
        len(shape) not in (2, 3)
        or shape[-2] % (windows.kernel[0] * windows.kernel[1])
        or shape[-1] != counts[0] * counts[1]
    ):
        raise RuntimeError(
            f"fold: an input of shape {shape} does not fit: there must be {counts[0]}·{counts[1]} windows in dim -1, "
            f"and a multiple of {windows.kernel[0]}·{windows.kernel[1]} elements in dim -2"
        )
    return (input,), {"output_size": sizes, "_windows": windows}


def _unfolded_shape(x: Any, *, _windows: Windows, **_: Any) -> Any:
    counts = _windows.counts(x[-2:])
    rows = _times(x[-3], _windows.kernel[0] * _windows.kernel[1])
    return (*x[:-3], rows, None if None in counts else counts[0] * counts[1])


def _unfold_again(g: Any, windows: Windows) -> Any:
    return unfold(g, windows.kernel, windows.dilation, windows.low, windows.stride)


unfold: Any = define(
    "im2col", "Windows of a picture as columns.", formula="out[:, k] = elements of window k of x", tensor_method=False,
    torch="nn.functional.unfold", grad_name="Im2ColBackward0",
    prepare=_to_unfold,
    forward=lambda x, *, _windows, _from: _unfolded(x, _windows=_windows),
    vjp=[lambda g, *, _windows, _from: fold(
        g, _from[-2:], _windows.kernel, _windows.dilation, _windows.low, _windows.stride)],
    shape=_unfolded_shape,
    samples=[((1, 2, 3, 4), {"kernel_size": 2}), ((2, 3, 3), {"kernel_size": 2, "stride": 2, "padding": 1})],
)  # fmt: skip

fold: Any = define(
    "col2im", "Columns as windows of a picture, summed where they overlap.", formula="out = Σ_k window k of x[:, k]",
    tensor_method=False, torch="nn.functional.fold", grad_name="Col2ImBackward0",
    prepare=_to_fold,
    forward=_folded,
    vjp=[lambda g, *, _windows: _unfold_again(g, _windows)],
    shape=lambda x, *, output_size, _windows: (
        *x[:-2], _over(x[-2], _windows.kernel[0] * _windows.kernel[1]), *output_size
    ),
    samples=[((1, 8, 4), {"output_size": (3, 3), "kernel_size": 2}), ((4, 1), {"output_size": 2, "kernel_size": 2})],
)  # fmt: skip
