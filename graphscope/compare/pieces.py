"""Values that one run holds whole and the other in pieces: fused projections, all heads or all moments at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.compare.judgement import AGREES

if TYPE_CHECKING:
    from graphscope.compare.alignment import Run
    from graphscope.compare.judgement import Judgement
    from graphscope.compare.origins import Lost

_FEWEST: Final = 8
"""A piece of fewer elements is no evidence."""
_MOST: Final = 64
"""So many pieces, and so many values of one size, are looked at."""


class Held(NamedTuple):
    """Where the pieces of a value are."""

    places: list[int]
    """Which of some values are pieces of it."""
    is_whole: bool
    """Whether they are all of it."""


def held_in(
    value: np.ndarray, others: Sequence[np.ndarray | None], same: Callable[[np.ndarray, np.ndarray], bool]
) -> Held:
    """Which of some values are equal pieces of one, cut along an axis.

    Args:
        value: The value.
        others: Those that may be pieces of it.
        same: Whether two arrays of one size hold the same numbers.
    """
    places: list[int] = []
    counts = {each.size for each in others if each is not None and _FEWEST <= each.size < value.size}
    for count in sorted(each for each in counts if not value.size % each):
        known = [(place, each) for place, each in enumerate(others) if each is not None and each.size == count][:_MOST]
        for pieces in _cuts(value, value.size // count):
            found = [[place for place, each in known if same(piece, each)] for piece in pieces]
            places += [place for one in found for place in one]
            if all(found):
                return Held(places, True)
    return Held(places, False)


def _cuts(value: np.ndarray, number: int) -> Iterator[list[np.ndarray]]:
    """A value cut into so many pieces, along each axis."""
    if number <= _MOST:
        for axis, length in enumerate(value.shape):
            if not length % number:
                yield np.split(value, number, axis)


def settle_pieces(judgement: Judgement, a: Lost, b: Lost, same: Callable[[np.ndarray, np.ndarray], bool]) -> bool:
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
            found = held_in(value, others, same)
            judgement.states[1 - which][[vertices[place] for place in found.places]] = AGREES
            if found.is_whole:
                judgement.states[which][vertex] = AGREES
            settled |= bool(found.places)
    return settled


def _candidates(run: Run, lost: np.ndarray) -> list[int]:
    which = lost & run.prints.whole & run.prints.telling & ~run.flow.is_backward
    found: list[int] = np.flatnonzero(which).tolist()
    return found
