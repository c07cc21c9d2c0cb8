"""Training steps in numbers: what each says of itself, and the course of the loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.debugger.bars import bars
from graphscope.debugger.results import TrainingStep
from graphscope.diagnose import Finding, examined
from graphscope.graph import Graph, series
from graphscope.graph.outline import facts
from graphscope.graph.reading import once_a_length
from graphscope.graph.step_numbers import step_numbers

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_MOST_ROWS: Final = 1 << 17
"""A longer log is not judged for a table."""
_CELLS: Final = 60


def steps_between(graph: Graph, first: int, stop: int) -> tuple[TrainingStep, ...]:
    """The steps from one place on, up to another."""
    numbers, found = step_numbers(graph.log), []
    steps = numbers.steps
    checks = _checks(graph.log)
    for place in range(first, stop):
        low, high = int(steps.first[place]), int(steps.last[place])
        begins = steps.begins[list(steps.passes_of(place))]
        number = numbers.number(place)
        told = facts.of_step(graph, low, high, begins, number.count)
        found.append(
            TrainingStep(
                low,
                high,
                str(number),
                number.count,
                dict(number.counters),
                *told,
                tuple(dict.fromkeys(kind for row, kind in checks if low <= row <= high)),
            )
        )
    return tuple(found)


def is_judged(log: Log) -> bool:
    """Whether the steps of a log are told with what is wrong."""
    return len(log) <= _MOST_ROWS


@once_a_length
def findings(log: Log) -> tuple[Finding, ...]:
    """What is wrong up to now; of a log that is too long for a look in passing, nothing."""
    return examined(Graph(log)).findings if is_judged(log) else ()


@once_a_length
def _checks(log: Log) -> tuple[tuple[int, str], ...]:
    """The rows where findings show, and what came of them, with the names of the checks."""
    return tuple((each.row, each.kind) for found in findings(log) for each in (found, *found.consequences))


def curve(log: Log) -> str:
    """The course of the loss over all steps, in one line; empty where it is not known."""
    every = series.every_step(log)
    values = every["loss"][every["has_loss"]] if len(every) else series.losses(log)["value"]
    return _drawn(values)


def norm_curve(log: Log) -> str:
    """The same of the gradients' norms, of a recording that leaves out steps or lets them go."""
    return _drawn(series.norms_of_steps(log)["norm"])


def _drawn(values: np.ndarray) -> str:
    if not np.isfinite(values).any():
        return ""
    known = values[np.isfinite(values)]
    return f"{bars(values, _CELLS)} {known[0]:.6g} .. {known[-1]:.6g}"
