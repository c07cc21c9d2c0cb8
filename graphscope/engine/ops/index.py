"""Indexing and joining: picking elements out of tensors, and putting tensors together."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.tensor import Tensor, define


def _plain(index: Any) -> Any:
    if isinstance(index, Tensor):
        return index.data
    if isinstance(index, tuple):
        return tuple(_plain(part) for part in index)
    if isinstance(index, list):
        return np.array([_plain(part) for part in index])
    return index


def _to_getitem(x: Any, index: Any) -> Any:
    return (x,), {"index": _plain(index), "_from": x.shape}


def _is_basic(index: Any) -> bool:
    parts = index if isinstance(index, tuple) else (index,)
    return not any(isinstance(part, np.ndarray) for part in parts)


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
    prepare=lambda x, index, shape: ((x,), {"index": index, "shape": shape}),
    forward=_put,
    vjp=[lambda g, *, index: getitem(g, index)],
    samples=[((2,), {"index": 1, "shape": (3, 2)})],
)  # fmt: skip

getitem = define(
    "getitem", "Elements at an index: integers, slices, None, ellipsis, integer or boolean tensors.",
    formula="out = x[index]", aliases=("__getitem__",), tensor_method=False,
    prepare=_to_getitem,
    forward=lambda x, *, index, _from: x[index],
    vjp=[lambda g, *, index, _from: put(g, index, _from)],
    samples=[((3, 4), {"index": (slice(0, 2), 1)}), ((3, 4), {"index": np.array([0, 2, 0])}), ((5,), {"index": -1})],
)  # fmt: skip


def _sequence(tensors: Any, dim: int = 0) -> Any:
    return tuple(tensors), {"dim": dim}


def _stack_rule(g: Any, *, dim: int, _index: int) -> Any:
    return getitem(g, (slice(None),) * (dim % len(g.shape)) + (_index,))


stack = define(
    "stack", "Tensors of one shape, put together along a new dim.", formula="out = [x, y, ...]", tensor_method=False,
    prepare=_sequence,
    forward=lambda *xs, dim: np.stack(xs, dim),
    vjp=[_stack_rule],
    samples=[],
)  # fmt: skip

cat = define(
    "cat", "Tensors joined along a dim that they have.", formula="out = [x; y; ...]", tensor_method=False,
    prepare=_sequence,
    forward=lambda *xs, dim: np.concatenate(xs, dim),
    vjp=[lambda g, *, dim, _span: getitem(g, (slice(None),) * (dim % len(g.shape)) + (slice(*_span),))],
    samples=[],
)  # fmt: skip
