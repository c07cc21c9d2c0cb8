"""What a person looks at one by one: the nodes of `a` that differ, and what each has for a counterpart in `b`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphscope.compare.difference import PARTED
from graphscope.eventlog.each_once import each_once

if TYPE_CHECKING:
    from graphscope.compare.difference import Difference


def places(found: Difference) -> np.ndarray:
    """The rows of `a` whose node does something else in `b`, or has nothing there that belongs to it; ascending."""
    parted = found.pairs["a"][found.pairs["state"] == PARTED]
    told = [each.a.row for each in found.partings if each.a is not None]
    rows: np.ndarray = each_once(np.concatenate([parted, found.alone_a, np.asarray(told, np.int64)]))
    return rows


def counterpart(found: Difference, row: int) -> int | None:
    """The row of `b` that belongs to a row of `a`; None where nothing does."""
    place = int(np.searchsorted(found.pairs["a"], row))
    if place < len(found.pairs) and found.pairs["a"][place] == row:
        return int(found.pairs["b"][place])
    return next((each.b.row for each in found.partings if each.b and each.a and each.a.row == row), None)
