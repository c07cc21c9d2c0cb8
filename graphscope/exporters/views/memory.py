"""The view of memory: what was alive over a run, and which line held it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from graphscope.eventlog.names import place_of, short_place
from graphscope.eventlog.schema import Kind
from graphscope.exporters.step_choice import chosen_rows
from graphscope.exporters.views.figure import Figure
from graphscope.exporters.views.memory_drawing import Area, Course, Stretch, drawing
from graphscope.exporters.views.view_table import view
from graphscope.graph.memory import recorded
from graphscope.graph.memory_bands import bands
from graphscope.graph.names import Names
from graphscope.graph.quantities import bytes_text
from graphscope.graph.step_marks import step_ends
from graphscope.graph.step_numbers import step_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphscope.eventlog.reader import Log
    from graphscope.exporters.step_choice import Step
    from graphscope.exporters.views.request import Request
    from graphscope.graph.graph import Graph

__all__ = ["memory"]

MOST: Final = 9
"""So many places are told apart by colour."""


@view("memory", takes=("step",))
def memory(asked: Request, *, by: Literal["line", "module", "op", "kind"] = "line") -> Figure:
    """What was alive in memory over the run, by line, of a log that was recorded with memory.

    Args:
        by: What memory is summed up by: the line, module or op that holds it, or what it is held as.
    """
    graph = asked.recording()
    log = graph.log
    found = recorded(log)
    first, last, heading = _stretch(graph, asked.choice.step)
    begin = max(int(np.searchsorted(found.rows, first)) - 1, 0)  # what was alive ahead of the step is so in it
    shown = slice(begin, int(np.searchsorted(found.rows, last + 1, side="right")))
    areas = [Area(band.name, _source(log, band.row), band.alive[shown]) for band in bands(log, found, by, MOST)]
    course = Course(first, last, found.rows[shown], tuple(each for each in areas if each.alive.any()))
    told = [f"Memory of {log.path.name} by {by}", *heading[:1], *_peak(log, course)]
    return Figure(drawing(course, list(_passes(graph, first, last)), told), told[0])


def _stretch(graph: Graph, step: Step | None) -> tuple[int, int, tuple[str, ...]]:
    """The first and the last row that are drawn, and what is said of them: all, unless a step is named."""
    if step is None or step == "all":
        return graph.log.first, max(graph.now, graph.log.first), ()
    rows, heading = chosen_rows(graph, step)
    return int(rows[0]), int(rows[-1]), heading


def _source(log: Log, row: int) -> str:
    """The text of the line of a row; empty where there is none."""
    return Names(log).source_line(int(log.raw(row)["site"])).strip() if log.first <= row < log.end else ""


def _peak(log: Log, course: Course) -> Iterator[str]:
    if len(course.rows):
        place = int(np.argmax(course.total))
        row = min(int(course.rows[place]), log.end - 1)
        line = short_place(*place_of(log.site(int(log.raw(row)["site"]))))
        yield f"peak {bytes_text(float(course.total[place]))} at #{row}" + (f", {line}" if line else "")
    else:
        yield "no memory was held"


def _passes(graph: Graph, first: int, last: int) -> Iterator[Stretch]:
    """When backward passes ran, and where steps ended."""
    begins, ends = graph.index.marks(Kind.BACKWARD_BEGIN), graph.index.marks(Kind.BACKWARD_END)
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=False):
        if first <= begin <= last:
            yield Stretch(begin, min(end, last), "backward")
    numbers = step_numbers(graph.log)
    for place, mark in enumerate(step_ends(graph.log).tolist()):
        if first <= mark <= last:
            yield Stretch(mark, mark, str(numbers.number(place)))
