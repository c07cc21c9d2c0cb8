"""What happens to parameters, found in bulk: where their gradients grow, where they are written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from graphscope.eventlog.grouping import those
from graphscope.eventlog.narrow_numbers import row_type
from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.reading import once_a_length

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


class Happenings(NamedTuple):
    """Rows, ascending, and the tensor that each is about."""

    rows: np.ndarray
    tensors: np.ndarray

    def of(self, tensors: Iterable[int]) -> Happenings:
        """Those of some tensors."""
        wanted = np.isin(self.tensors, np.fromiter(tensors, np.int64))
        return Happenings(those(self.rows, wanted), those(self.tensors, wanted))


class ParameterRows:
    """What happens to the leaves of a log.

    Args:
        log: The log.
    """

    def __init__(self, log: Log) -> None:
        whole = row_type(log.end)
        added = log.where(lambda rows: rows["kind"] == Kind.ACCUMULATE)
        owners = log.pick("forward", added).astype(whole)
        is_leaf = log.pick("kind", owners) != Kind.GRAD
        grown, owners = those(added, is_leaf).astype(whole), those(owners, is_leaf)
        self.grown = Happenings(grown, log.pick("tensor", owners).astype(whole))
        """Where something was added to the gradient of a leaf."""
        ops = log.pick("op", grown)  # another one than the leaf's: a collective or a hook made it of all that was added
        is_added = (ops == 0) | (ops == log.pick("op", owners))
        self.is_fresh: np.ndarray = is_added & ((log.pick("flags", grown) & int(Flag.FRESH)) != 0)
        """Whether the gradient was None or zero before."""
        written = log.where(lambda rows: (rows["kind"] == Kind.OP) & ((rows["flags"] & int(Flag.IN_PLACE)) != 0))
        self.written = Happenings(written.astype(whole), log.pick("tensor", written).astype(whole))
        """Where a tensor was written in place."""

    def times(self, found: Happenings) -> dict[int, int]:
        """How often something happened to each tensor."""
        tensors, counts = np.unique(found.tensors, return_counts=True)
        return dict(zip(tensors.tolist(), counts.tolist(), strict=True))


@once_a_length
def parameter_rows(log: Log) -> ParameterRows:
    """What happens to the leaves of a log, read once for each length of it."""
    return ParameterRows(log)
