"""Fresh layers that were frozen by the same line as others that had been trained, or loaded: not on purpose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.training.parameter_rows import parameter_rows
from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.graph.callers import ways
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_LEAST: Final = 3
"""In so many passes gradients must go through them."""

_LOADING: Final = frozenset({"copy", "copy_", "copy_slices", "set", "data"})
"""Ops that give a parameter numbers that were learned elsewhere."""

Settings = Mapping[int, Sequence[tuple[int, bool, int]]]
"""By tensor: the rows where `requires_grad` was set, to what, and the sites."""


class Afresh(NamedTuple):
    """Parameters that never learn."""

    row: int
    """The third op that a gradient would go through to them."""
    first: int
    """The first."""
    site: int
    """The line that froze them."""
    tensors: tuple[int, ...]
    others: int
    """How many others it froze, which had been learned before."""
    passes: int


def frozen_afresh(log: Log, settings: Settings) -> Iterator[Afresh]:
    """Parameters without any training behind them that one line froze together with trained ones of their network.

    Gradients go through what they compute to others ahead of them, so that they are no targets. A line that the program
    comes to in several ways, as one of a helper, may freeze different networks.
    """
    frozen = {tensor: told[-1][2] for tensor, told in settings.items() if told and not told[-1][1]}
    early = {tensor: site for tensor, site in _early(log).items() if tensor not in settings}
    frozen |= early
    if not frozen:
        return
    learned = _learned(log, frozen)
    for site in sorted(set(frozen.values())):
        here = [tensor for tensor, each in frozen.items() if each == site]
        fresh, others = [each for each in here if each not in learned], [each for each in here if each in learned]
        if not others or ways(log, site) > 1 or not any(len(log.event(each).shape) > 1 for each in fresh):
            continue
        rows = _passed(log, fresh)
        if len(rows) >= _LEAST:
            yield Afresh(int(rows[_LEAST - 1]), int(rows[0]), site, tuple(sorted(fresh)), len(others), len(rows))


def _early(log: Log) -> dict[int, int]:
    """The parameters that were frozen ahead of their first use, with the site."""
    told = {
        number: int(entry["frozen_at"])
        for number, entry in enumerate(log.table("attrs"), 1)
        if isinstance(entry, dict) and "frozen_at" in entry
    }
    leaves = log.where(lambda rows: rows["kind"] == Kind.LEAF) if told else np.zeros(0, np.int64)
    entries = log.pick("attrs", leaves)
    chosen = np.isin(entries, list(told))
    leaves, entries = leaves[chosen], entries[chosen]
    tensors = log.pick("tensor", leaves).astype(np.int64)
    found: dict[int, int] = {}
    for row, tensor, entry in zip(leaves.tolist(), tensors.tolist(), entries.tolist(), strict=True):
        found.setdefault(tensor or row, told[entry])
    return found


def _learned(log: Log, tensors: Mapping[int, int]) -> set[int]:
    """Those that got a gradient, or were filled with the numbers of others."""
    rows = parameter_rows(log)
    found = set(rows.grown.of(tensors).tensors.tolist())
    written = rows.written.of(set(tensors) - found)
    ops = log.pick("op", written.rows)
    loading = [number for number in np.unique(ops).tolist() if log.op(number).name in _LOADING]
    return found | set(written.tensors[np.isin(ops, loading)].tolist())


def _passed(log: Log, tensors: Sequence[int]) -> np.ndarray:
    """For each pass, the first op that takes one of some matrices and lets a gradient through to what it takes beside.

    Beside it may stand a bias alone: that is no layer ahead.
    """
    graph, found = log.graph, list[int]()
    for tensor in tensors:
        if len(log.event(tensor).shape) < 2:
            continue
        for row in graph.index.using(tensor, log.end):
            event = log.event(row)
            if event.kind != Kind.OP or event.graph_pass != Pass.FORWARD or not event.flags & Flag.REQUIRES_GRAD:
                continue
            first = event.inputs[0][0] if event.inputs else row
            if first != tensor and log.event(first).flags & Flag.REQUIRES_GRAD:
                found.append(row)
    begins = training(log).backward_begins
    rows = np.array(sorted(found), np.int64)
    _, firsts = np.unique(np.searchsorted(begins, rows), return_index=True)
    chosen: np.ndarray = rows[firsts]
    return chosen
