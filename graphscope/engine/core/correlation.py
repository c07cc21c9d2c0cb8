"""Convolution on arrays: the windows of a few samples at a time as columns of a matrix, and one product of matrices.

Three functions, each linear in both its arguments; the gradients of each are the two others. `x` is (samples, channels,
...), `w` is (made channels, channels of a group, ...), `y` is (samples, made channels, ...).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

import numpy as np

from graphscope.engine.core import loops
from graphscope.engine.core.windows import Array, Sizes, Windows, add_columns, columns

CHUNK: Final = 1 << 18
"""Elements of columns at a time: what fits the cache beside the product."""


def _chunks(samples: int, width: int) -> Iterator[slice]:
    step = max(1, CHUNK // max(width, 1))
    return (slice(start, min(start + step, samples)) for start in range(0, samples, step))


def _grouped(w: Array, groups: int) -> Array:
    """Weights as a matrix for each group: (groups, made channels, channels · places)."""
    return w.reshape(groups, w.shape[0] // groups, math.prod(w.shape[1:]))


def _turned(x: Array, last: bool) -> Array:
    """Samples (N, C, ...) with the channels first, and the samples behind them or last."""
    return np.ascontiguousarray(np.moveaxis(x, 0, -1)) if last else x.swapaxes(0, 1)


def _returned(x: Array, last: bool) -> Array:
    return np.moveaxis(x, -1, 0) if last else x.swapaxes(0, 1)


def _are_few(samples: int, counts: Sizes) -> bool:
    """Whether a row of windows is shorter than a row of samples: then the samples are better last."""
    return counts[-1] < min(samples, 16)


def _rows(y: Array, groups: int, last: bool = False) -> Array:
    """Samples (N, C, ...) as a matrix for each group: (groups, channels, N · places)."""
    return _turned(y, last).reshape(groups, y.shape[1] // groups, -1)


def _product(a: Array, b: Array) -> Array:
    return a[0].dot(b[0])[None] if len(a) == 1 else np.matmul(a, b)


def _is_depthwise(w: Array, groups: int) -> bool:
    return groups > 1 and w.shape[1] == 1 and w.shape[0] == groups


def correlate(x: Array, w: Array, windows: Windows, groups: int) -> Array:
    """y: at each window of x, the sum of its elements times the weights."""
    samples, channels = x.shape[:2]
    counts = windows.counts(x.shape[2:])
    out = np.empty((samples, w.shape[0], *counts), np.result_type(x, w))
    if not out.size or not x.size:
        out[...] = 0
        return out
    if _is_depthwise(w, groups):
        return _correlate_depthwise(x, w, windows, out)
    matrices = _grouped(w, groups)
    if windows.bare and groups == 1:
        np.matmul(matrices[0], x.reshape(samples, channels, -1), out=out.reshape(samples, w.shape[0], -1))
        return out
    last = _are_few(samples, counts)
    for part in _chunks(samples, channels * math.prod(windows.kernel) * math.prod(counts)):
        given = columns(_turned(windows.padded(x[part]), last), windows, counts, last)
        made = _product(matrices, given.reshape(groups, matrices.shape[2], -1))
        out[part] = _returned(made.reshape(w.shape[0], *given.shape[1 + windows.rank :]), last)
    return out


def spread(y: Array, w: Array, windows: Windows, groups: int, sizes: Sizes) -> Array:
    """x: to each element, the sum over the windows that it lies in; the transpose of `correlate` in x.

    Args:
        y: One number for each window and made channel.
        w: Weights.
        windows: The windows over x.
        groups: How many groups of channels there are.
        sizes: The sizes of x, but for samples and channels.
    """
    samples, channels = y.shape[0], w.shape[1] * groups
    counts = y.shape[2:]
    out = np.empty((samples, channels, *sizes), np.result_type(y, w))
    if not out.size or not y.size:
        out[...] = 0
        return out
    matrices = _grouped(w, groups).swapaxes(1, 2)
    if windows.bare and groups == 1:
        np.matmul(matrices[0], y.reshape(samples, w.shape[0], -1), out=out.reshape(samples, channels, -1))
        return out
    if _is_depthwise(w, groups):
        return _spread_depthwise(y, w, windows, out)
    whole = windows.whole(sizes)
    inner = windows.inner(sizes)
    last = _are_few(samples, counts)
    for part in _chunks(samples, channels * math.prod(windows.kernel) * math.prod(counts)):
        count = len(y[part])
        rest, shape = ((*counts, count), (*whole, count)) if last else ((count, *counts), (count, *whole))
        total: Array = np.zeros((channels, *shape), out.dtype)
        made = _product(matrices, _rows(y[part], groups, last))
        add_columns(made.reshape(channels, *windows.kernel, *rest), windows, counts, total, last)
        out[part] = _returned(total, last)[(slice(None), slice(None), *inner)]
    return out


def weigh(x: Array, y: Array, windows: Windows, groups: int) -> Array:
    """w: to each weight, the sum over all windows; the transpose of `correlate` in w."""
    samples, channels = x.shape[:2]
    made = y.shape[1]
    counts = y.shape[2:]
    shape = (made, channels // groups, *windows.kernel)
    out = np.zeros((groups, made // groups, math.prod(shape[1:])), np.result_type(x, y))
    if not x.size or not y.size:
        return out.reshape(shape)
    if made == groups == channels and groups > 1:
        return _weigh_depthwise(x, y, windows).reshape(shape)
    last = _are_few(samples, counts)
    for part in _chunks(samples, channels * math.prod(windows.kernel) * math.prod(counts)):
        if windows.bare:
            given = _rows(x[part], groups, last)
        else:
            given = columns(_turned(windows.padded(x[part]), last), windows, counts, last)
            given = given.reshape(groups, out.shape[2], -1)
        out += _product(_rows(y[part], groups, last), given.swapaxes(1, 2))
    return out.reshape(shape)


def _grid(windows: Windows, whole: Sizes) -> tuple[list[tuple[Sizes, int]], int]:
    """Where each place of a window lies in flat planes, seen from its first, and how long a run may be.

    A window's places lie at the same distances in memory wherever the window is, so each place of all windows is one
    long run. What lies between the windows is computed too, and left out at the end.
    """
    steps = [math.prod(whole[dim + 1 :]) for dim in range(len(whole))]
    offsets = [
        (place, sum(at * d * step for at, d, step in zip(place, windows.dilation, steps, strict=True)))
        for place in np.ndindex(*windows.kernel)
    ]
    return offsets, math.prod(whole) - offsets[-1][1]


def _firsts(windows: Windows, counts: Sizes) -> tuple[slice, ...]:
    """Where the first places of all windows are."""
    return tuple(slice(0, step * (count - 1) + 1, step) for step, count in zip(windows.stride, counts, strict=True))


def _embedded(y: Array, windows: Windows, whole: Sizes) -> Array:
    """Numbers of windows, at the first places of these, in flat planes of zeros."""
    out: Array = np.zeros((*y.shape[:2], *whole), y.dtype)
    out[(..., *_firsts(windows, y.shape[2:]))] = y
    return out.reshape(*y.shape[:2], -1)


def _parts(samples: int, channels: int, whole: Sizes) -> Iterator[slice]:
    return _chunks(samples, 4 * channels * math.prod(whole))


def _correlate_depthwise(x: Array, w: Array, windows: Windows, out: Array) -> Array:
    whole = windows.whole(x.shape[2:])
    offsets, length = _grid(windows, whole)
    for part in _parts(len(x), x.shape[1], whole):
        flat = windows.padded(x[part]).reshape(*x[part].shape[:2], -1)
        total: Array = np.empty(flat.shape, out.dtype)
        if loops.fits(flat, w, total):
            loops.correlate_planes(total, flat, w, [offset for _, offset in offsets], length)
            out[part] = total.reshape(*flat.shape[:2], *whole)[(..., *_firsts(windows, out.shape[2:]))]
            continue
        run, scratch = total[..., :length], np.empty((*flat.shape[:2], length), out.dtype)
        for number, (place, offset) in enumerate(offsets):
            given, weights = flat[..., offset : offset + length], w[(slice(None), 0, *place)][:, None]
            np.multiply(given, weights, out=scratch if number else run)
            if number:
                run += scratch
        out[part] = total.reshape(*flat.shape[:2], *whole)[(..., *_firsts(windows, out.shape[2:]))]
    return out


def _spread_depthwise(y: Array, w: Array, windows: Windows, out: Array) -> Array:
    whole = windows.whole(out.shape[2:])
    offsets, length = _grid(windows, whole)
    for part in _parts(len(y), y.shape[1], whole):
        given = _embedded(y[part], windows, whole)
        total: Array = np.zeros(given.shape, out.dtype)
        if loops.fits(given, w, total):
            loops.spread_planes(total, given, w, [offset for _, offset in offsets], length)
        else:
            scratch = np.empty((*given.shape[:2], length), out.dtype)
            for place, offset in offsets:
                run = total[..., offset : offset + length]
                run += np.multiply(given[..., :length], w[(slice(None), 0, *place)][:, None], out=scratch)
        out[part] = total.reshape(*given.shape[:2], *whole)[(..., *windows.inner(out.shape[2:]))]
    return out


def _weigh_depthwise(x: Array, y: Array, windows: Windows) -> Array:
    whole = windows.whole(x.shape[2:])
    offsets, length = _grid(windows, whole)
    out: Array = np.zeros((y.shape[1], *windows.kernel), np.result_type(x, y))
    for part in _parts(len(x), x.shape[1], whole):
        flat = windows.padded(x[part]).reshape(*x[part].shape[:2], -1)
        given = _embedded(y[part], windows, whole)
        if loops.fits(flat, given, out):
            loops.weigh_planes(out, flat, given, [offset for _, offset in offsets], length)
            continue
        for place, offset in offsets:
            there = flat[..., offset : offset + length]
            out[(slice(None), *place)] += np.einsum("ncl,ncl->c", there, given[..., :length])
    return out
