"""The table of checks: what may be wrong with a run, by what part of a log it is found, and a program that shows it."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal, overload

from graphscope.diagnose.source.own_lines import at_own_line

if TYPE_CHECKING:
    from graphscope.diagnose.explanation import Explanation
    from graphscope.diagnose.finding import Finding
    from graphscope.diagnose.subject import Subject
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph

GROUP: Final = "graphscope.checks"
"""Entry points of this group are loaded and add their checks to the table with `@check`."""

Part = Literal["marks", "training", "rows", "series", "values"]

PARTS: Final[dict[Part, str]] = {
    "marks": "the rows that are no nodes: begins and ends of passes, steps, exceptions",
    "training": "what programs call that is no op: optimizers, modes, what modules hold",
    "rows": "ops, inputs, flags, shapes and lines of nodes",
    "series": "losses, learning rates and what updates did: of PyTorch, known whatever values are kept",
    "values": "values, or the statistics that were kept of them",
}
"""What a check may read of a log."""

Moment = Literal["node", "pass", "run", "end"]
"""When it shows: at a node itself, at the last node of a backward pass once that has ended, in what was recorded so
far, or only when the program has ended."""

Judge = Callable[["Graph", int], "Iterable[Finding]"]
"""From a view (a log and the newest row that is seen) and one row of it to what is wrong there."""

OfRun = Callable[["Graph"], "Iterable[Finding]"]
"""From a view to what is wrong with all that was recorded up to there."""

Rows = Callable[["Log"], "Iterable[int]"]
"""From a log to the rows where something may be wrong."""


@dataclass(frozen=True, slots=True)
class Check:
    """One entry of the table."""

    name: str
    """Also the word for it in the place of a breakpoint's SPEC."""
    title: str
    """What it finds, in a few words: `in-place damage`."""
    doc: str
    """What is wrong, in one line."""
    reads: tuple[Part, ...]
    """All that it reads of a log."""
    rows: Rows
    """The rows where it may be, ascending; found in bulk, without a look at single nodes where it shows at these."""
    judge: Judge
    shows: Moment
    explain: Callable[[Subject], Explanation | None] | None
    """What it has to say of one tensor, if anything."""
    sample: str
    """A program that has it."""
    healthy: str
    """The same program without it."""
    of_run: OfRun | None = None
    """What is wrong with a run as a whole, where that is less than what shows at its single rows."""
    capture: str = "calls+backward"
    """The level at which a PyTorch program is to be recorded for it; `compiled` tells of no other engine."""

    @property
    def is_of_run(self) -> bool:
        """Whether it shows in a run, not at a node of it."""
        return self.shows in ("run", "end")

    def findings(self, graph: Graph) -> Iterator[Finding]:
        """All that it finds up to the graph's `now`, in the order of the log, each at a line of the program's own."""
        for found in self._findings(graph):
            yield at_own_line(graph.log, found)

    def _findings(self, graph: Graph) -> Iterator[Finding]:
        if self.of_run is not None:
            yield from self.of_run(graph)
            return
        for row in self.rows(graph.log):
            if row > graph.now:
                break
            yield from self.judge(graph, row)


CHECKS: Final[dict[str, Check]] = {}
"""The checks that have been loaded, by name; `every` loads them all."""


@overload
def check(
    title: str,
    *,
    reads: tuple[Part, ...],
    sample: str,
    healthy: str,
    shows: Literal["run", "end"],
    capture: str = ...,
) -> Callable[[OfRun], OfRun]: ...


@overload
def check(
    title: str,
    *,
    reads: tuple[Part, ...],
    rows: Rows,
    sample: str,
    healthy: str,
    shows: Moment = "node",
    explain: Callable[[Subject], Explanation | None] | None = None,
    of_run: OfRun | None = None,
) -> Callable[[Judge], Judge]: ...


def check(
    title: str,
    *,
    reads: tuple[Part, ...],
    sample: str,
    healthy: str,
    rows: Rows | None = None,
    shows: Moment = "node",
    explain: Callable[[Subject], Explanation | None] | None = None,
    of_run: OfRun | None = None,
    capture: str = "calls+backward",
) -> Callable[[Any], Any]:
    """Enter a function into the table, under its name and with the first line of its docstring.

    Without `rows` it is asked about a run as a whole; what it finds may be in any order.

    Args:
        title: What it finds, in a few words.
        reads: The parts of a log that it reads.
        rows: The rows of a log where it may be, ascending; the function is asked about these alone.
        sample: A program that has it, a few lines that begin with `import torch`.
        healthy: The same program without it.
        shows: When it shows.
        explain: What is to be said of one tensor, when a person asks why its gradient, or value, is as it is.
        of_run: What is wrong with a run as a whole, where the function speaks at rows that later ones excuse.
        capture: The level at which a PyTorch program is to be recorded for it.
    """

    def enter(function: Any) -> Any:
        doc = (inspect.getdoc(function) or "").partition("\n")[0].removesuffix(".")
        name = getattr(function, "__name__", "")
        where, judge, whole = (rows, function, of_run) if rows else _of_whole(function)
        CHECKS[name] = Check(name, title, doc, reads, where, judge, shows, explain, sample, healthy, whole, capture)
        return function

    return enter


def _of_whole(find: OfRun) -> tuple[Rows, Judge, OfRun]:
    """Where something is wrong with a run, what is wrong at a row, and what with all up to the `now` of a view."""
    return (
        lambda log: sorted({each.row for each in find(log.graph)}),
        lambda graph, row: [each for each in find(graph) if each.row == row],
        lambda graph: sorted((each for each in find(graph) if each.row <= graph.now), key=lambda each: each.row),
    )


@cache
def every() -> Mapping[str, Check]:
    """The whole table: the checks of this package, and those that other packages bring."""
    from importlib.metadata import entry_points  # it loads much, and few who open a log come here

    import_module("graphscope.diagnose.checks")
    for entry in entry_points(group=GROUP):
        try:
            entry.load()
        except Exception as error:  # noqa: BLE001 - whatever a foreign package does, ours go on working
            warnings.warn(f"check {entry.name} ({entry.value}) can't be loaded: {error}", stacklevel=2)
    return CHECKS
