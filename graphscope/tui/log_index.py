"""What the screen keeps of a log beside the log itself: it grows with the log, a stretch at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.graph import Graph
from graphscope.graph.faults import flagged_faults
from graphscope.graph.outline import steps
from graphscope.tui.source.counts import Counts
from graphscope.tui.tape.lines import Lines
from graphscope.tui.timeline.curves import Curves

if TYPE_CHECKING:
    from graphscope.diagnose import Finding
    from graphscope.eventlog.reader import Log

_BLOCKS: Final = 8
_MOST_FLAGS: Final = 20_000


class LogIndex:
    """One log as far as it was read: its graph, the lines of the tape, its steps, counts by line, curves."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.graph = Graph(log)
        self.lines = Lines(log)
        self.counts = Counts(log)
        self.curves = Curves([], [], [])
        self.findings: tuple[Finding, ...] = ()
        self.judged = False
        """Somebody looks, or has looked, for findings."""
        self.is_all_found = False
        """They are those of the whole run, which is over: nobody needs to look again."""
        self.steps = steps(log)
        self.flagged = _faults(self.graph)
        self.lines.extend()
        self.counts.extend(1 << 16)

    @property
    def found_at(self) -> list[int]:
        """The rows where findings show, and what came of them."""
        return [each.row for found in self.findings for each in (found, *found.consequences)]

    def refresh(self) -> bool:
        """Look at what was written since; whether anything was."""
        if not self.log.refresh():
            return False
        self.steps = steps(self.log)
        self.flagged = _faults(self.graph)
        return True

    def extend(self) -> bool:
        """Read a stretch more; whether there was any."""
        if self.lines.complete and self.counts.complete:
            return False
        self.lines.extend(_BLOCKS)
        self.counts.extend()
        return True


def _faults(graph: Graph) -> np.ndarray:
    """The nodes whose values are faults, as far as a timeline can show them."""
    return np.fromiter(flagged_faults(graph, _MOST_FLAGS), np.int64)
