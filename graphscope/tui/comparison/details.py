"""What there is to say and to draw of two nodes that stand on one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphscope.compare.report_lines import lines_of_pair, lines_of_parting
from graphscope.compare.rounding import distance
from graphscope.compare.sides import side

if TYPE_CHECKING:
    from graphscope.compare import Difference
    from graphscope.diagnose.text_lines import Line
    from graphscope.graph import Node


def words(found: Difference, a: Node | None, b: Node | None, width: int) -> list[Line]:
    """What the report says where they part; elsewhere both lines, and how far apart the two are."""
    rows = None if a is None else a.row, None if b is None else b.row
    for parting in found.partings:
        if rows == (None if parting.a is None else parting.a.row, None if parting.b is None else parting.b.row):
            return lines_of_parting(found, parting, width)
    values = _values(a, b)
    apart = None if values is None else distance(*values, *(each.dtype for each in (a, b) if each is not None))
    return lines_of_pair(None if a is None else side(a), None if b is None else side(b), apart, width)


def excess(a: Node | None, b: Node | None) -> np.ndarray | None:
    """What the tensor of `b` has more than that of `a`, element by element; None where there are none of one size."""
    values = _values(a, b)
    if values is None or any(each.dtype.kind not in "fiub" for each in values):
        return None
    one, two = (each.astype(np.float64) for each in values)
    two = two.reshape(one.shape)
    with np.errstate(all="ignore"):
        found: np.ndarray = np.where((one == two) | (np.isnan(one) & np.isnan(two)), 0.0, two - one)
    return found


def worst(apart: np.ndarray) -> tuple[int, ...]:
    """Where the largest difference lies."""
    place = int(np.argmax(np.nan_to_num(np.abs(apart), nan=np.inf)))
    return tuple(map(int, np.unravel_index(place, apart.shape)))


def _values(a: Node | None, b: Node | None) -> tuple[np.ndarray, np.ndarray] | None:
    """The tensors of both, if they were kept and have as many elements."""
    one, two = None if a is None else a.value, None if b is None else b.value
    return None if one is None or two is None or one.size != two.size or not one.size else (one, two)
