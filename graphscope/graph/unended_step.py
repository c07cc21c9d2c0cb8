"""What the loops of the program count in a training step that has not ended, and so has no mark that tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphscope.graph.loop_turns import places_among_equal

if TYPE_CHECKING:
    from graphscope.graph.loop_turns import Counters


def counters_behind(ended: Counters, counts: np.ndarray, count: int) -> dict[str, int] | None:
    """What they count in a step behind others, as far as these tell for sure.

    Args:
        ended: What they counted at the marks of those.
        counts: Which step each was, ascending.
        count: Which step it is.

    Returns:
        None where it may be one thing or another: a loop that skipped turns may skip more, and one that was never seen
        to go so far may have ended, and the next turn of an outer one begun.
    """
    newest = ended.newest
    if not newest:
        return {}
    alike = np.flatnonzero(ended.which == ended.which[-1])
    columns, own = ended.columns[alike, : len(newest)], counts[alike]
    is_turned = (columns[1:] == columns[:-1]).all(axis=1).any()  # by a loop that counts nothing
    if is_turned:
        if (np.diff(own) != 1).any():
            return None
        is_first = np.append(True, (columns[1:] != columns[:-1]).any(axis=1))
        columns = np.column_stack([columns, places_among_equal(is_first)])
    value = _next(columns, own, count)
    if value is None:
        return None
    *_, inner = newest
    return newest if is_turned else {**newest, inner: value}


def _next(columns: np.ndarray, own: np.ndarray, count: int) -> int | None:
    """What the innermost loop counts then: all its turns have made steps, and it has been seen to go so far."""
    inner = columns[:, -1]
    is_other = (columns[1:, :-1] != columns[:-1, :-1]).any(axis=1)
    grown, passed = np.diff(inner), np.diff(own)
    paces, times = np.unique((grown / passed)[~is_other], return_counts=True)
    pace = int(paces[np.argmax(times)]) if len(paces) else 0
    is_other |= grown * pace < 0  # the same loop, once more
    if not pace or (grown != pace * passed)[~is_other].any():
        return None
    value = int(inner[-1]) + pace * (count - int(own[-1]))
    turn = np.append(0, np.cumsum(is_other))
    reached = inner[turn != turn[-1]]
    is_only_loop = columns.shape[1] == 1 and not len(reached)
    return value if is_only_loop or (reached * pace >= value * pace).any() else None
