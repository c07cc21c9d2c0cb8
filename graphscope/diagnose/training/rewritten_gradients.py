"""Where the program itself sets gradients, or writes to them: by hand it clears them so, or keeps a part of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.training.parameter_rows import parameter_rows
from graphscope.eventlog.numbering import is_numbered
from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.reading import once_a_length
from graphscope.graph.training import CLIPS, training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_TOLD: Final = frozenset({"accumulate_grad", "changed"})
"""Ops of rows that say what others have written."""


_SCALING: Final = frozenset({"div_", "true_divide_", "_foreach_div_"})
"""Ops that leave of a gradient what it is, in other units."""
_LOOKED_AT: Final = 16
"""So many writes of a line tell whether it clears."""


class Rewritten(NamedTuple):
    """Rows, ascending, the parameter whose gradient each sets or writes to, and whether it is 0 then."""

    rows: np.ndarray
    tensors: np.ndarray
    clears: np.ndarray
    """True as well where values are not kept, and the op may clear."""

    def of(self, tensors: Iterable[int]) -> Rewritten:
        """Those of some parameters."""
        wanted = np.isin(self.tensors, np.fromiter(tensors, np.int64))
        return Rewritten(self.rows[wanted], self.tensors[wanted], self.clears[wanted])


@once_a_length
def rewritten(log: Log) -> Rewritten:
    """Where gradients of parameters are set or written to, but for what clips them.

    A gradient may be a part of a larger tensor: what writes to that writes to it.
    """
    grown, written = parameter_rows(log).grown, parameter_rows(log).written
    marks, parameters = _assigned(log)
    held = [
        (tensor, parameter)
        for mark, parameter in zip(marks.tolist(), parameters.tolist(), strict=True)
        for tensor in _with_bases(log, mark)
    ]
    known = np.array(sorted(set(held)), np.int64).reshape(-1, 2)
    gradients = np.concatenate([grown.rows, known[:, 0]])  # the first that is added to None is the gradient
    owners = np.concatenate([grown.tensors, known[:, 1]])[np.argsort(gradients, kind="stable")]
    gradients.sort()
    ops = log.pick("op", written.rows)
    told = [number for number, op in enumerate(log.table("ops"), 1) if isinstance(op, dict) and op.get("name") in _TOLD]
    clips = log.pick("site", training(log).rows(*CLIPS))
    is_own = ~np.isin(ops, told) & ~np.isin(log.pick("site", written.rows), clips)
    rows, tensors = written.rows[is_own], written.tensors[is_own]
    low, high = np.searchsorted(gradients, tensors), np.searchsorted(gradients, tensors, "right")
    counts = high - low
    places = np.repeat(high - np.cumsum(counts), counts) + np.arange(counts.sum())
    rows = np.concatenate([np.repeat(rows, counts), marks])
    order = np.argsort(rows, kind="stable")
    rows = rows[order]
    return Rewritten(rows, np.concatenate([owners[places], parameters])[order], _clears(log, rows))


def _clears(log: Log, rows: np.ndarray) -> np.ndarray:
    """By row: whether its line makes gradients 0, each time that it is looked at."""
    sites, which = np.unique(log.pick("site", rows), return_inverse=True)
    found = np.zeros(len(sites), bool)
    for place in range(len(sites)):
        own = rows[which == place]
        chosen = np.unique(np.linspace(0, len(own) - 1, _LOOKED_AT).astype(np.int64))
        found[place] = all(_may_clear(log, row) for row in own[chosen].tolist())
    return found[which]


def _may_clear(log: Log, row: int) -> bool:
    row = log.inputs(row)[0][0] if log.event(row).kind == Kind.ASSIGN else row
    known = log.summary(row)
    if known is not None:
        return known.zero == known.count
    event = log.event(row)
    return not is_numbered(log.entry(event.attrs)) and log.op(event.op).name not in _SCALING


def _assigned(log: Log) -> tuple[np.ndarray, np.ndarray]:
    """Where the gradients of parameters became other tensors, and the parameters."""
    marks = log.marks(Kind.ASSIGN)
    marks = marks[log.pick("input_count", marks) > 0]
    entries = log.pick("attrs", marks)
    pairs = [
        (row, int(parameter))
        for number in np.unique(entries).tolist()
        if (facts := log.attrs(number)).get("set") == "grad"
        for parameter in facts.get("tensors", ())
        for row in marks[entries == number].tolist()
    ]
    found = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def _with_bases(log: Log, mark: int) -> Iterator[int]:
    """The tensor that a gradient became, and those that it is a view of."""
    row = log.inputs(mark)[0][0]
    while row >= log.first:
        tensor = log.event(row).tensor
        yield tensor
        is_view = tensor >= log.first and log.event(tensor).flags & Flag.VIEW
        row = log.inputs(tensor)[0][0] if is_view else -1
