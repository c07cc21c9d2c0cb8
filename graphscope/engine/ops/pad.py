"""Padding: elements put around a tensor, or, where a size is negative, taken off its ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from graphscope.engine.core import dtypes, shapes
from graphscope.engine.core.calls import define
from graphscope.engine.ops.gathering import index_select

__all__ = [
    "constant_pad_nd",
]


def _to_padding(input: Any, pad: Sequence[int], value: float | None = 0) -> Any:
    rank = len(input.shape)
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even, two sizes for each dim, but it is {len(pad)}")
    if len(pad) > 2 * rank:
        raise RuntimeError(f"Length of pad should be no more than twice the number of dims: {tuple(pad)} for {rank}")
    pairs = tuple((int(pad[i]), int(pad[i + 1])) for i in range(0, len(pad), 2))[::-1]
    pairs = ((0, 0),) * (rank - len(pairs)) + pairs
    for dim, (size, (before, after)) in enumerate(zip(input.shape, pairs, strict=True)):
        if size + before + after < 0:
            raise RuntimeError(
                f"pad: dim {dim} of size {size} with padding {before} and {after} would get a negative size"
            )
    return (input,), {"pairs": pairs, "value": value or 0}


def _pad(x: Any, *, pairs: tuple[tuple[int, int], ...], value: float) -> Any:
    sizes = [size + before + after for size, (before, after) in zip(x.shape, pairs, strict=True)]
    out = np.full(sizes, dtypes.element(value, x.dtype), x.dtype) if value else np.zeros(sizes, x.dtype)
    into, of = [], []
    for size, (before, after) in zip(x.shape, pairs, strict=True):
        into.append(slice(max(before, 0), max(before, 0) + max(size + min(before, 0) + min(after, 0), 0)))
        of.append(slice(max(-before, 0), max(size + min(after, 0), -before, 0)))
    out[tuple(into)] = x[tuple(of)]
    return out if x.ndim else out[()]


def padded(x: Any, pairs: Sequence[tuple[int, int]], value: float = 0) -> Any:
    """A tensor with `before` and `after` elements more in each dim."""
    return constant_pad_nd(x, [size for pair in reversed(pairs) for size in pair], value)


def moved(x: Any, dim: int, by: int, fill: float) -> Any:
    """The elements `by` places further along a dim; `fill` takes the places that get free."""
    return padded(x, [(by, -by) if place == dim else (0, 0) for place in range(len(x.shape))], fill)


constant_pad_nd: Any = define(
    "constant_pad_nd", "A number put around a tensor: before and after its last dim, then the dim before that, ...",
    formula="out = [value, x, value]", tensor_method=False,
    prepare=_to_padding,
    forward=_pad,
    vjp=[lambda g, *, pairs: padded(g, [(-before, -after) for before, after in pairs])],
    shape=lambda x, *, pairs, value: tuple(
        shapes.add((size, before, after)) for size, (before, after) in zip(x, pairs, strict=True)
    ),
    samples=[((2, 3), {"pad": (1, 2)}), ((2, 3), {"pad": (1, -1, 0, 2), "value": 0.5}), ((3,), {"pad": (-1, -1)}),
             ((2, 3), {"pad": ()})],
)  # fmt: skip

PLACES: Final = {
    "reflect": lambda place, size: size - 1 - abs(size - 1 - place % max(2 * (size - 1), 1)),
    "replicate": lambda place, size: min(max(place, 0), size - 1),
    "circular": lambda place, size: place % size,
}
"""For each mode, the place inside from which the element at a place outside is taken."""


def pad(input: Any, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Any:
    """Put elements around a tensor: before and after its last dim, then the dim before that, and so on.

    Args:
        input: The tensor.
        pad: Two sizes for each dim, the last dim first; negative sizes take elements off.
        mode: `constant`: the number `value`. `reflect`: the tensor mirrored at its ends. `replicate`: its ends again.
            `circular`: its other end.
        value: The number of mode `constant`.

    Raises:
        NotImplementedError: There is no such mode, or the mode takes no tensor of so many dims.
        RuntimeError: Sizes that do not fit the tensor.
    """
    if mode == "constant":
        return constant_pad_nd(input, pad, float(value or 0))
    if mode not in PLACES:
        raise NotImplementedError(f"Unrecognised padding mode {mode!r}: choose constant, {', '.join(PLACES)}")
    if value is not None:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    rank = len(input.shape)
    if len(pad) % 2 or len(pad) // 2 not in (rank - 1, rank - 2) or not 2 <= rank <= 5:
        raise NotImplementedError(
            f"pad with mode {mode!r} pads the last 1, 2 or 3 dims, after one or two others: "
            f"{len(pad)} sizes do not fit a tensor of {rank} dims"
        )
    for index in range(len(pad) // 2):
        input = _extended(input, rank - 1 - index, pad[2 * index], pad[2 * index + 1], mode)
    return input


def _extended(input: Any, dim: int, before: int, after: int, mode: str) -> Any:
    size = input.shape[dim]
    most = {"reflect": size - 1, "circular": size}.get(mode)
    if most is not None and max(before, after) > most:
        raise RuntimeError(f"pad: padding of {before} and {after} with mode {mode!r} is too much for size {size}")
    if not before and not after:
        return input
    first, kept = 0, size
    if mode == "circular":  # what is taken off does not come again at the other end
        first, kept = max(-before, 0), size - max(-before, 0) - max(-after, 0)
        before, after = max(before, 0), max(after, 0)
    places = np.array([first + PLACES[mode](place, kept) for place in range(-before, kept + after)], np.int64)
    return index_select(input, dim, places if isinstance(input, np.ndarray) else type(input)(places))
