"""The parameters of a log, and which row holds each at some moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.eventlog.each_once import each_once
from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.reading import once_a_length

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_TRAINED: Final = int(Flag.PARAMETER | Flag.REQUIRES_GRAD)


class _Versions(NamedTuple):
    """The rows that hold parameters, sorted by parameter and row."""

    tensors: np.ndarray
    rows: np.ndarray


@once_a_length
def _versions(log: Log) -> _Versions:
    leaves, rows, tensors = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for first, events in log.chunks():
        kinds, flags = events["kind"], events["flags"]
        own = (kinds == Kind.LEAF) & ((flags & _TRAINED) != 0)
        leaves.append(each_once(events["tensor"][own]).astype(np.int64))
        made = np.flatnonzero((kinds == Kind.LEAF) | ((kinds == Kind.OP) & ((flags & int(Flag.IN_PLACE)) != 0)))
        rows.append(first + made)
        tensors.append(events["tensor"][made].astype(np.int64))
    made, of = np.concatenate(rows), np.concatenate(tensors)
    wanted = np.isin(of, np.concatenate(leaves))
    made, of = made[wanted], of[wanted]
    order = np.lexsort((made, of))
    return _Versions(of[order], made[order])


def parameters(log: Log, row: int) -> dict[int, int]:
    """The row that holds the value of each parameter ahead of a row, by the number of its tensor.

    Of a parameter that was not used until then it is the row of its first use: that is when a log learns of it.
    """
    found = _versions(log)
    firsts = np.flatnonzero(np.r_[True, np.diff(found.tensors) != 0][: len(found.tensors)])
    if not len(firsts):
        return {}
    behind = np.add.reduceat(found.rows < row, firsts)
    held = found.rows[firsts + np.maximum(behind - 1, 0)]
    return dict(zip(found.tensors[firsts].tolist(), held.tolist(), strict=True))
