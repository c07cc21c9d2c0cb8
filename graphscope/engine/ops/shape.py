"""Ops that change the shape and leave the elements: transpositions, reshapes, broadcasts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphscope.engine.calls import define

__all__ = [
    "expand",
    "flatten",
    "permute",
    "reshape",
    "squeeze",
    "t",
    "transpose",
    "unsqueeze",
]


def sizes(shape: tuple[Any, ...]) -> tuple[int, ...]:
    """Sizes given one by one or as one sequence."""
    if len(shape) == 1 and not isinstance(shape[0], int | np.integer):
        shape = tuple(shape[0])
    return tuple(int(size) for size in shape)


def _reshape(x: Any, *, shape: tuple[int, ...], _from: tuple[int, ...] = ()) -> Any:
    return np.reshape(x, shape)


def _to_reshape(x: Any, *sizes_: Any, shape: Any = None) -> Any:
    return (x,), {"shape": sizes(sizes_ if shape is None else (shape,)), "_from": x.shape}


def _to_permute(x: Any, *order: Any, dims: Any = None) -> Any:
    return (x,), {"dims": sizes(order if dims is None else (dims,))}


def _to_flatten(x: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    shape = tuple(x.shape)
    first, last = start_dim % max(len(shape), 1), end_dim % max(len(shape), 1)
    joined = (*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :])
    return (x,), {"shape": joined, "_from": shape}


def _t(x: Any) -> Any:
    if x.ndim > 2:
        raise RuntimeError(f"t: a tensor of {x.ndim} dims has no transpose; use transpose(dim0, dim1)")
    return x.T


t = define(
    "t", "Transpose of a matrix.", formula="out[i, j] = x[j, i]", view=True,
    forward=_t,
    vjp=[lambda g: g.T],
    samples=[((2, 3),)],
)  # fmt: skip

transpose: Any = define(
    "transpose", "Swap two dims.", formula="out = x with dims dim0 and dim1 swapped", view=True,
    prepare=lambda x, dim0, dim1: ((x,), {"dim0": dim0, "dim1": dim1}),
    forward=lambda x, *, dim0, dim1: np.swapaxes(x, dim0, dim1),
    vjp=[lambda g, *, dim0, dim1: transpose(g, dim0, dim1)],
    samples=[((2, 3, 4), {"dim0": 0, "dim1": 2}), ((2, 3), {"dim0": -1, "dim1": 0})],
)  # fmt: skip

permute: Any = define(
    "permute", "Put the dims in another order.", formula="out = x with its dims in the order dims", view=True,
    prepare=_to_permute,
    forward=lambda x, *, dims: np.transpose(x, dims),
    vjp=[lambda g, *, dims: permute(g, tuple(int(i) for i in np.argsort([d % len(dims) for d in dims])))],
    samples=[((2, 3, 4), {"dims": (2, 0, 1)})],
)  # fmt: skip

reshape: Any = define(
    "reshape", "The same elements in another shape; one size may be -1.", formula="out = x in the given shape",
    view=True, grad_name="ViewBackward0",
    prepare=_to_reshape,
    forward=_reshape,
    vjp=[lambda g, *, _from: reshape(g, _from)],
    samples=[((2, 3), {"shape": (3, 2)}), ((2, 3), {"shape": (-1,)}), ((1, 1), {"shape": ()})],
)  # fmt: skip

flatten = define(
    "flatten", "Join a run of dims into one.", formula="out = x with dims start_dim to end_dim joined",
    view=True, grad_name="ViewBackward0",
    prepare=_to_flatten,
    forward=_reshape,
    vjp=[lambda g, *, _from: reshape(g, _from)],
    samples=[((2, 3, 4),), ((2, 3, 4), {"start_dim": 1}), ((2, 3, 4), {"end_dim": 1}), ((),)],
)  # fmt: skip


def _to_squeeze(x: Any, dim: int | None = None) -> Any:
    shape = tuple(x.shape)
    kept = tuple(s for i, s in enumerate(shape) if s != 1 or (dim is not None and i != dim % len(shape)))
    return (x,), {"shape": kept, "_from": shape}


squeeze = define(
    "squeeze", "Drop dims of size 1.", formula="out = x without its dims of size 1", view=True,
    prepare=_to_squeeze,
    forward=_reshape,
    vjp=[lambda g, *, _from: reshape(g, _from)],
    samples=[((2, 1, 3, 1),), ((2, 1, 3, 1), {"dim": 1}), ((2, 1, 3, 1), {"dim": -1}), ((2, 3), {"dim": 0}), ((1,),)],
)  # fmt: skip


def _to_unsqueeze(x: Any, dim: int) -> Any:
    shape = list(x.shape)
    shape.insert(dim % (len(shape) + 1), 1)
    return (x,), {"shape": tuple(shape), "_from": tuple(x.shape)}


unsqueeze = define(
    "unsqueeze", "Add a dim of size 1.", formula="out = x with a dim of size 1 at dim", view=True,
    prepare=_to_unsqueeze,
    forward=_reshape,
    vjp=[lambda g, *, _from: reshape(g, _from)],
    samples=[((2, 3), {"dim": 0}), ((2, 3), {"dim": -1}), ((), {"dim": 0})],
)  # fmt: skip


def _to_expand(x: Any, *sizes_: Any, shape: Any = None) -> Any:
    wanted = sizes(sizes_ if shape is None else (shape,))
    extra = len(wanted) - len(x.shape)
    full = tuple(x.shape[i - extra] if size == -1 else size for i, size in enumerate(wanted))
    return (x,), {"shape": full}


expand = define(
    "expand", "Repeat dims of size 1 without copying.", formula="out = x broadcast to the given shape", view=True,
    prepare=_to_expand,
    forward=lambda x, *, shape: np.broadcast_to(x, shape),
    vjp=[lambda g: g],
    samples=[((2, 1), {"shape": (2, 3)}), ((3,), {"shape": (2, 3)}), ((3, 1), {"shape": (-1, 2)})],
)  # fmt: skip
