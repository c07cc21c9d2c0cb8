"""Maxima over windows at random places, so many as are wanted. Source: Graham, "Fractional Max-Pooling", 2014."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphscope.engine.core.composite import composite
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.convolution import each
from graphscope.engine.ops.gathering import gather, raw
from graphscope.engine.ops.randoms import rand
from graphscope.engine.ops.shape import reshape

__all__: list[str] = []


def _starts(sample: Any, size: int, count: int, kernel: int) -> Any:
    """Where the windows of each plane begin, by a number from 0 to 1: the last at the end."""
    if count == 1:
        return np.full((*sample.shape, 1), size - kernel)
    step = sample.dtype.type((size - kernel) / (count - 1))
    steps = np.arange(count, dtype=sample.dtype)
    out = ((steps + sample[..., None]) * step).astype(np.int64) - (sample[..., None] * step).astype(np.int64)
    out[..., -1] = size - kernel
    return out


def _places(x: Any, kernel: Any, counts: Any, samples: np.ndarray) -> Any:
    """Which element of its flat plane is the largest of each window, the first of equal ones."""
    rank = len(kernel)
    sizes, planes = x.shape[-rank:], x.shape[:-rank]
    along = range(rank) if rank == 3 else reversed(range(rank))  # PyTorch's order of the numbers
    index: Any = np.zeros((*planes, *(1,) * (2 * rank)), np.int64)
    for dim, number in zip(range(rank), along, strict=True):
        begins = _starts(samples[..., number], sizes[dim], counts[dim], kernel[dim])
        place = begins[..., None] + np.arange(kernel[dim])
        shape = [1] * (2 * rank)
        shape[dim], shape[rank + dim] = counts[dim], kernel[dim]
        index = index + place.reshape(*planes, *shape) * math.prod(sizes[dim + 1 :])
    index = np.broadcast_to(index, (*planes, *counts, *kernel)).reshape(*planes, math.prod(counts), -1)
    flat = x.reshape(*planes, -1)
    values = np.take_along_axis(flat[..., None, :], index, -1)
    return np.take_along_axis(index, values.argmax(-1)[..., None], -1)[..., 0].reshape(*planes, *counts)


def _counts(name: str, sizes: Any, output_size: Any, output_ratio: Any, rank: int) -> tuple[int, ...]:
    if (output_size is None) == (output_ratio is None):
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if output_size is not None:
        return each(name, "output_size", output_size, rank)
    ratios = output_ratio if isinstance(output_ratio, tuple | list) else (output_ratio,) * rank
    return tuple(int(size * ratio) for size, ratio in zip(sizes, ratios, strict=True))


def _pooled(
    name: str, rank: int, input: Any, kernel_size: Any, output_size: Any, output_ratio: Any, samples: Any
) -> Any:
    if len(input.shape) not in (rank + 1, rank + 2):
        raise RuntimeError(f"{name}: the input must have {rank + 1} or {rank + 2} dims, not shape {tuple(input.shape)}")
    sizes = tuple(input.shape[-rank:])
    kernel = each(name, "kernel_size", kernel_size, rank)
    counts = _counts(name, sizes, output_size, output_ratio, rank)
    if any(count + size - 1 > whole for count, size, whole in zip(counts, kernel, sizes, strict=True)):
        raise RuntimeError(f"{name}: {counts} windows of {kernel} are too many for planes of sizes {sizes}")
    planes = tuple(input.shape[:-rank])
    if samples is None:
        samples = rand(*planes, rank, dtype=input.dtype)
    places = _places(raw(input), kernel, counts, np.asarray(raw(samples)).reshape(*planes, rank))
    flat = reshape(input, (*planes, math.prod(sizes)))
    found = gather(flat, -1, Tensor(places.reshape(*planes, -1)))
    return reshape(found, (*planes, *counts)), Tensor(places)


def _shape(rank: int) -> Any:
    def shape(x: Any, *_: Any, output_size: Any = None, output_ratio: Any = None, **__: Any) -> Any:
        return (*x[:-rank], *_counts("", x[-rank:], output_size, output_ratio, rank))

    return shape


def _define(rank: int) -> Any:
    name = f"fractional_max_pool{rank}d"

    def pool(
        input: Any,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> Any:
        found = _pooled(name, rank, input, kernel_size, output_size, output_ratio, _random_samples)
        return found if return_indices else found[0]

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = f"""Largest element of windows at random places of the last {rank} dims, so many as are wanted.

    Args:
        input: (N, C, ...) or (C, ...).
        kernel_size: How large a window is.
        output_size: How many windows there are along each dim.
        output_ratio: Or how many there are for each element.
        return_indices: Whether to return where in its plane each maximum is, too.
        _random_samples: (N, C, {rank}): where the windows begin, from 0 to 1; None: at random.
    """
    samples = np.linspace(0.1, 0.9, 2 * rank).reshape(1, 2, rank)
    return composite(
        f"Largest element of windows at random places, in {rank} dims.", formula="out = max x over windows",
        torch=None, shape=_shape(rank),
        samples=[((1, 2, *(5,) * rank), 2, {"output_size": 3, "_random_samples": Tensor(samples)})],
    )(pool)  # fmt: skip


fractional_max_pool2d, fractional_max_pool3d = _define(2), _define(3)
