"""Where a sequence repeats itself: the stretches that equal themselves moved by a period."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

_NEAREST: Final = 4
_MOST_PERIODS: Final = 64


def candidate_periods(sequence: Sequence[int]) -> list[int]:
    """Periods that the sequence may have somewhere, ascending: distances at which enough elements come again."""
    order = np.argsort(np.asarray(sequence), kind="stable")
    values = np.asarray(sequence)[order]
    gaps = [
        (order[step:] - order[:-step])[values[step:] == values[:-step]]
        for step in range(1, min(_NEAREST, len(order) - 1) + 1)
    ]
    found, counts = np.unique(np.concatenate(gaps), return_counts=True) if gaps else (np.zeros(0, int),) * 2
    # A stretch with a period of p is at least 2p long, so at least p elements come again at that distance.
    enough = counts >= found
    found, counts = found[enough], counts[enough]
    likely = np.argsort(-counts, kind="stable")[:_MOST_PERIODS]
    return sorted(found[likely].tolist())


def stretches(sequence: Sequence[int], period: int) -> list[tuple[int, int]]:
    """Begin and end of each longest stretch in which every element comes again after `period`, twice or more."""
    elements = np.asarray(sequence)
    again = np.concatenate(([0], (elements[period:] == elements[:-period]).astype(np.int8), [0]))
    edges = np.flatnonzero(np.diff(again))
    return [
        (begin, end + period)
        for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
        if end - begin >= period
    ]
