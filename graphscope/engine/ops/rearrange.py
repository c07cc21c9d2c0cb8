"""The same elements in another order, or more than once: flip, roll, repeat. The results are copies."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from graphscope.engine.core import shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.dims import one, several
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.gathering import index_select
from graphscope.engine.ops.reduce import sum
from graphscope.engine.ops.shape import flatten, reshape, sizes, unsqueeze

__all__ = ["flip", "repeat_interleave", "roll", "tile"]


_WHOLE: Final = slice(None)
_BACK: Final = slice(None, None, -1)


def _to_flip(input: Any, *order: Any, dims: Any = None) -> Any:
    wanted = sizes(order if dims is None else ((dims,) if isinstance(dims, int) else dims,))
    return (input,), {"dims": several(wanted, len(input.shape)) if wanted else ()}


def _flip(x: Any, *, dims: Any) -> Any:
    return (x[tuple([_BACK if dim in dims else _WHOLE for dim in range(x.ndim)])] if x.ndim else x).copy()


flip: Any = define(
    "flip", "The elements in reverse along the given dims.",
    prepare=_to_flip,
    forward=_flip,
    vjp=[lambda g, *, dims: flip(g, dims)],
    shape=shapes.same,
    samples=[((2, 3), {"dims": (0,)}), ((2, 3), {"dims": (0, -1)}), ((4,), {"dims": (0,)})],
)  # fmt: skip


def _to_roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    steps = (shifts,) if isinstance(shifts, int) else tuple(shifts)
    places = () if dims is None else (dims,) if isinstance(dims, int) else tuple(dims)
    if not steps or (places and len(places) != len(steps)) or (not places and len(steps) != 1):
        raise RuntimeError(f"roll: shifts and dimensions must align. shifts: {len(steps)}, dims: {len(places)}")
    if places and not len(input.shape):
        raise IndexError(f"roll: dim {places[0]} of a tensor that has no dims")
    return (input,), {"shifts": steps, "dims": tuple(one(dim, len(input.shape)) for dim in places)}


def _roll(x: Any, *, shifts: tuple[int, ...], dims: tuple[int, ...]) -> Any:
    return np.roll(x, shifts, dims or None) if x.ndim else x.copy()


roll: Any = define(
    "roll", "The elements moved along dims; what leaves one end comes back at the other.",
    formula="out[i] = x[i - shift mod n]",
    prepare=_to_roll,
    forward=_roll,
    vjp=[lambda g, *, shifts, dims: roll(g, tuple(-step for step in shifts), dims or None)],
    shape=shapes.same,
    samples=[((2, 3), {"shifts": 1}), ((2, 3), {"shifts": (1, -2), "dims": (0, -1)}),
             ((4,), {"shifts": -1, "dims": 0})],
)  # fmt: skip


def _to_repeat(input: Any, *times: Any, repeats: Any = None) -> Any:
    counts = sizes(times if repeats is None else (repeats,))
    missing = len(counts) - len(input.shape)
    if missing < 0:
        raise RuntimeError(
            f"Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor: "
            f"{counts} for shape {tuple(input.shape)}"
        )
    if min(counts, default=0) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension: repeats are {counts}")
    return (input,), {"repeats": counts, "_from": tuple(input.shape)}


def _repeat_rule(g: Any, *, repeats: tuple[int, ...], _from: tuple[int, ...]) -> Any:
    shape = (1,) * (len(repeats) - len(_from)) + _from
    apart = [part for times, size in zip(repeats, shape, strict=True) for part in (times, size)]
    return reshape(sum(reshape(g, apart), tuple(range(0, len(apart), 2))), _from) if apart else g


def _once(x: Any, repeats: tuple[int, ...]) -> Any:
    """A copy where there is nothing to repeat: of that, NumPy gives a view."""
    return np.tile(x, repeats).copy() if repeats else x.copy()


repeat = define(
    "repeat", "The tensor set side by side with itself, so many times along each dim.",
    prepare=_to_repeat,
    forward=lambda x, *, repeats, _from: np.tile(x, repeats) if repeats and x.size else _once(x, repeats),
    vjp=[_repeat_rule],
    shape=lambda x, *, repeats, **_: tuple(
        None if size is None else size * times
        for size, times in zip((1,) * (len(repeats) - len(x)) + tuple(x), repeats, strict=True)
    ),
    samples=[((2, 3), {"repeats": (2, 1)}), ((3,), {"repeats": (2, 2)}), ((), {"repeats": (3,)}),
             ((2,), {"repeats": (0,)})],
)  # fmt: skip


def tile(input: Any, *dims: Any) -> Any:
    """The tensor set side by side with itself; where `dims` are fewer than its own, they are the last ones."""
    counts = sizes(dims)
    return repeat(input, (1,) * (len(input.shape) - len(counts)) + counts)


setattr(Tensor, "tile", tile)  # noqa: B010


def _places(repeats: Any, size: int) -> Any:
    counts = np.asarray(repeats.array if isinstance(repeats, Tensor) else repeats)
    if counts.dtype.kind not in "iu":
        raise RuntimeError(f"repeats has to be an integer or a tensor of int64, not {counts.dtype}")
    if counts.size and counts.min() < 0:
        raise RuntimeError("repeats can not be negative")
    if counts.ndim > 1 or (counts.ndim and counts.size not in (1, size)):
        raise RuntimeError(f"repeats must have the same size as input along dim: {counts.shape} for size {size}")
    return np.repeat(np.arange(size), counts)


def repeat_interleave(
    input: Any, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Any:
    """Each element, or each slice along a dim, repeated: (1, 2) twice is (1, 1, 2, 2).

    Args:
        input: The tensor; when it stands alone, it is `repeats`, and the result counts: (2, 3) gives (0, 0, 1, 1, 1).
        repeats: How often: a number, or one for each element.
        dim: The dim; None for all elements in a row.
        output_size: Not needed here; taken because PyTorch takes it.
    """
    if repeats is None:
        return Tensor(_places(input, input.shape[0]))
    if dim is None:
        input, dim = flatten(input), 0
    dim = one(dim, len(input.shape))
    if isinstance(repeats, int) and repeats >= 0:
        counts = [repeats if place == dim + 1 else 1 for place in range(len(input.shape) + 1)]
        return flatten(repeat(unsqueeze(input, dim + 1), counts), dim, dim + 1)
    places = _places(repeats, input.shape[dim])
    return index_select(input, dim, Tensor(places) if isinstance(input, Tensor) else places)


setattr(Tensor, "repeat_interleave", repeat_interleave)  # noqa: B010
