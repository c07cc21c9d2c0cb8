"""What happens to parameters, found in bulk: where their gradients grow, where they are written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.reading import once_a_length

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_NONE: Final = np.zeros(0, np.int64)


class Happenings(NamedTuple):
    """Rows, ascending, and the tensor that each is about."""

    rows: np.ndarray
    tensors: np.ndarray

    def of(self, tensors: Iterable[int]) -> Happenings:
        """Those of some tensors."""
        wanted = np.isin(self.tensors, np.fromiter(tensors, np.int64))
        return Happenings(self.rows[wanted], self.tensors[wanted])


class ParameterRows:
    """What happens to the leaves of a log.

    Args:
        log: The log.
    """

    def __init__(self, log: Log) -> None:
        grown, fresh, owners, written, changed = [_NONE], [np.zeros(0, bool)], [_NONE], [_NONE], [_NONE]
        for first, rows in log.chunks():
            kinds, flags = rows["kind"], rows["flags"]
            added = np.flatnonzero(kinds == Kind.ACCUMULATE)
            grown.append(first + added)
            owners.append(rows["forward"][added].astype(np.int64))
            fresh.append((flags[added] & int(Flag.FRESH)) != 0)
            writes = np.flatnonzero((kinds == Kind.OP) & ((flags & int(Flag.IN_PLACE)) != 0))
            written.append(first + writes)
            changed.append(rows["tensor"][writes].astype(np.int64))
        leaf = np.concatenate(owners)
        is_leaf = log.pick("kind", leaf) != Kind.GRAD
        tensors = log.pick("tensor", leaf).astype(np.int64)
        self.grown = Happenings(np.concatenate(grown)[is_leaf], tensors[is_leaf])
        """Where something was added to the gradient of a leaf."""
        self.is_fresh: np.ndarray = np.concatenate(fresh)[is_leaf]
        """Whether the gradient was None or zero before."""
        self.written = Happenings(np.concatenate(written), np.concatenate(changed))
        """Where a tensor was written in place."""

    def times(self, found: Happenings) -> dict[int, int]:
        """How often something happened to each tensor."""
        tensors, counts = np.unique(found.tensors, return_counts=True)
        return dict(zip(tensors.tolist(), counts.tolist(), strict=True))


@once_a_length
def parameter_rows(log: Log) -> ParameterRows:
    """What happens to the leaves of a log, read once for each length of it."""
    return ParameterRows(log)
