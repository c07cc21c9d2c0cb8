"""What of an outline is open: what a person opened or closed, the way to where one stands, and else what fits."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.graph.outline import KINDS, SectionKind
from graphscope.graph.outline.kinds import SLOT_BITS

if TYPE_CHECKING:
    from graphscope.graph.outline import Stretch

_FOLDED: Final = frozenset(int(kind) for kind in SectionKind if KINDS[kind].is_folded)
"""Kinds of sections that stay closed until somebody opens them."""


def keys_of(sections: np.ndarray) -> np.ndarray:
    """What names each section."""
    return np.asarray(sections["first"] << SLOT_BITS | sections["slot"])


@dataclass
class Folding:
    """Which sections are closed, by their keys."""

    by_hand: dict[int, bool] = field(default_factory=dict)
    """What a person closed (True) or opened stays so."""
    way: frozenset[int] = frozenset()
    """What holds the place where one stands."""
    height: int = 24
    """So many lines are seen at once."""
    shows_libraries: bool = False
    """What libraries made is shown as what the program's own lines made."""
    all_fits: bool = False
    """The whole log is seen at once: nothing is folded."""

    def is_closed(self, key: int, by_default: bool) -> bool:
        """Whether a section is closed."""
        if key in self.by_hand:
            return self.by_hand[key]
        return by_default and key not in self.way and not self.all_fits

    def closed(self, keys: np.ndarray, by_default: np.ndarray) -> np.ndarray:
        """Whether each of some sections is closed."""
        found = by_default & (not self.all_fits)
        for place in np.flatnonzero(np.isin(keys, [*self.way, *self.by_hand])).tolist():
            found[place] = self.is_closed(int(keys[place]), bool(by_default[place]))
        return np.asarray(found)

    def closed_steps(self, keys: np.ndarray) -> np.ndarray:
        """Whether each step is closed: all are but for the first, and where one stands."""
        by_default = np.ones(len(keys), bool)
        by_default[:1] = False
        return self.closed(keys, by_default)


def closed_at_first(found: Stretch, height: int) -> np.ndarray:
    """Which sections of a stretch are closed as long as nobody has said anything: what is too much to see.

    Sections are opened from the outermost inward as long as a step, or what lies between two, fits into so many lines.
    """
    sections = found.sections
    closed = np.ones(len(sections), bool)
    lines = np.bincount(found.inner[found.is_shown] + 1, minlength=len(sections) + 1)
    inside = np.bincount(sections["parent"] + 1, minlength=len(sections) + 1)
    wanted = (lines + inside).tolist()
    by_parent = np.argsort(sections["parent"], kind="stable")
    starts = np.searchsorted(sections["parent"][by_parent], np.arange(-1, len(sections) + 1)).tolist()
    in_order = by_parent.tolist()

    def children(parent: int) -> list[int]:
        found: list[int] = in_order[starts[parent + 1] : starts[parent + 2]]
        return found

    kinds, goes_on = sections["kind"].tolist(), sections["goes_on"].tolist()
    frames = [place for place in children(-1) if kinds[place] == SectionKind.STEP]
    for frame in (-1, *frames):
        if frame >= 0 and goes_on[frame]:
            continue
        left = height - wanted[frame + 1] - (frame >= 0)
        waiting = deque(children(frame))
        while waiting and left > 0:
            place = waiting.popleft()
            if kinds[place] in _FOLDED or goes_on[place] or wanted[place + 1] > left:
                continue
            closed[place] = False
            left -= wanted[place + 1]
            waiting += children(place)
    is_step = sections["kind"] == SectionKind.STEP
    closed[is_step] = sections["subject"][is_step] != 0
    return closed
