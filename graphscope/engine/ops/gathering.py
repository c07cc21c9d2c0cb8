"""Picking elements by an index tensor, and what takes the cotangents back to their places."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphscope.engine.core import along, shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.dims import one
from graphscope.engine.core.row_sums import add_along, add_rows, add_up, pick_along

__all__ = ["gather", "index_select", "masked_select", "take"]


def integers(index: Any, what: str, *, length: int | None = None, wide: bool = False) -> None:
    """See that an index is made of integers that are there.

    Raises:
        RuntimeError: Other dtypes than int64 (or int32, unless `wide`).
        IndexError: An index that is out of range.
    """
    narrow = index.dtype.kind not in "iu" or index.dtype.itemsize < (8 if wide else 4)
    if narrow and (index.size or index.dtype.kind in "bfc"):
        raise RuntimeError(f"{what}(): Expected dtype int64 for index, not {index.dtype}")
    if length is not None and index.size and not along.within(index, length):
        unsigned = index.view(f"u{index.itemsize}")  # in which what is below 0 is large
        if np.maximum.reduce(unsigned, axis=None) >= length:
            wrong = index.min() if index.min() < 0 else index.max()
            raise IndexError(f"index {wrong} is out of bounds for a dim of size {length}")


def raw(value: Any) -> Any:
    """The array of a tensor, to be looked at outside the graph."""
    return getattr(value, "array", value) if hasattr(value, "wants_grad") else value


def _to_gather(input: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Any:
    places = raw(index)
    shape = tuple(input.shape)
    dim = one(dim, len(shape))
    if places.size and places.shape != shape:
        if len(shape or (1,)) != len(places.shape or (1,)):
            raise RuntimeError(
                "gather(): Index tensor must have the same number of dimensions as input tensor: "
                f"{tuple(places.shape)} and {shape}"
            )
        wider = [i for i, size in enumerate(places.shape) if i != dim and shape and size > shape[i]]
        if wider:
            raise RuntimeError(
                f"gather(): Size does not match at dimension {wider[0]}: expected index {tuple(places.shape)} to be no "
                f"larger than self {shape} apart from dimension {dim}"
            )
    try:
        integers(places, "gather", length=shape[dim] if shape else 1)
    except IndexError as error:
        raise RuntimeError(f"gather: {error}") from None
    return (input, index), {"dim": dim, "_from": shape}


def _gather(x: Any, y: Any, *, dim: int, _from: tuple[int, ...]) -> Any:
    if not x.ndim or not y.ndim:
        return np.asarray(x).reshape(-1)[y]
    if not y.size:
        return np.empty(y.shape, x.dtype)
    out = along.picked(x, y, dim)
    if out is not None:
        return out
    part = tuple(slice(None) if place == dim else slice(size) for place, size in enumerate(y.shape))
    return pick_along(x[part], y, dim)


gather: Any = define(
    "gather", "Elements picked along a dim: at each place, the one at the index there.",
    formula="out[i, j] = x[i, y[i, j]]", promotes=False,
    prepare=_to_gather,
    forward=_gather,
    vjp=[lambda g, y, *, dim, _from: gathered(g, y, dim, _from),
         None],
    shape=lambda x, y, **_: y,
    samples=[((2, 3), 1, np.array([[0, 2], [1, 1]])), ((3, 2), 0, np.array([[0, 2]])),
             ((3,), -1, np.array([2, 2, 0, 1])), ((), 0, np.array(0))],
)  # fmt: skip


def _gathered(x: Any, y: Any, *, dim: int, shape: tuple[int, ...]) -> Any:
    if not shape:
        return np.add.reduce(x, None)
    if not y.ndim:
        x, y = np.reshape(x, 1), np.reshape(y, 1)
    out = along.added(x, y, dim, shape)
    if out is not None:
        return out
    if y.shape[dim] == 1:  # no place twice
        out = np.zeros(shape, x.dtype)
        part = tuple(slice(None) if place == dim else slice(size) for place, size in enumerate(y.shape))
        np.put_along_axis(out[part], y, x, dim)
        return out
    return add_along(x, y, dim, shape)


gathered: Any = define(
    "gathered", "Elements added up at an index along a dim, in a tensor of zeros: what gather takes back.",
    formula="out[i, y[i, j]] += x[i, j]", tensor_method=False, promotes=False, grad_name="ScatterAddBackward0",
    prepare=lambda x, y, dim, shape: ((x, y), {"dim": dim, "shape": tuple(shape)}),
    forward=_gathered,
    vjp=[lambda g, y, *, dim: gather(g, dim, y),
         None],
    shape=shapes.given,
    samples=[((2, 2), np.array([[0, 2], [1, 1]]), {"dim": 1, "shape": (2, 3)}),
             ((1, 2), np.array([[0, 2]]), {"dim": 0, "shape": (3, 2)})],
)  # fmt: skip


def _to_selection(input: Any, dim: int, index: Any) -> Any:
    places = raw(index)
    shape = tuple(input.shape)
    dim = one(dim, len(shape))
    if len(places.shape) > 1:
        raise IndexError(f"index_select(): Index is supposed to be a vector, not of shape {tuple(places.shape)}")
    integers(places, "index_select", length=shape[dim] if shape else 1)
    return (input, index), {"dim": dim, "_from": shape}


def _select(x: Any, y: Any, *, dim: int, _from: Any) -> Any:
    return np.take(x, y if y.ndim else y.reshape(1), dim) if x.ndim else x.copy()


index_select: Any = define(
    "index_select", "Slices along a dim, picked by a vector of indices.", formula="out[i] = x[y[i]]", promotes=False,
    prepare=_to_selection,
    forward=_select,
    vjp=[lambda g, y, *, dim, _from: selected(g, y, dim, _from),
         None],
    shape=lambda x, y, *, dim, **_: shapes.resized(x, dim, y[0] if y else 1) if x else x,
    samples=[((3, 2), 0, np.array([0, 2, 2])), ((2, 3), -1, np.array([1])), ((), 0, np.array([0]))],
)  # fmt: skip


def _selected(x: Any, y: Any, *, dim: int, shape: tuple[int, ...]) -> Any:
    if not shape:
        return x
    rows = np.ascontiguousarray(np.moveaxis(x, dim, 0))
    return np.moveaxis(add_rows(rows, y.reshape(-1), shape[dim]), 0, dim)


selected: Any = define(
    "selected", "Slices added up at an index along a dim, in a tensor of zeros: what index_select takes back.",
    formula="out[y[i]] += x[i]", tensor_method=False, promotes=False, grad_name="IndexAddBackward0",
    prepare=lambda x, y, dim, shape: ((x, y), {"dim": dim, "shape": tuple(shape)}),
    forward=_selected,
    vjp=[lambda g, y, *, dim: index_select(g, dim, y),
         None],
    shape=shapes.given,
    samples=[((3, 2), np.array([0, 2, 2]), {"dim": 0, "shape": (3, 2)})],
)  # fmt: skip


def _to_take(input: Any, index: Any) -> Any:
    places = raw(index)
    integers(places, "take", wide=True)
    total = math.prod(input.shape)
    if places.size and (places.min() < -total or places.max() >= total):
        raise IndexError(f"take(): out of range: indices of {total} elements go from {-total} to {total - 1}")
    return (input, index), {"_from": tuple(input.shape)}


take: Any = define(
    "take", "Elements at an index that counts them all in a row.", formula="out[i] = x.flatten()[y[i]]", promotes=False,
    prepare=_to_take,
    forward=lambda x, y, *, _from: np.reshape(x, -1)[y],
    vjp=[lambda g, y, *, _from: taken(g, y, _from),
         None],
    shape=lambda x, y, **_: y,
    samples=[((2, 3), np.array([[0, -1], [4, 4]])), ((3,), np.array(1))],
)  # fmt: skip


def _taken(x: Any, y: Any, *, shape: tuple[int, ...]) -> Any:
    out = add_up(np.asarray(x), np.asarray(y % max(math.prod(shape), 1)), shape)
    return out if shape else out[()]


taken: Any = define(
    "taken", "Elements added up at an index that counts all places in a row: what take takes back.",
    formula="out.flatten()[y[i]] += x[i]", tensor_method=False, promotes=False, grad_name="PutBackward0",
    prepare=lambda x, y, shape: ((x, y), {"shape": tuple(shape)}),
    forward=_taken,
    vjp=[lambda g, y: take(g, y),  # noqa: PLW0108 - rules are read by the names of their parameters
         None],
    shape=shapes.given,
    samples=[((2, 2), np.array([[0, -1], [4, 4]]), {"shape": (2, 3)})],
)  # fmt: skip


def _to_masked(input: Any, mask: Any) -> Any:
    if mask.dtype.kind != "b":
        raise RuntimeError(f"masked_select: expected BoolTensor for mask, not {mask.dtype}")
    return (input, mask), {"_from": tuple(input.shape)}


def _masked(x: Any, y: Any, *, _from: Any) -> Any:
    x, y = np.broadcast_arrays(x, y)
    return x[y]


def _unmasked(x: Any, y: Any, *, shape: tuple[int, ...]) -> Any:
    wide = np.broadcast_shapes(shape, y.shape)
    out = np.zeros(wide, x.dtype)
    out[np.broadcast_to(y, wide)] = x
    return out if out.ndim else out[()]


masked_select: Any = define(
    "masked_select", "The elements where a mask holds, in a row.", formula="out = x[y]", promotes=False,
    prepare=_to_masked,
    forward=_masked,
    vjp=[lambda g, y, *, _from: unmasked(g, y, _from),
         None],
    shape=lambda x, y, **_: (None,),
    samples=[((2, 3), np.array([[True, False, True], [False, True, True]])), ((2, 3), np.array([True, False, True])),
             ((3,), np.array([[True, False, True], [False, True, True]])), ((), np.array(True))],
)  # fmt: skip

unmasked: Any = define(
    "unmasked", "A row of elements put where a mask holds, in a tensor of zeros: what masked_select takes back.",
    formula="out[y] = x", tensor_method=False, promotes=False, grad_name="MaskedScatterBackward0",
    prepare=lambda x, y, shape: ((x, y), {"shape": tuple(shape)}),
    forward=_unmasked,
    vjp=[lambda g, y: masked_select(g, y),  # noqa: PLW0108 - see take
         None],
    shape=lambda x, y, *, shape: shapes.broadcast(shape, y),
    samples=[((3,), np.array([True, False, True, True]), {"shape": (4,)})],
)  # fmt: skip
