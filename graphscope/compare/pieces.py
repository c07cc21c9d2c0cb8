"""Values that one run holds whole and the other in pieces: fused projections, all heads or all moments at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.compare.errors import MARGIN
from graphscope.compare.judgement import AGREES
from graphscope.compare.layouts import in_one_order, same

if TYPE_CHECKING:
    from graphscope.compare.alignment import Run
    from graphscope.compare.judgement import Judgement
    from graphscope.compare.origins import Lost

_FEWEST: Final = 8
"""A piece of fewer elements is no evidence."""
_MOST: Final = 64
"""So many pieces are looked at."""
_FIRST: Final = 96
"""So many of the values that are lost are: where runs part is among the first."""
_NEAR: Final = 1e-4
"""Of equal arrays the smallest and the largest numbers are so near to each other, as a part of the larger."""


class Held(NamedTuple):
    """Where the pieces of a value are."""

    places: list[int]
    """Which of some values are pieces of it."""
    is_whole: bool
    """Whether they are all of it."""


def held_in(
    value: np.ndarray, others: Sequence[np.ndarray | None], is_same: Callable[[np.ndarray, np.ndarray], bool]
) -> Held:
    """Which of some values are equal pieces of one, cut along an axis.

    Args:
        value: The value.
        others: Those that may be pieces of it.
        is_same: Whether two arrays of one size hold the same numbers.
    """
    places: list[int] = []
    sizes = np.array([0 if each is None or each.dtype.kind != "f" else each.size for each in others])
    counts = np.unique(sizes[(sizes >= _FEWEST) & (sizes < value.size)])
    if value.dtype.kind != "f":
        return Held(places, False)
    ends = np.array(
        [
            (np.nan, np.nan) if each is None or not size else _ends(each)
            for each, size in zip(others, sizes, strict=True)
        ]
    )
    for count in counts[value.size % counts == 0].tolist():
        known = np.flatnonzero(sizes == count)
        for pieces in _cuts(value, value.size // count):
            found = []
            for piece in pieces:
                own = np.array(_ends(piece))
                with np.errstate(invalid="ignore"):
                    near = known[(np.abs(ends[known] - own) <= _NEAR * np.abs(own).max()).all(1)]
                alike = ((place, others[place]) for place in near.tolist())
                found.append([place for place, other in alike if other is not None and is_same(piece, other)])
            places += [place for one in found for place in one]
            if all(found):
                return Held(places, True)
    return Held(places, False)


def _ends(value: np.ndarray) -> tuple[float, float]:
    return float(value.min()), float(value.max())


def _cuts(value: np.ndarray, number: int) -> Iterator[list[np.ndarray]]:
    """A value cut into so many pieces, along each axis."""
    if number <= _MOST:
        for axis, length in enumerate(value.shape):
            if not length % number:
                yield np.split(value, number, axis)


def settle_pieces(judgement: Judgement, a: Lost, b: Lost) -> bool:
    """Let what is lost agree where the other side holds the same numbers in pieces, or as a piece; whether any does."""
    runs = judgement.runs
    lost = [_candidates(run, each.lost) for run, each in zip(runs, (a, b), strict=True)]
    settled = False
    for which in range(2):
        vertices = lost[1 - which]
        others = [runs[1 - which].flow.value(each) for each in vertices]
        for vertex in lost[which]:
            value = runs[which].flow.value(vertex)
            if value is None:
                continue
            near = partial(_same_or_near, MARGIN * judgement.likely(which, vertex))
            found = held_in(value, others, near)
            judgement.states[1 - which][[vertices[place] for place in found.places]] = AGREES
            if found.is_whole:
                judgement.states[which][vertex] = AGREES
            settled |= bool(found.places)
    return settled


def _same_or_near(most: float, a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays are the same, or no farther apart than what they are made of lets expect."""
    return same(a, b) or in_one_order(a, b, min(most, _NEAR)) is not None


def _candidates(run: Run, lost: np.ndarray) -> list[int]:
    which = lost & run.prints.whole & run.prints.telling & ~run.flow.is_backward
    found: list[int] = np.flatnonzero(which)[:_FIRST].tolist()
    return found
