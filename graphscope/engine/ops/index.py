"""Indexing and joining: picking elements out of tensors, choosing between them, putting tensors together."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np

from graphscope.engine import dtypes
from graphscope.engine.calls import define
from graphscope.engine.tensor import Tensor

__all__ = [
    "cat",
    "stack",
    "where",
]


def plain(index: Any) -> Any:
    """An index in which tensors and lists are arrays."""
    if isinstance(index, Tensor):
        return index.data
    if isinstance(index, tuple):
        return tuple(plain(part) for part in index)
    if isinstance(index, list):
        return np.array([plain(part) for part in index])
    return index


def _is_basic(index: Any) -> bool:
    parts = index if isinstance(index, tuple) else (index,)
    return not any(isinstance(part, np.ndarray) for part in parts)


def marked(shape: tuple[int, ...], index: Any) -> np.ndarray:
    """True at the index, False elsewhere."""
    mask = np.zeros(shape, bool)
    mask[index] = True
    return mask


def _put(g: Any, *, index: Any, shape: tuple[int, ...]) -> Any:
    out = np.zeros(shape, g.dtype)
    if _is_basic(index):
        out[index] = g
    else:
        np.add.at(out, index, g)
    return out


put = define(
    "put", "A tensor of zeros with x added at an index: what getitem takes back.", formula="out = 0; out[index] += x",
    tensor_method=False,
    prepare=lambda x, index, shape: ((x,), {"index": plain(index), "shape": tuple(shape)}),
    forward=_put,
    vjp=[lambda g, *, index: getitem(g, index)],
    samples=[((2,), {"index": 1, "shape": (3, 2)}), ((3,), {"index": np.array([0, 2, 0]), "shape": (4,)})],
)  # fmt: skip


def _getitem_name(attrs: Any) -> str:
    index = attrs["index"]
    if not _is_basic(index):
        return "IndexBackward0"
    last = index[-1] if isinstance(index, tuple) and index else index
    return "SelectBackward0" if isinstance(last, int) else "SliceBackward0"


getitem: Any = define(
    "getitem", "Elements at an index: integers, slices, None, ellipsis, integer or boolean tensors.",
    formula="out = x[index]", aliases=("__getitem__",), tensor_method=False, view=True,
    grad_name=_getitem_name,
    prepare=lambda x, index: ((x,), {"index": plain(index), "_from": x.shape}),
    forward=lambda x, *, index, _from: x[index],
    vjp=[lambda g, *, index, _from: put(g, index, _from)],
    samples=[((3, 4), {"index": (slice(0, 2), 1)}), ((3, 4), {"index": np.array([0, 2, 0])}), ((5,), {"index": -1}),
             ((3, 4), {"index": (Ellipsis, None, 2)}), ((2, 2), {"index": np.array([[True, False], [True, True]])})],
)  # fmt: skip


def _where(x: Any, y: Any, z: Any) -> Any:
    return np.where(x, y, z).astype(dtypes.result_type((y, z)), copy=False)[()]


def _to_where(condition: Any, x: Any, y: Any) -> Any:
    if isinstance(condition, np.ndarray) and (isinstance(x, Tensor) or isinstance(y, Tensor)):
        condition = Tensor(condition)
    return (condition, x, y), {}


where: Any = define(
    "where", "Elements of y where x holds, else of z.", formula="out = y if x else z",
    tensor_method=False, promotes=False,
    prepare=_to_where,
    forward=_where,
    vjp=[None,
         lambda g, x: where(x, g, 0.0),
         lambda g, x: where(x, 0.0, g)],
    samples=[("condition", (2, 3), (2, 3), (2, 3)), ("condition", (3,), (2, 3), (2, 1)),
             ("condition", (2, 3), (), 0.5)],
)  # fmt: skip


def _to_joined(tensors: Any, dim: int = 0) -> Any:
    tensors = tuple(tensors)
    ends = accumulate((tensor.shape[dim] if tensor.shape else 0) for tensor in tensors)
    return tensors, {"dim": dim, "_ends": (0, *ends)}


def _joined(*arrays: Any, dim: int, _ends: tuple[int, ...]) -> Any:
    return np.concatenate(arrays, dim)


def _cat_rule(g: Any, *, dim: int, _ends: tuple[int, ...], position: int) -> Any:
    span = slice(_ends[position], _ends[position + 1])
    return getitem(g, (slice(None),) * (dim % len(g.shape)) + (span,))


cat = define(
    "cat", "Tensors joined along a dim that they have.", formula="out = [x; y; ...]", tensor_method=False,
    prepare=_to_joined,
    forward=_joined,
    vjp=[_cat_rule],
    samples=[([(2, 3), (2, 3)],), ([(2, 3), (2, 1)], {"dim": 1}), ([(3,)],), ([(1, 2)] * 5,),
             ([(2, 3), (2, 4)], {"dim": -1})],
)  # fmt: skip


def _stack_rule(g: Any, *, dim: int, position: int) -> Any:
    return getitem(g, (slice(None),) * (dim % len(g.shape)) + (position,))


stack = define(
    "stack", "Tensors of one shape, put together along a new dim.", formula="out = [x, y, ...]", tensor_method=False,
    prepare=lambda tensors, dim=0: (tuple(tensors), {"dim": dim}),
    forward=lambda *arrays, dim: np.stack(arrays, dim),
    vjp=[_stack_rule],
    samples=[([(2, 3), (2, 3)],), ([(2,), (2,), (2,)], {"dim": -1}), ([(), ()],), ([(2,)] * 5,)],
)  # fmt: skip
