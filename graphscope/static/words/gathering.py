"""Elements by their places, and places by their elements."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graphscope.engine import nonzero as _nonzero
from graphscope.engine.core.tensor import Tensor
from graphscope.errors import StaticError
from graphscope.static.words.offering import offer
from graphscope.static.words.operands import axes, listed, of_dtype, of_kinds, op, pair, tensor, whole


def _index(indices: Any) -> Any:
    return op("to", of_kinds(indices, "iu"), np.dtype(np.int64))


def _rows(x: Any, index: Any, dim: int) -> Any:
    """The slices along a dim at these indices, in their shape."""
    if index.ndim == 1:
        return op("index_select", x, dim, index)
    found = op("index_select", x, dim, op("reshape", index, (-1,)))
    return op("reshape", found, (*x.shape[:dim], *index.shape, *x.shape[dim + 1 :]))


@offer("gather", type="GatherV2")
def gather(
    params: Any, indices: Any, validate_indices: Any = None, name: Any = None, axis: Any = None, batch_dims: Any = 0
) -> Any:
    """The slices along `axis` at these indices, in their shape."""
    x, index = tensor(params), _index(indices)
    if batch_dims:
        return _of_each(x, index, batch_dims, axis)
    (dim,) = axes(0 if axis is None else whole(axis), x.ndim)
    return _rows(x, index, dim)


def _of_each(x: Any, index: Any, batch: int, axis: Any) -> Any:
    """As `gather`, of each of a batch by itself."""
    if batch != 1 or axis not in (None, 1):
        raise StaticError(f"gather takes batch_dims=1 here, not {batch} with axis {axis}", hint="reshape to one batch")
    return op(
        "stack", [_rows(one, at, 0) for one, at in zip(op("unbind", x, 0), op("unbind", index, 0), strict=True)], 0
    )


@offer("batch_gather", type="GatherV2", node="BatchGather")
def batch_gather(params: Any, indices: Any, name: Any = None) -> Any:
    """For each of a batch, the slices at its own indices."""
    return _of_each(tensor(params), _index(indices), 1, None)


@offer("nn.embedding_lookup", type="Identity", node="embedding_lookup")
def embedding_lookup(
    params: Any, ids: Any, partition_strategy: str = "mod", name: Any = None, validate_indices: bool = True,
    max_norm: Any = None,
) -> Any:  # fmt: skip
    """The rows of a table at these indices, in their shape."""
    if max_norm is not None:
        raise StaticError("embedding_lookup takes no max_norm here", hint="tf.clip_by_norm(rows, max_norm, axes=[-1])")
    if isinstance(params, list | tuple):
        if len(params) != 1:
            raise StaticError("embedding_lookup takes one table here", hint="tf.concat(tables, 0)")
        (params,) = params
    return gather(params, ids)


def _flat(index: Any, shape: Any) -> Any:
    """Indices of several dims as one of the rows behind them."""
    weights = np.cumprod([1, *reversed(shape[1:])])[::-1].copy()
    return op("sum", op("mul", index, Tensor(weights.astype(np.int64))), -1)


@offer("gather_nd", "manip.gather_nd", type="GatherNd")
def gather_nd(params: Any, indices: Any, name: Any = None, batch_dims: Any = 0) -> Any:
    """The elements or slices at places of several dims."""
    x, index = tensor(params), _index(indices)
    if batch_dims:
        raise StaticError("gather_nd takes no batch_dims here", hint="reshape to one batch")
    depth = index.shape[-1]
    rows = op("reshape", x, (-1, *x.shape[depth:]))
    flat = _flat(index, tuple(x.shape[:depth]))
    return _rows(rows, flat, 0) if flat.ndim else op("squeeze", _rows(rows, op("reshape", flat, (1,)), 0), 0)


@offer("scatter_nd", "manip.scatter_nd", type="ScatterNd")
def scatter_nd(indices: Any, updates: Any, shape: Any, bad_indices_policy: str = "", name: Any = None) -> Any:
    """Zeros to which these are added, each at its place."""
    _no_policy(bad_indices_policy)
    values, sizes = tensor(updates), listed(shape)
    return _scattered(Tensor(np.zeros(tuple(sizes), values.dtype)), _index(indices), values)


def _no_policy(policy: str) -> None:
    if policy:
        raise StaticError(f"bad_indices_policy={policy!r} is not here", hint="leave it out, and give places there are")


def _scattered(x: Any, index: Any, values: Any) -> Any:
    depth = index.shape[-1]
    inner = tuple(x.shape[depth:])
    flat = op("reshape", _flat(index, tuple(x.shape[:depth])), (-1,))
    rows = op("index_add", op("reshape", x, (-1, *inner)), 0, flat, op("reshape", values, (-1, *inner)))
    return op("reshape", rows, tuple(x.shape))


@offer("tensor_scatter_nd_add", "tensor_scatter_add", type="TensorScatterAdd")
def tensor_scatter_add(tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: Any = None) -> Any:
    """The tensor with these added, each at its place."""
    _no_policy(bad_indices_policy)
    x = of_kinds(tensor, "fiu")
    return _scattered(x, _index(indices), of_kinds(updates, "fiu", x.dtype))


@offer("boolean_mask", type="GatherV2", node="boolean_mask")
def boolean_mask(tensor: Any, mask: Any, name: Any = "boolean_mask", axis: Any = None) -> Any:
    """Where the mask holds, the elements or rows."""
    x, here = of_kinds(tensor, "fiucb"), of_kinds(mask, "b")
    if here.ndim == 0:
        raise StaticError("the mask of boolean_mask is a lone truth value", hint="give one for each row")
    (dim,) = axes(0 if axis is None else axis, x.ndim)
    if tuple(here.shape) != tuple(x.shape[dim : dim + here.ndim]) and None not in (*here.shape, *x.shape):
        raise StaticError(
            f"a mask of shape {tuple(here.shape)} does not fit shape {tuple(x.shape)} from dim {dim} on",
            hint="give one truth value for each row, or for each element",
        )
    return x[(slice(None),) * dim + (here,)]


@offer("where", type="Select", node="Select")
def where(condition: Any, x: Any = None, y: Any = None, name: Any = None) -> Any:
    """X where it holds and y elsewhere; of the condition alone, the places where it holds."""
    holds = tensor(condition)
    if x is None and y is None:
        return _nonzero(holds)
    if x is None or y is None:
        raise StaticError("where takes both x and y, or neither", hint="tf.where(mask, x, tf.zeros_like(x))")
    holds = of_kinds(holds, "b")
    one = tensor(x)
    other = tensor(y, one.dtype)
    if tuple(one.shape) != tuple(other.shape):
        raise StaticError(
            f"where chooses between shapes {tuple(one.shape)} and {tuple(other.shape)}", hint="tf.where_v2 broadcasts"
        )
    if holds.ndim == 1 and one.ndim > 1 and holds.shape[0] in (None, one.shape[0]):
        holds = op("reshape", holds, (-1, *[1] * (one.ndim - 1)))
    elif holds.ndim and tuple(holds.shape) != tuple(one.shape):
        raise StaticError(
            f"a condition of shape {tuple(holds.shape)} does not fit shape {tuple(one.shape)}",
            hint="one for each element, or one for each row; tf.where_v2 broadcasts",
        )
    return op("where", holds, one, other)


@offer("where_v2", type="SelectV2")
def where_v2(condition: Any, x: Any = None, y: Any = None, name: Any = None) -> Any:
    """As `where`, of what broadcasts."""
    if x is None and y is None:
        return _nonzero(tensor(condition))
    one, other = pair(x, y)
    return op("where", of_kinds(condition, "b"), one, other)


# In order -------------------------------------------------------------------------------------------------------------


class TopKV2(NamedTuple):
    """The largest elements, and where they were."""

    values: Any
    indices: Any


@offer("nn.top_k", "math.top_k", type="TopKV2")
def top_k(input: Any, k: Any = 1, sorted: bool = True, index_type: Any = np.int32, name: Any = None) -> Any:
    """The largest elements along the last dim, and where they were."""
    x = of_kinds(input, "fiu")
    values, places = op("topk", x, whole(k), -1)
    return TopKV2(values, op("to", places, of_dtype(index_type)))


@offer("nn.in_top_k", "math.in_top_k", type="InTopKV2", node="in_top_k")
def in_top_k(predictions: Any, targets: Any, k: Any, name: Any = None) -> Any:
    """Whether for each row the target is among the k largest."""
    x, index = of_kinds(predictions, "f"), _index(targets)
    own = op("gather", x, 1, op("unsqueeze", index, 1))
    return op("lt", op("sum", op("to", op("gt", x, own), np.dtype(np.int32)), (1,), False), whole(k))


def _ordered(values: Any, axis: Any, direction: str) -> Any:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise StaticError(f"direction={direction!r} is none", hint="ASCENDING or DESCENDING")
    x = tensor(values)
    return op("sort", x, axes(axis, x.ndim)[0], direction == "DESCENDING", stable=True)


@offer("sort", type="Neg", node="sort")
def sort(values: Any, axis: int = -1, direction: str = "ASCENDING", name: Any = None) -> Any:
    """The elements along a dim in order."""
    return _ordered(values, axis, direction)[0]


@offer("argsort", type="TopKV2", node="argsort")
def argsort(values: Any, axis: int = -1, direction: str = "ASCENDING", stable: bool = False, name: Any = None) -> Any:
    """The places of the elements along a dim, in their order."""
    return op("to", _ordered(values, axis, direction)[1], np.dtype(np.int32))


class Unique(NamedTuple):
    """The different elements as they first came, and for each element its number."""

    y: Any
    idx: Any


class UniqueWithCounts(NamedTuple):
    """As `Unique`, with how often each is there."""

    y: Any
    idx: Any
    count: Any


def _different(x: Any, out_idx: Any) -> tuple[Any, Any, Any]:
    numbers = np.asarray(whole(x)) if x.dtype.kind in "iu" else np.asarray(x.tolist())
    _, first, inverse, counts = np.unique(numbers, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    wanted = of_dtype(out_idx)
    places = np.argsort(order)[inverse]
    return (
        op("index_select", x, 0, Tensor(first[order])),
        Tensor(places.astype(wanted)),
        Tensor(counts[order].astype(wanted)),
    )


@offer("unique", type="Unique")
def unique(x: Any, out_idx: Any = np.int32, name: Any = None) -> Any:
    """The different elements as they first came, and for each element its number."""
    return Unique(*_different(tensor(x), out_idx)[:2])


@offer("unique_with_counts", type="UniqueWithCounts")
def unique_with_counts(x: Any, out_idx: Any = np.int32, name: Any = None) -> Any:
    """As `unique`, with how often each is there."""
    return UniqueWithCounts(*_different(tensor(x), out_idx))


# By segments ----------------------------------------------------------------------------------------------------------


@offer("unsorted_segment_sum", "math.unsorted_segment_sum", type="UnsortedSegmentSum")
def unsorted_segment_sum(data: Any, segment_ids: Any, num_segments: Any, name: Any = None) -> Any:
    """The sums of the rows of each number."""
    x = of_kinds(data, "fiu")
    zeros = Tensor(np.zeros((whole(num_segments), *x.shape[1:]), x.dtype))
    return op("index_add", zeros, 0, _index(segment_ids), x)


@offer("segment_sum", "math.segment_sum", type="SegmentSum")
def segment_sum(data: Any, segment_ids: Any, name: Any = None) -> Any:
    """As `unsorted_segment_sum`, of numbers that never fall."""
    return unsorted_segment_sum(data, segment_ids, max(whole(tensor(segment_ids))) + 1)


@offer("segment_mean", "math.segment_mean", type="SegmentMean")
def segment_mean(data: Any, segment_ids: Any, name: Any = None) -> Any:
    """The means of the rows of each number."""
    x, total = of_kinds(data, "f"), segment_sum(data, segment_ids)
    counts = np.maximum(np.bincount(whole(tensor(segment_ids))), 1).astype(x.dtype)
    return op("div", total, Tensor(counts.reshape(-1, *[1] * (x.ndim - 1))))


@offer("bincount", "math.bincount", type="Bincount", node="bincount")
def bincount(
    arr: Any, weights: Any = None, minlength: Any = None, maxlength: Any = None, dtype: Any = np.int32
) -> Any:  # fmt: skip
    """How often each number is there."""
    if weights is not None or maxlength is not None:
        raise StaticError("bincount takes neither weights nor maxlength here", hint="tf.unsorted_segment_sum")
    return op("to", op("bincount", _index(arr), minlength=whole(minlength) or 0), of_dtype(dtype))
