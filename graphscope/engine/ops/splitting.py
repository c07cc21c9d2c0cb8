"""A tensor taken apart along a dim: pieces that are views of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from graphscope.engine.core import shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.dims import in_either_words, one
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.index import getitem
from graphscope.engine.ops.joining import cat, stack

__all__ = ["chunk", "narrow", "select", "split", "split_with_sizes", "tensor_split", "unbind"]


def _rank(input: Any, what: str, kind: type[Exception] = RuntimeError) -> int:
    rank = len(input.shape)
    if not rank:
        raise kind(f"{what}: expects a tensor with at least 1 dim, not 0")
    return rank


def _piece(input: Any, dim: int, piece: Any) -> Any:
    return getitem(input, (slice(None),) * dim + (piece,))


@in_either_words
def select(input: Any, dim: int, index: int) -> Any:
    """The slice at an index of a dim, which is dropped: a view.

    Raises:
        IndexError: There is no such dim or index.
    """
    if not input.shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    return _piece(input, one(dim, len(input.shape)), int(index))


def narrow(input: Any, dim: int, start: int, length: int) -> Any:
    """So many slices of a dim from a start on: a view.

    Raises:
        RuntimeError: They go beyond the end.
        IndexError: The start does.
    """
    place = one(dim, _rank(input, "narrow"))
    size, start, length = input.shape[place], int(start), int(length)
    if not -size <= start <= size:
        raise IndexError(f"start out of range (expected to be in range of [{-size}, {size}], but got {start})")
    start += size if start < 0 else 0
    if length < 0 or start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return _piece(input, place, slice(start, start + length))


def _cut(input: Any, dim: int, ends: Sequence[int]) -> tuple[Any, ...]:
    before = (slice(None),) * dim
    return tuple([input[(*before, slice(start, end))] for start, end in pairwise((0, *ends))])


def _cut_shapes(x: Any, *, dim: int, ends: Sequence[int]) -> list[Any]:
    return [(*x[:dim], end - start, *x[dim + 1 :]) for start, end in pairwise((0, *ends))]


_split: Any = define(
    "split", "Pieces along a dim, which end at the places given: views.", formula="out[k] = x[ends[k-1]:ends[k]]",
    outputs=(), view=True, tensor_method=False, torch=None,
    prepare=lambda x, dim, ends: ((x,), {"dim": dim, "ends": tuple(ends)}),
    forward=_cut,
    vjp=[lambda g, *, dim: cat(g, dim)],
    shape=_cut_shapes,
    samples=[((5, 2), {"dim": 0, "ends": (2, 4, 5)}), ((2, 3), {"dim": 1, "ends": (3,)}),
             ((3, 2), {"dim": 0, "ends": (0, 3)})],
)  # fmt: skip

_unbind: Any = define(
    "unbind", "All slices of a dim, which is dropped: views.",
    outputs=(), view=True, tensor_method=False,
    prepare=lambda x, dim=0: ((x,), {"dim": one(dim, _rank(x, "unbind", kind=IndexError))}),
    forward=lambda x, *, dim: tuple(x[(slice(None),) * dim + (number, ...)] for number in range(x.shape[dim])),
    vjp=[lambda g, *, dim: stack(g, dim)],
    shape=lambda x, *, dim: [(*x[:dim], *x[dim + 1 :])] * (x[dim] or 0),
    samples=[((3, 2),), ((2, 3), {"dim": -1}), ((2,),), ((1, 2),)],
)  # fmt: skip


def split(tensor: Any, split_size_or_sections: Any, dim: int = 0) -> tuple[Any, ...]:
    """Pieces of one size (the last may be smaller), or of the sizes given: views.

    Raises:
        RuntimeError: The sizes do not add up to that of the dim.
    """
    if not isinstance(split_size_or_sections, int):
        return split_with_sizes(tensor, split_size_or_sections, dim)
    place = one(dim, _rank(tensor, "split"))
    size, step = tensor.shape[place], split_size_or_sections
    if step < 0 or (step == 0 and size):
        raise RuntimeError(f"split expects split_size be non-negative and not 0, but got split_size={step}")
    return tuple(_split(tensor, place, [min(end, size) for end in range(step, size + step, step)] if size else [0]))


def split_with_sizes(tensor: Any, split_sizes: Sequence[int], dim: int = 0) -> tuple[Any, ...]:
    """Pieces of the sizes given: views.

    Raises:
        RuntimeError: They do not add up to the size of the dim.
    """
    place = one(dim, _rank(tensor, "split"))
    pieces = tuple(int(size) for size in split_sizes)
    if sum(pieces) != tensor.shape[place] or min(pieces, default=0) < 0:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {tensor.shape[place]} "
            f"(input tensor's size at dimension {place}), but got split_sizes={list(pieces)}"
        )
    return tuple(_split(tensor, place, list(accumulate(pieces))))


@in_either_words
def chunk(input: Any, chunks: int, dim: int = 0) -> tuple[Any, ...]:
    """So many pieces of one size, or fewer; the last may be smaller: views.

    Raises:
        RuntimeError: `chunks` is not positive.
    """
    if chunks < 1:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    place = one(dim, _rank(input, "chunk"))
    size = input.shape[place]
    return split(input, -(-size // chunks), place) if size else tuple(_split(input, place, [0] * chunks))


def tensor_split(input: Any, indices_or_sections: Any, dim: int = 0) -> tuple[Any, ...]:
    """So many pieces, as equal as can be, or pieces that end at the indices given: views.

    Raises:
        RuntimeError: The number of pieces is not positive.
    """
    place = one(dim, _rank(input, "tensor_split"))
    size = input.shape[place]
    wanted = indices_or_sections.tolist() if isinstance(indices_or_sections, Tensor) else indices_or_sections
    if not isinstance(wanted, int):
        borders = [0, *(slice(0, int(end)).indices(size)[1] for end in wanted), size]
        return tuple(_piece(input, place, slice(start, max(start, end))) for start, end in pairwise(borders))
    if wanted < 1:
        raise RuntimeError(f"number of sections must be larger than 0, got {wanted}")
    least, more = divmod(size, wanted)
    return _cut(input, place, list(accumulate(least + (number < more) for number in range(wanted))))


@in_either_words
def unbind(input: Any, dim: int = 0) -> tuple[Any, ...]:
    """All slices of a dim, which is dropped: views."""
    return tuple(_unbind(input, dim))


for _function in (chunk, narrow, select, split, split_with_sizes, tensor_split, unbind):
    setattr(Tensor, _function.__name__, _function)


def _to_windows(input: Any, dimension: int, size: int, step: int) -> Any:
    shape = tuple(input.shape)
    dim = one(dimension, len(shape))
    length = shape[dim] if shape else 1
    if step < 1 or size < 0:
        raise RuntimeError(f"unfold: step is {step} but must be > 0, and size {size} but must be >= 0")
    if size > length:
        raise RuntimeError(f"maximum size for tensor at dimension {dim} is {length} but size is {size}")
    return (input,), {"dimension": dim, "size": size, "step": step, "_from": shape}


def _windows(x: Any, *, dimension: int, size: int, step: int, _from: Any) -> Any:
    if not x.ndim:
        return np.reshape(x, 1)[:size]
    count = (x.shape[dimension] - size) // step + 1
    pace = x.strides[dimension]
    strides = tuple(pace * step if place == dimension else stride for place, stride in enumerate(x.strides))
    shape = (*(count if place == dimension else length for place, length in enumerate(x.shape)), size)
    return np.lib.stride_tricks.as_strided(x, shape, (*strides, pace))


def _unwindowed(x: Any, *, dimension: int, step: int, shape: tuple[int, ...]) -> Any:
    if not shape:
        return np.add.reduce(x, None)
    out = np.zeros(shape, x.dtype)
    into = np.moveaxis(out, dimension, 0)
    windows = np.moveaxis(x, dimension, 0)
    for place in range(x.shape[-1]):
        into[place : place + step * len(windows) : step][: len(windows)] += windows[..., place]
    return out


unfold: Any = define(
    "unfold", "All windows of a size along a dim, a step apart; they are the new last dim.",
    formula="out[i, j] = x[i · step + j]", view=True, torch="Tensor.unfold",
    prepare=_to_windows,
    forward=_windows,
    vjp=[lambda g, *, dimension, step, _from: refolded(g, dimension, step, _from)],
    shape=lambda x, *, dimension, size, step, **_: (
        *shapes.resized(x, dimension, None if x[dimension] is None else (x[dimension] - size) // step + 1), size)
    if x else (size,),
    samples=[((5,), {"dimension": 0, "size": 2, "step": 1}), ((2, 6), {"dimension": 1, "size": 3, "step": 2}),
             ((5, 2), {"dimension": 0, "size": 2, "step": 3})],
)  # fmt: skip

refolded: Any = define(
    "refolded", "Windows added up at the places they were taken from: what unfold takes back.",
    formula="out[i · step + j] += x[i, j]", tensor_method=False, grad_name="UnfoldBackwardBackward0",
    prepare=lambda x, dimension, step, shape: ((x,), {"dimension": dimension, "step": step, "shape": tuple(shape)}),
    forward=_unwindowed,
    vjp=[lambda g, x, *, dimension, step: unfold(g, dimension, x.shape[-1], step)],
    shape=shapes.given,
    samples=[((4, 2), {"dimension": 0, "step": 1, "shape": (5,)})],
)  # fmt: skip
