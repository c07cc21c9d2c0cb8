"""What each line, module or op held over a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from graphscope.graph.memory import KINDS, PLACES
from graphscope.graph.names import Names

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph.memory import Memory

__all__ = ["Band", "bands"]


@dataclass(frozen=True, slots=True)
class Band:
    """What one place held over a run."""

    name: str
    row: int
    """The first node of it; -1 of several together."""
    alive: np.ndarray
    """Bytes behind each change."""


def bands(log: Log, found: Memory, by: str, most: int) -> list[Band]:
    """The bytes alive behind each change, of each place: of those that held most at the peak, and of all others.

    Args:
        log: The log.
        found: Its memory.
        by: One of `WAYS`, or "kind".
        most: So many places by themselves.
    """
    if by == "kind":
        return [Band(words, -1, found.alive[:, place]) for place, words in enumerate(KINDS.values())]
    name, names = PLACES[by], Names(log)
    numbers: dict[str, int] = {}
    of_row: dict[int, int] = {}
    first: list[int] = []
    for storage, _ in found.changes:
        if storage.row not in of_row:
            place = name(log, names, storage.row)
            if place not in numbers:
                first.append(storage.row)
            of_row[storage.row] = numbers.setdefault(place, len(numbers))
    places = np.array([of_row[storage.row] for storage, _ in found.changes], np.int64)
    steps = np.array([sign * storage.bytes for storage, sign in found.changes], np.int64)
    top = int(np.argmax(np.cumsum(steps))) + 1 if len(steps) else 0
    at_peak = np.bincount(places[:top], steps[:top], len(numbers))
    ever = np.bincount(places, np.maximum(steps, 0), len(numbers))
    order = np.lexsort((-ever, -at_peak))
    spelled = list(numbers)
    made = [Band(spelled[place], first[place], np.cumsum(steps * (places == place))) for place in order[:most].tolist()]
    if len(order) > most:
        made.append(Band(f"{len(order) - most:,} others", -1, np.cumsum(steps * ~np.isin(places, order[:most]))))
    return made
