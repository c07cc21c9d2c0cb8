"""Masks and indices as wholes: filling where a mask holds, writing at tuples of indices, finding what is not 0."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphscope.engine.core import dtypes, shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.indexing import plain
from graphscope.engine.core.row_sums import add_up
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.gathering import masked_select, taken
from graphscope.engine.ops.index import choose, getitem, marked, tensors_of

__all__ = ["argwhere", "index_put", "masked_fill", "masked_scatter", "nonzero"]


def _to_fill(input: Any, mask: Any, value: Any) -> Any:
    if mask.dtype.kind != "b":
        raise RuntimeError(f"masked_fill only supports boolean masks, but got mask with dtype {mask.dtype}")
    if getattr(value, "shape", ()):
        raise RuntimeError(f"masked_fill only supports a 0-dimensional value tensor, not shape {tuple(value.shape)}")
    return (input, mask, value), {}


def _fill(x: Any, y: Any, z: Any) -> Any:
    return np.where(y, x.dtype.type(dtypes.element(z, x.dtype)), x)[()]


masked_fill: Any = define(
    "masked_fill", "A copy of x with a number z where a mask y holds.", formula="out = z if y else x", promotes=False,
    prepare=_to_fill,
    forward=_fill,
    vjp=[lambda g, y: choose(y, 0.0, g),
         None,
         lambda g, y: choose(y, g, 0.0)],
    shape=shapes.broadcast,
    samples=[((2, 3), np.array([[True, False, True], [False, True, True]]), 0.5),
             ((2, 3), np.array([True, False, True]), ()), ((3,), np.array([[True], [False]]), -1.0),
             ((), np.array(True), 2.0)],
)  # fmt: skip


def _to_mask(input: Any, mask: Any, source: Any) -> Any:
    if mask.dtype.kind != "b":
        raise RuntimeError(f"masked_scatter_ only supports boolean masks, but got mask with dtype {mask.dtype}")
    if source.dtype != input.dtype:
        raise RuntimeError(
            f"masked_scatter: expected self and source to have same dtypes: {input.dtype}, {source.dtype}"
        )
    return (input, mask, source), {}


def _masked_scatter(x: Any, y: Any, z: Any) -> Any:
    x, y = np.broadcast_arrays(x, y)
    count = np.count_nonzero(y)
    if z.size < count:
        raise RuntimeError(f"masked_scatter: source has {z.size} elements, but the mask holds at {count} places")
    out = np.array(x)
    out[y] = z.reshape(-1)[:count]
    return out[()]


def _source_rule(g: Any, y: Any, z: Any) -> Any:
    given = masked_select(g, y)
    if z.shape == given.shape:
        return given
    whole = np.arange(math.prod(given.shape))
    return placed(given, whole, z.shape)


masked_scatter = define(
    "masked_scatter", "A copy of x with the elements of z, one after the other, where a mask y holds.",
    formula="out = x; out[y] = z", promotes=False,
    prepare=_to_mask,
    forward=_masked_scatter,
    vjp=[lambda g, y: choose(y, 0.0, g),
         None,
         _source_rule],
    shape=lambda x, y, z: shapes.broadcast(x, y),
    samples=[((2, 3), np.array([[True, False, True], [False, True, True]]), (2, 3)),
             ((3,), np.array([True, False, True]), (2,))],
)  # fmt: skip


def placed(x: Any, index: Any, shape: Any) -> Any:
    """Elements put into zeros of a shape, at places counted in a row."""
    return taken(x, index if isinstance(x, np.ndarray) else Tensor(index), shape)


def _to_index_put(input: Any, indices: Sequence[Any], values: Any, accumulate: bool = False) -> Any:
    if values.dtype != input.dtype:
        raise RuntimeError(
            f"Index put requires the source and destination dtypes match, got {input.dtype} for the destination and "
            f"{values.dtype} for the source."
        )
    index = plain(tuple(slice(None) if part is None else part for part in indices))
    return (input, values, *tensors_of(list(indices))), {"index": index, "accumulate": accumulate}


def _index_put(x: Any, y: Any, *_: Any, index: Any, accumulate: bool) -> Any:
    out = np.array(x)
    if accumulate:
        places = np.arange(out.size).reshape(out.shape)[index]
        out = out + add_up(np.ascontiguousarray(np.broadcast_to(y, places.shape)), places, out.shape)
    else:
        out[index] = y
    return out[()]


def _kept(g: Any, *, index: Any, accumulate: bool) -> Any:
    return g if accumulate else choose(marked(g.shape, index), 0.0, g)


index_put = define(
    "index_put", "A copy of x with y written at a tuple of index tensors, or added there.",
    formula="out = x; out[indices] = y", promotes=False,
    prepare=_to_index_put,
    forward=_index_put,
    vjp=[_kept,
         lambda g, *, index: getitem(g, index),
         None],
    shape=shapes.same,
    samples=[((3, 4), [np.array([0, 2]), np.array([1, 1])], (2,), {}),
             ((3, 4), [np.array([0, 0])], (4,), {"accumulate": True})],
)  # fmt: skip


_nonzero = define(
    "nonzero", "The indices of all elements that are not 0, as rows.", formula="out = {i: x[i] ≠ 0}",
    tensor_method=False,
    forward=lambda x: np.argwhere(x) if x.ndim else np.zeros((int(x != 0), 0), np.int64),
    vjp=[None],
    shape=lambda x: (None, len(x)),
    samples=[((2, 3),), (np.array([0, 1, 0, 2]),), ((),)],
)  # fmt: skip


def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """The indices of all elements that are not 0, as rows; or, as a tuple, those of each dim."""
    found = _nonzero(input)
    if not as_tuple:
        return found
    return tuple(found[:, place] for place in range(max(len(input.shape), 1))) if input.shape else (found.sum(1),)


def argwhere(input: Any) -> Any:
    """The indices of all elements that are not 0, as rows."""
    return _nonzero(input)


setattr(Tensor, "nonzero", nonzero)  # noqa: B010
setattr(Tensor, "argwhere", argwhere)  # noqa: B010
