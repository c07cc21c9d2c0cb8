"""Ops that change the shape and leave the elements: transpositions, reshapes, broadcasts."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from graphscope.engine.core import shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.dims import one, several
from graphscope.engine.core.element_types import dtype
from graphscope.engine.core.fused import fused
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.core.writes import buffer

__all__ = [
    "broadcast_to", "expand", "flatten", "permute", "ravel", "reshape", "squeeze", "t", "transpose", "unflatten",
    "unsqueeze",
]  # fmt: skip


def sizes(shape: tuple[Any, ...]) -> tuple[int, ...]:
    """Sizes given one by one or as one sequence."""
    if len(shape) == 1 and not isinstance(shape[0], int | np.integer):
        shape = tuple(shape[0])
    for size in shape:
        if size.__class__ is not int:
            return tuple([int(size) for size in shape])
    return shape


def _reshape(x: Any, *, shape: tuple[int, ...], _from: tuple[int, ...] = ()) -> Any:
    return x.reshape(shape)


def _to_reshape(x: Any, *sizes_: Any, shape: Any = None) -> Any:
    wanted = sizes(sizes_ if shape is None else (shape,))
    for size in wanted:
        if size < -1:
            raise RuntimeError(f"invalid shape dimension {size}: only -1 stands for a size to be found out")
    return (x,), {"shape": wanted, "_from": x.shape}


def _to_permute(x: Any, *order: Any, dims: Any = None) -> Any:
    if dims is None and not order:
        raise TypeError("permute() missing 1 required positional argument: 'dims'")
    wanted = sizes(order if dims is None else (dims,))
    rank = len(x.shape)
    if len(wanted) != rank:
        raise RuntimeError(f"permute: number of dims don't match: the tensor has {rank}, dims are {wanted}")
    return (x,), {"dims": several(wanted, rank)}


def _inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(range(len(order)), key=order.__getitem__))


def _to_flatten(x: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    shape = tuple(x.shape)
    first, last = one(start_dim, len(shape)), one(end_dim, len(shape))
    if first > last:
        raise RuntimeError(f"flatten() has invalid args: start_dim {start_dim} cannot come after end_dim {end_dim}")
    joined = (*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :])
    return (x,), {"shape": joined, "_from": shape}


def _to_transpose(x: Any, dim0: int, dim1: int) -> Any:
    rank = len(x.shape)
    return (x,), {"dim0": one(dim0, rank), "dim1": one(dim1, rank)}


def _t(x: Any) -> Any:
    if x.ndim > 2:
        raise RuntimeError(f"t: a tensor of {x.ndim} dims has no transpose; use transpose(dim0, dim1)")
    return x.T


t = define(
    "t", "Transpose of a matrix.", view=True,
    forward=_t,
    vjp=[lambda g: g.T],
    shape=shapes.reverse,
    samples=[((2, 3),)],
)  # fmt: skip

transpose: Any = define(
    "transpose", "Swap two dims.", view=True,
    prepare=_to_transpose,
    forward=lambda x, *, dim0, dim1: x.swapaxes(dim0, dim1) if x.ndim else x,
    vjp=[lambda g, *, dim0, dim1: g.swapaxes(dim0, dim1) if g.shape else g],
    shape=shapes.swapped,
    samples=[((2, 3, 4), {"dim0": 0, "dim1": 2}), ((2, 3), {"dim0": -1, "dim1": 0}), ((), {"dim0": 0, "dim1": -1})],
)  # fmt: skip

permute: Any = define(
    "permute", "Put the dims in another order.", view=True,
    prepare=_to_permute,
    forward=lambda x, *, dims: x.transpose(dims),
    vjp=[fused(lambda g, *, dims: permute(g, _inverse(dims)), lambda g, *, dims: g.transpose(_inverse(dims)))],
    shape=shapes.permuted,
    samples=[((2, 3, 4), {"dims": (2, 0, 1)}), ((2, 3, 4), {"dims": (1, -1, 0)})],
)  # fmt: skip

reshape: Any = define(
    "reshape", "The same elements in another shape; one size may be -1.",
    view=True, grad_name="ViewBackward0",
    prepare=_to_reshape,
    forward=_reshape,
    vjp=[lambda g, *, _from: g.reshape(_from)],
    shape=shapes.reshaped,
    samples=[((2, 3), {"shape": (3, 2)}), ((2, 3), {"shape": (-1,)}), ((1, 1), {"shape": ()})],
)  # fmt: skip

_flatten = define(
    "flatten", "Join a run of dims into one.",
    tensor_method=False, view=True, grad_name="ViewBackward0",
    prepare=_to_flatten,
    forward=_reshape,
    vjp=[lambda g, *, _from: g.reshape(_from)],
    shape=shapes.given,
    samples=[((2, 3, 4),), ((2, 3, 4), {"start_dim": 1}), ((2, 3, 4), {"end_dim": 1}), ((),)],
)  # fmt: skip


def _to_squeeze(x: Any, dim: Any = None) -> Any:
    shape = tuple(x.shape)
    chosen = several(dim, len(shape)) if dim is None or len(sizes((dim,))) else ()
    kept = tuple(size for place, size in enumerate(shape) if size != 1 or place not in chosen)
    return (x,), {"shape": kept, "_from": shape}


squeeze = define(
    "squeeze", "Drop dims of size 1.", view=True,
    prepare=_to_squeeze,
    forward=_reshape,
    vjp=[lambda g, *, _from: g.reshape(_from)],
    shape=shapes.given,
    samples=[((2, 1, 3, 1),), ((2, 1, 3, 1), {"dim": 1}), ((2, 1, 3, 1), {"dim": -1}), ((2, 3), {"dim": 0}), ((1,),)],
)  # fmt: skip


def _to_unsqueeze(x: Any, dim: int) -> Any:
    shape = list(x.shape)
    shape.insert(one(dim, len(shape) + 1), 1)
    return (x,), {"shape": tuple(shape), "_from": tuple(x.shape)}


unsqueeze = define(
    "unsqueeze", "Add a dim of size 1.", view=True,
    prepare=_to_unsqueeze,
    forward=_reshape,
    vjp=[lambda g, *, _from: g.reshape(_from)],
    shape=shapes.given,
    samples=[((2, 3), {"dim": 0}), ((2, 3), {"dim": -1}), ((), {"dim": 0})],
)  # fmt: skip


def _to_expand(x: Any, *sizes_: Any, shape: Any = None, size: Any = None) -> Any:
    asked = size if shape is None else shape
    wanted = sizes(sizes_ if asked is None else (asked,))
    shape = x.array.shape if isinstance(x, Tensor) else x.shape
    extra = len(wanted) - len(shape)
    if extra < 0:
        raise RuntimeError(
            f"expand: the number of sizes provided ({len(wanted)}) must be greater or equal to the number of "
            f"dimensions in the tensor ({len(shape)})"
        )
    if extra and min(wanted[:extra]) < 0:
        raise RuntimeError(f"expand: -1 stands for a size that is there, but dim {wanted.index(-1)} of {wanted} is new")
    if -1 in wanted:
        wanted = tuple([shape[i - extra] if size == -1 else size for i, size in enumerate(wanted)])
    return (x,), {"shape": wanted}


def _expanded(x: Any, *, shape: tuple[int, ...]) -> Any:
    """As `np.broadcast_to`, which takes four times as long."""
    if x.__class__ is np.ndarray and x.shape == shape:
        return x[...]
    if x.__class__ is not np.ndarray or not x.flags.c_contiguous or not x.size or 0 in shape:
        return np.broadcast_to(x, shape)
    extra = len(shape) - x.ndim
    strides = [0] * extra
    for size, step, wanted in zip(x.shape, x.strides, shape[extra:], strict=True):
        if size != wanted and size != 1:
            return np.broadcast_to(x, shape)  # this says what is wrong
        strides.append(step if size == wanted else 0)
    out = np.ndarray(shape, x.dtype, x, 0, strides)
    if out.size != x.size:  # several places lie in the same memory
        out.flags.writeable = False
    return out


expand = define(
    "expand", "Repeat dims of size 1 without copying.", view=True,
    prepare=_to_expand,
    forward=_expanded,
    vjp=[lambda g: g],
    shape=shapes.given,
    samples=[((2, 1), {"shape": (2, 3)}), ((3,), {"shape": (2, 3)}), ((3, 1), {"shape": (-1, 2)})],
)  # fmt: skip


def broadcast_to(input: Any, size: Any) -> Any:
    """The tensor with dims of size 1 repeated, and new ones in front, without copying."""
    return expand(input, size)


def ravel(input: Any) -> Any:
    """All elements in a row."""
    return reshape(input, (-1,))


def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """The dims from `start_dim` to `end_dim` joined into one; where they are one already, the tensor itself.

    Raises:
        RuntimeError: The second comes before the first.
        IndexError: There is no such dim.
    """
    rank = len(input.shape)
    return input if rank and one(start_dim, rank) == one(end_dim, rank) else _flatten(input, start_dim, end_dim)


def unflatten(input: Any, dim: int, sizes: Any) -> Any:
    """One dim taken apart into several, whose sizes multiply to its own; one of them may be -1.

    Raises:
        RuntimeError: The sizes do not multiply to that of the dim.
    """
    place, parts = one(dim, len(input.shape)), tuple(sizes)
    size, known = input.shape[place], math.prod(part for part in parts if part != -1)
    if not parts or (size % known if -1 in parts and known else size != known):
        raise RuntimeError(
            f"unflatten: Provided sizes {list(parts)} don't multiply up to the size of dim {dim} ({size}) in the input"
        )
    return reshape(input, (*input.shape[:place], *parts, *input.shape[place + 1 :]))


_DTYPES: Final = (np.dtype, dtype)


def view(self: Any, *size: Any) -> Any:
    """The same memory in another shape, or (of a dtype) read as another dtype.

    Raises:
        RuntimeError: Sizes that do not fit, or the layout of a view makes a copy necessary.
    """
    if len(size) == 1 and isinstance(size[0], _DTYPES):
        return view_dtype(self, size[0])
    out = reshape(self, *size)
    if self.base is not None and self.array.ndim and out.array.size and buffer(out.array) is not buffer(self.array):
        raise RuntimeError(
            f"view size is not compatible with input tensor's size and stride: {tuple(self.shape)} is a view with its "
            f"dims in another order, so {out.array.shape} needs a copy. Use .reshape(...) instead."
        )
    return out


view_dtype = define(
    "view_dtype", "The same memory, read as another dtype.", formula="out = memory of x as dtype", tensor_method=False,
    view=True,
    prepare=lambda x, dtype: ((x,), {"dtype": np.dtype(dtype)}),
    forward=lambda x, *, dtype: x.view(dtype),
    vjp=[None],
    shape=lambda x, *, dtype: (*x[:-1], None) if x else x,
    samples=[((2, 4), {"dtype": np.dtype("int32")})],
)  # fmt: skip

METHODS = {
    "broadcast_to": broadcast_to,
    "flatten": flatten,
    "expand_as": lambda self, other: expand(self, other.shape),
    "ravel": ravel,
    "reshape_as": lambda self, other: reshape(self, other.shape),
    "unflatten": unflatten,
    "view": view,
    "view_as": lambda self, other: view(self, other.shape),
}
"""Methods that are an op with other arguments."""

for _name, _method in METHODS.items():
    setattr(Tensor, _name, _method)
