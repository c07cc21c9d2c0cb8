"""What each training step of a rank is fed with, as a number that is the same where the data are."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog.schema import INLINE_INPUTS, Flag, Kind, Pass
from graphscope.graph.sizes import counts_of
from graphscope.graph.stacks import stacks

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


def fed(log: Log, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What each step takes that no gradient flows to, where it meets what one flows to: batches, and their targets."""
    graded = int(Flag.REQUIRES_GRAD)
    ops = log.where(lambda rows: _is_forward(rows) & ((rows["flags"] & (graded | int(Flag.EDGES))) == graded))
    counts = log.pick("input_count", ops)
    takers = [ops[counts > place] for place in range(INLINE_INPUTS)]
    sources = [log.sources(each, place) for place, each in enumerate(takers)]
    taker, source = np.concatenate(takers), np.concatenate(sources)
    begun = log.pick("tensor", source).astype(np.int64)  # a parameter is one still where an optimizer has written it
    flags = log.pick("flags", source) | log.pick("flags", begun)
    ungraded = (flags & (graded | int(Flag.PARAMETER))) == 0
    taker, source = taker[ungraded], source[ungraded]
    large = counts_of(log, source) > 1
    taker, source = taker[large], source[large]
    steps = np.searchsorted(ends, taker)
    found, rows_of = np.zeros(len(ends), np.uint32), np.full(len(ends), -1, np.int64)
    order = np.lexsort((taker, source, steps))
    steps, source, taker = steps[order], source[order], taker[order]
    once = np.append(True, (steps[1:] != steps[:-1]) | (source[1:] != source[:-1]))[: len(steps)]
    once &= steps < len(ends)
    steps, source, taker = steps[once], source[once], taker[once]
    rows, which = np.unique(source, return_inverse=True)
    prints = _prints(log, rows)[which]
    order = np.arange(len(steps)) - np.searchsorted(steps, steps)
    np.add.at(found, steps, prints * (2 * order + 1).astype(np.uint32))
    rows_of[steps[::-1]] = taker[::-1]
    return found, rows_of


def _is_forward(rows: np.ndarray) -> np.ndarray:
    return np.asarray((rows["kind"] == Kind.OP) & (rows["graph_pass"] == Pass.FORWARD))


def _prints(log: Log, rows: np.ndarray) -> np.ndarray:
    """For the value of each row a number that is the same of the same ones; 0 where the log does not tell."""
    found = np.zeros(len(rows), np.uint32)
    for places, values in stacks(log, rows):
        looked_at = np.ascontiguousarray(values[:, :_LOOKED_AT]).view(np.uint8).reshape(len(places), -1)
        factors = np.random.default_rng(0).integers(1, 1 << 32, looked_at.shape[1], np.uint32) | 1
        found[places] = (looked_at * factors).sum(axis=1, dtype=np.uint32) | 1
    for place in np.flatnonzero((log.pick("flags", rows) & int(Flag.SUMMARY)) != 0).tolist():
        told = log.summary(int(rows[place]))
        found[place] = 0 if told is None else zlib.crc32(repr(told).encode())
    return found


_LOOKED_AT: Final = 256
"""So many elements of a batch tell it from others."""
