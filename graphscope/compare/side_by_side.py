"""Two runs line by line, as one reads them side by side: what belongs together stands on one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from graphscope.compare.difference import Difference

LINE: Final = np.dtype([("a", "<i8"), ("b", "<i8"), ("state", "u1")])
"""The rows of a line, and `SAME` or `PARTED`; of what only one run has, the other row is -1 and the state 0."""


def side_by_side(found: Difference) -> np.ndarray:
    """All that was aligned, a LINE each, in the order of `a`; what only `b` has stands where `b` comes to it."""
    pairs = np.zeros(len(found.pairs), LINE)
    for name in LINE.names or ():
        pairs[name] = found.pairs[name]
    only_a, only_b = (np.zeros(len(rows), LINE) for rows in (found.alone_a, found.alone_b))
    only_a["a"], only_a["b"] = found.alone_a, -1
    only_b["a"], only_b["b"] = -1, np.sort(found.alone_b)
    lines = np.concatenate([pairs, only_a])
    lines = lines[np.argsort(lines["a"], kind="stable")]
    come_to = np.maximum.accumulate(lines["b"]) if len(lines) else lines["b"]
    merged: np.ndarray = np.insert(lines, np.searchsorted(come_to, only_b["b"]), only_b)
    return merged
