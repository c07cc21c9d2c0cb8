"""The gradients of leaves: which rows added up to what one was at some moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from graphscope.eventlog.each_once import each_once
from graphscope.eventlog.schema import Flag, Kind

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


class Accumulated(NamedTuple):
    """What happened to the gradients of leaves: contributions and writes, sorted by leaf and row."""

    keys: np.ndarray
    rows: np.ndarray
    starts: np.ndarray
    """Where among them the sum begins that each ends."""
    size: int

    def spans(self, tensors: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """First and last place of what summed up to the gradient of each leaf at a row; -1 where there was none."""
        last = np.searchsorted(self.keys, tensors * self.size + rows, side="right") - 1
        known = last >= 0
        known[known] = self.keys[last[known]] // self.size == tensors[known]
        first = np.full(len(last), -1)
        first[known] = self.starts[last[known]]
        return first, np.where(known, last, -1)


def accumulated(log: Log, written: np.ndarray) -> Accumulated:
    """What happened to the gradients of all leaves of a log.

    Args:
        log: The log.
        written: Rows that wrote into tensors, some of which are gradients.
    """
    rows = _contributions(log)
    tensors = _leaves(log, rows)
    fresh = ((log.pick("flags", rows) & int(Flag.FRESH)) != 0) | (log.pick("kind", rows) == Kind.GRAD)
    whose = log.pick("tensor", written).astype(np.int64)
    place = np.minimum(np.searchsorted(rows, whose), max(len(rows) - 1, 0))
    known = rows[place] == whose if len(rows) else np.zeros(len(whose), bool)
    tensors = np.concatenate([tensors, tensors[place[known]]])
    fresh = np.concatenate([fresh, np.ones(int(known.sum()), bool)])
    rows = np.concatenate([rows, written[known]])
    order = np.lexsort((rows, tensors))
    rows, tensors, fresh = rows[order], tensors[order], fresh[order]
    begins = fresh | np.r_[True, tensors[1:] != tensors[:-1]][: len(rows)]
    starts = np.maximum.accumulate(np.where(begins, np.arange(len(rows)), 0))
    return Accumulated(tensors * log.end + rows, rows, starts, log.end)


def _contributions(log: Log) -> np.ndarray:
    """What was added to the gradients of leaves; of those that nothing was added to, what the program was handed."""
    entries = enumerate(log.table("ops"), 1)
    handing = [number for number, op in entries if isinstance(op, dict) and op.get("name") == "grad"]
    sums = log.where(lambda rows: rows["kind"] == Kind.ACCUMULATE)
    if not handing:
        return sums
    whole = log.where(lambda rows: (rows["kind"] == Kind.GRAD) & np.isin(rows["op"], handing))
    whole = whole[~np.isin(_leaves(log, whole), each_once(_leaves(log, sums)))]
    return np.sort(np.concatenate([sums, whole]))


def _leaves(log: Log, rows: np.ndarray) -> np.ndarray:
    """The tensors that gradients are of."""
    return np.asarray(log.pick("tensor", log.pick("forward", rows).astype(np.int64)).astype(np.int64))
