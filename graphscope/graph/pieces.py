"""Distributed parameters: how many elements one has on all ranks together, and whether a rank holds a piece of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

WHOLE: Final = "Replicate()"
"""The placement of what each rank holds all of."""


class Share(NamedTuple):
    """What a rank holds of a parameter."""

    elements: int
    """How many all of it has."""
    is_piece: bool


def share_of(log: Log, row: int) -> Share | None:
    """What the row of a leaf or an update tells of that; None of a parameter that is not distributed."""
    facts = log.attrs(log.event(row).attrs)
    whole, placements = facts.get("whole"), facts.get("placements")
    if not isinstance(whole, (list, tuple)) or not isinstance(placements, (list, tuple)):
        return None
    return Share(math.prod(whole), any(each != WHOLE for each in placements))
