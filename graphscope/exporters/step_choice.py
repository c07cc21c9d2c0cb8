"""Which training step a picture shows, and what of it: not how parameters came to be, which is drawn when asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from graphscope.diagnose.doctor import doctor
from graphscope.errors import ExportError
from graphscope.eventlog.schema import Kind
from graphscope.graph.outline.origins import origins
from graphscope.graph.outline.steps import Steps, steps
from graphscope.graph.step_marks import step_ends
from graphscope.graph.step_numbers import StepNumbers, step_numbers

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph.graph import Graph

__all__ = ["Chosen", "Step", "chosen_rows", "proposed", "without_making"]

Step: TypeAlias = int | Literal["all"]
"""The number of a training step, or all of them in one picture."""

MOST_JUDGED: Final = 200_000
"""Of a log of more rows the doctor is not asked which step to show: that would take longer than the picture."""


class Chosen(NamedTuple):
    """The part of a log that is drawn."""

    rows: np.ndarray
    """The nodes, ascending."""
    heading: tuple[str, ...] = ()
    """Which of how many steps it is; empty where all is drawn."""


def chosen_rows(graph: Graph, step: Step | None) -> Chosen:
    """The nodes of one training step, by default the one that matters most.

    Raises:
        ExportError: There is no such step.
    """
    known = steps(graph.log)
    count = int(np.searchsorted(known.first, graph.now, side="right"))
    if step == "all" or (step is None and count < 2):
        return Chosen(graph.index.nodes(graph.now + 1))
    numbers = step_numbers(graph.log)
    place, why = _default(graph, count) if step is None else (_named(numbers, count, step), "")
    first, behind = int(known.first[place]), min(int(known.last[place]), graph.now) + 1
    return Chosen(graph.index.nodes(behind, first), _heading(numbers, count, place, why))


def without_making(log: Log, rows: np.ndarray) -> np.ndarray:
    """The nodes that do not make parameters or fill them; all of them where there are no others."""
    makes = origins(log).makes
    sites = np.minimum(log.pick("site", rows), len(makes) - 1)
    others: np.ndarray = rows[~makes[sites]]
    return others if len(others) else rows


def _default(graph: Graph, count: int) -> tuple[int, str]:
    """The step that is drawn where none is asked for, and why: where somebody stands, what is sick, the newest."""
    known = steps(graph.log)
    if graph.placed:
        return count - 1, ""
    if len(graph.log) <= MOST_JUDGED:
        for finding in doctor(graph.log):
            place = known.place(finding.row)
            if place is not None and len(graph.index.nodes(int(known.last[place]) + 1, int(known.first[place]))):
                return place, f"the doctor found {finding.kind} in it, line {finding.line}"
    return _newest(graph.log, known, count), ""


def _newest(log: Log, known: Steps, count: int) -> int:
    """The newest step that has ended; where none has, the newest."""
    ends = step_ends(log)
    ends = ends if len(ends) else log.marks(Kind.BACKWARD_END)
    ended = np.searchsorted(ends, known.last, side="right") > np.searchsorted(ends, known.first)
    return int(np.flatnonzero(ended)[-1]) if ended.any() else count - 1


def proposed(graph: Graph, most: int) -> str:
    """What can be drawn of a graph that is too large for a file: a step, else what surrounds the newest node."""
    rows, known = graph.index.nodes(graph.now + 1), steps(graph.log)
    count = int(np.searchsorted(known.first, graph.now, side="right"))
    if count > 1:
        place = _newest(graph.log, known, count)
        first, last = np.searchsorted(rows, (known.first[place], known.last[place] + 1))
        if last - first <= most:
            number = step_numbers(graph.log).number(place).number
            return f"--step {number} (step={number}) draws one of {count:,} training steps, {last - first:,} nodes"
    return f'--select "#{rows[-1]}" --radius 20 (select=..., radius=...) draws what surrounds the newest node'


def _named(numbers: StepNumbers, count: int, step: int) -> int:
    place = numbers.numbered(step)
    if place is None or place >= count:
        known = f"they are {numbers.told(lambda each: each.asked, count)}" if count else ""
        told = known or "the log tells of no training steps"
        raise ExportError(f"there is no step {step}: {told}", "choose one of them, or draw all of them")
    return place


def _heading(numbers: StepNumbers, count: int, place: int, why: str) -> tuple[str, ...]:
    if count < 2:
        return ()
    known = numbers.numbers[:count]
    is_gapless = known[-1] - known[0] == count - 1
    others = f"{known[0]} to {known[-1]}" if is_gapless else numbers.told(lambda each: str(each.number), count)
    chosen = numbers.number(place)
    asked = "" if str(chosen) == f"step {chosen.number}" else f" (--step {chosen.number})"
    lines = [f"{chosen}{asked}, one of {count:,}", why, f"Others: --step {others}; all in one: --all"]
    return tuple(line for line in lines if line)
