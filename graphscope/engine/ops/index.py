"""Indexing with brackets, and choosing between two tensors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphscope.engine.core import dtypes, selection, shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.indexing import alone, has_repeats, in_two_steps, is_basic, plain
from graphscope.engine.core.op import OPS
from graphscope.engine.core.row_sums import add_rows, add_up
from graphscope.engine.core.tensor import Tensor, apply

__all__ = [
    "where",
]


def marked(shape: tuple[int, ...], index: Any) -> np.ndarray:
    """True at the index, False elsewhere."""
    mask = np.zeros(shape, bool)
    mask[index] = True
    return mask


def _put(g: Any, *, index: Any, shape: tuple[int, ...]) -> Any:
    if has_repeats(index):
        return add_up(g, np.arange(math.prod(shape)).reshape(shape)[index], shape)
    out = np.zeros(shape, g.dtype)
    out[index] = g
    return out


put = define(
    "put", "A tensor of zeros with x added at an index: what getitem takes back.", formula="out = 0; out[index] += x",
    torch=None, tensor_method=False,
    prepare=lambda x, index, shape: ((x,), {"index": plain(index), "shape": tuple(shape)}),
    forward=_put,
    vjp=[lambda g, *, index: getitem(g, index)],
    shape=shapes.given,
    samples=[((2,), {"index": 1, "shape": (3, 2)}), ((3,), {"index": np.array([0, 2, 0]), "shape": (4,)})],
)  # fmt: skip


def _getitem_name(attrs: Any) -> str:
    index = attrs["index"]
    if not is_basic(index):
        return "IndexBackward0"
    last = index[-1] if isinstance(index, tuple) and index else index
    return "SelectBackward0" if isinstance(last, int) else "SliceBackward0"


def _elements(x: Any, *_: Any, index: Any, _from: Any) -> Any:
    # The tensors of the index are inputs, so that the log shows them.
    out = x[index]
    if out.__class__ is np.ndarray or x.__class__ is not np.ndarray:
        return out
    return x[(*index, ...) if isinstance(index, tuple) else (index, ...)]  # not a number, but a view of its place


getitem: Any = define(
    "getitem", "Elements at an index: integers, slices, None, ellipsis, integer or boolean arrays.",
    tensor_method=False, view=True, promotes=False,
    grad_name=_getitem_name,
    prepare=lambda x, index: ((x,), {"index": plain(index), "_from": x.shape}),
    forward=_elements,
    vjp=[lambda g, *, index, _from: put(g, index, _from),
         None],
    shape=shapes.indexed,
    samples=[((3, 4), {"index": (slice(0, 2), 1)}), ((3, 4), {"index": np.array([0, 2, 0])}), ((5,), {"index": -1}),
             ((3, 4), {"index": (Ellipsis, None, 2)}), ((2, 2), {"index": np.array([[True, False], [True, True]])}),
             ((3, 4), {"index": (np.array([0, 2]), np.array([1, 1]))}), ((), {"index": (None, Ellipsis)})],
)  # fmt: skip


def _at(x: Any, y: Any, *, dim: int, _from: Any) -> Any:
    if y.dtype.kind == "b":
        return x[(slice(None),) * dim + (y,)]
    return x.take(y, dim)


def _unindexed(x: Any, y: Any, *, dim: int, shape: tuple[int, ...]) -> Any:
    if y.dtype.kind == "b":
        out = np.zeros(shape, x.dtype)
        out[(slice(None),) * dim + (y,)] = x
        return out
    rows = np.moveaxis(x, range(dim, dim + y.ndim), range(y.ndim)).reshape(y.size, *shape[:dim], *shape[dim + 1 :])
    return np.moveaxis(add_rows(rows, y.reshape(-1) % max(shape[dim], 1), shape[dim]), 0, dim)


def _index_shape(x: Any, y: Any, *, dim: int, **_: Any) -> Any:
    return (*x[:dim], *y, *x[dim + 1 :])


index: Any = define(
    "index", "Elements at an index tensor, which stands for one dim; or (of booleans) where it holds.",
    formula="out = x[y]", tensor_method=False, promotes=False, torch=None,
    prepare=lambda x, y, dim=0: ((x, y), {"dim": dim, "_from": tuple(x.shape)}),
    forward=_at,
    vjp=[lambda g, y, *, dim, _from: unindexed(g, y, dim, _from),
         None],
    shape=_index_shape,
    samples=[((3, 4), np.array([0, 2, 0])), ((3, 4), np.array([[0, -1], [1, 1]]), {"dim": 1}),
             ((2, 3, 2), np.array([2, 2]), {"dim": 1})],
)  # fmt: skip

unindexed: Any = define(
    "unindexed", "A tensor of zeros with x added at an index tensor: what index takes back.",
    formula="out = 0; out[y] += x", tensor_method=False, promotes=False, grad_name="IndexPutBackward0",
    prepare=lambda x, y, dim, shape: ((x, y), {"dim": dim, "shape": tuple(shape)}),
    forward=_unindexed,
    vjp=[lambda g, y, *, dim: index(g, y, dim),
         None],
    shape=shapes.given,
    samples=[((3, 4), np.array([0, 2, 0]), {"dim": 0, "shape": (3, 4)}),
             ((2, 2, 2), np.array([[0, 1], [1, 1]]), {"dim": 1, "shape": (2, 3)})],
)  # fmt: skip

_GETITEM, _INDEX = OPS["getitem"], OPS["index"]


def _get(self: Tensor, key: Any) -> Any:
    where_ = plain(key)
    if where_.__class__ is int:
        return apply(_GETITEM, (self,), {"index": where_, "_from": self.array.shape})
    if is_basic(where_):
        return apply(_GETITEM, (self, *tensors_of(key)), {"index": where_, "_from": self.array.shape})
    steps = in_two_steps(where_)
    if steps is not None:
        return _get(apply(_GETITEM, (self,), {"index": steps[0], "_from": self.array.shape}), steps[1])
    single = alone(where_)
    if single is not None and _fits(self.array, *single):
        array, dim = single
        given = key[-1] if isinstance(key, tuple) else key
        same = isinstance(given, Tensor) and given.array is array
        return apply(_INDEX, (self, given if same else Tensor(array)), {"dim": dim, "_from": self.array.shape})
    return apply(_GETITEM, (self, *tensors_of(key)), {"index": where_, "_from": self.array.shape})


def tensors_of(key: Any) -> list[Tensor]:
    """The tensors that stand in an index."""
    parts = key if isinstance(key, tuple | list) else (key,)
    return [part for part in parts if isinstance(part, Tensor)]


def _fits(x: Any, array: np.ndarray, dim: int) -> bool:
    """Whether the index can be taken as it is; what can't is left to `getitem`, which says why."""
    if x.ndim <= dim:
        return False
    if array.dtype.kind == "b":
        return bool(array.shape == x.shape[dim : dim + array.ndim])
    return bool(x.shape[dim])


setattr(Tensor, "__getitem__", _get)  # noqa: B010


def _where(x: Any, y: Any, z: Any) -> Any:
    one, other = getattr(y, "dtype", None), getattr(z, "dtype", None)
    dtype: Any = one if one is other is not None else dtypes.result_type((y, z))
    y, z = dtypes.wide_element(y, dtype), dtypes.wide_element(z, dtype)
    return selection.choose(x, y, z, dtype)


def _to_where(condition: Any, input: Any, other: Any) -> Any:
    if isinstance(condition, np.ndarray) and (isinstance(input, Tensor) or isinstance(other, Tensor)):
        condition = Tensor(condition)
    if hasattr(condition, "dtype") and condition.dtype.kind != "b" and condition.dtype.type is not np.uint8:
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype {condition.dtype}"
        )
    return (condition, input, other), {}


choose: Any = define(
    "where", "Elements of y where x holds, else of z.", formula="out = y if x else z",
    tensor_method=False, promotes=False,
    prepare=_to_where,
    forward=_where,
    vjp=[None,
         lambda g, x: choose(x, g, 0.0),
         lambda g, x: choose(x, 0.0, g)],
    shape=shapes.broadcast,
    samples=[("condition", (2, 3), (2, 3), (2, 3)), ("condition", (3,), (2, 3), (2, 1)),
             ("condition", (2, 3), (), 0.5)],
)  # fmt: skip


def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """Elements of `input` where the condition holds, else of `other`; with the condition alone, where it holds.

    Returns:
        A tensor; of the condition alone, a tuple of the indices of each dim.
    """
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    if any(isinstance(value, Tensor) and value.requires_grad for value in (input, other)):
        dtype = dtypes.result_type([getattr(value, "array", value) for value in (input, other)])
        input, other = dtypes.converted((input, other), dtype)
    return choose(condition, input, other)


setattr(Tensor, "where", lambda self, condition, other: where(condition, self, other))  # noqa: B010
