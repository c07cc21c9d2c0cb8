"""An exception that left an op, or the program, and was the end of what ran."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from graphscope.diagnose.check_table import check
from graphscope.diagnose.ends import is_the_end
from graphscope.diagnose.explanation import title
from graphscope.diagnose.finding import Finding
from graphscope.eventlog.names import place_of
from graphscope.eventlog.schema import Kind
from graphscope.graph.loop_turns import told_at
from graphscope.graph.step_marks import step_marks
from graphscope.graph.step_numbers import step_numbers

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph


def exceptions(log: Log) -> Iterator[int]:
    """The rows that tell of an exception."""
    yield from log.marks(Kind.EXCEPTION).tolist()


@check(
    "exception",
    reads=("marks",),
    rows=exceptions,
    shows="end",
    sample="""
        import torch

        def train():
            x = torch.ones(2, 3)
            return x @ x

        try:
            train()
        except RuntimeError as error:
            print("the training failed:", error)
        """,
    healthy="""
        import torch

        x = torch.ones(2, 3)
        y = x @ x.t()
        """,
)
def raised(graph: Graph, row: int) -> Iterator[Finding]:
    """An exception left an op, or the program, and nothing was computed after it."""
    event, log = graph.index.event(row), graph.log
    attrs, site = log.attrs(event.attrs), log.site(event.site)
    if attrs.get("type") == "KeyboardInterrupt" or not is_the_end(log, row, graph.now + 1):  # a person wanted it
        return
    failed = next((source for source, _ in event.inputs if log.first <= source < row), None)
    names = () if failed is None else (title(graph.node(failed)),)
    kind = str(attrs.get("type") or "exception")
    verdict = ": ".join(str(attrs[key]) for key in ("type", "text") if attrs.get(key)) or "an exception"
    file, line = place_of(site)
    what = "all that ran" if _is_in_a_recorded_step(log, row) else "its step was left out; what was recorded"
    cure = f"{what} before it can be looked at: graphscope open, then goto {row}"
    yield Finding("raised", "error", row, failed, file, line, names, kind, verdict, cure)


def _is_in_a_recorded_step(log: Log, row: int) -> bool:
    """Whether the log has the ops of the step that an exception came in, if it came in one."""
    count, _ = told_at(log, row)
    place = step_numbers(log).steps.place(row)
    if not count or int(log.metadata.get("every", 1)) == 1 or (place is not None and _begin(log, place) < row):
        return True
    marks = step_marks(log)
    return not marks.is_recorded[marks.rows < row][-1:].all()  # behind such a mark, what runs is recorded


def _begin(log: Log, place: int) -> int:
    return int(step_numbers(log).steps.first[place])
