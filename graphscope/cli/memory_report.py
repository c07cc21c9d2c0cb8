"""All that `graphscope memory` tells, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphscope.diagnose import Finding, every
from graphscope.eventlog.names import place_of, short_place
from graphscope.graph import Graph
from graphscope.graph.memory import KINDS, Share, cost, recorded, shares
from graphscope.graph.step_numbers import step_numbers

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


@dataclass(frozen=True)
class Report:
    """The memory of a run, summed up."""

    log: str
    by: str
    peak_bytes: int
    peak_row: int
    peak_line: str
    peak_step: str
    kinds: dict[str, int]
    """Bytes at the peak by what they are held as."""
    held: list[Share]
    """What was alive at the peak."""
    saved: list[Share]
    """What was saved for the backward pass that most was saved for; `count` is of storages."""
    left: dict[str, int]
    """Bytes alive when the recording ended, by what they are held as."""
    kept: list[Finding]
    """Graphs of past steps that something keeps alive, as `graphscope doctor` finds them."""


def report(log: Log, by: str) -> Report:
    """Sum up a log.

    Raises:
        LogError: It does not tell of memory.
    """
    found = recorded(log)
    peak = found.peak
    row = min(peak.row, log.end - 1) if peak is not None else 0
    known = peak is not None and log.first <= row < log.end
    line = short_place(*place_of(log.site(int(log.raw(row)["site"])))) if known else ""
    savings = found.largest_pass()
    return Report(
        log=str(log.path),
        by=by,
        peak_bytes=0 if peak is None else peak.bytes,
        peak_row=row,
        peak_line=line,
        peak_step=step_numbers(log).title(row) if known else "",
        kinds=dict.fromkeys(KINDS, 0) if peak is None else peak.kinds,
        held=[] if peak is None else shares(log, [(each.row, each.kind, each.bytes) for each in peak.storages], by),
        saved=shares(log, [(each.row, "saved", cost(each)) for each in savings if cost(each)], by),
        left=found.at(log.end + 1),
        kept=list(every()["graph_kept"].findings(Graph(log))),
    )
