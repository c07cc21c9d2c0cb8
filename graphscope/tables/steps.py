"""The table of training steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from graphscope.eventlog.schema import Flag
from graphscope.graph.series import every_step, losses
from graphscope.graph.step_numbers import step_numbers
from graphscope.tables.batches import Batch, known
from graphscope.tables.moments import moments

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_KEPT = int(Flag.INLINE | Flag.KEPT)


def batches(log: Log) -> Iterator[Batch]:
    """The training steps of a log, all at once: there are few."""
    numbers = step_numbers(log)
    steps = numbers.steps
    passes = losses(log)
    stop = np.searchsorted(passes["begin"], steps.last, side="right")
    count = stop - np.searchsorted(passes["begin"], steps.first)
    newest = passes[np.maximum(stop - 1, 0)] if len(passes) else np.zeros(len(steps), passes.dtype)
    kept = (log.pick("flags", newest["root"]) | log.pick("flags", newest["begin"])) & _KEPT
    is_known = (count > 0) & (kept != 0)
    of_series, in_series = _in_series(log, numbers.counts)
    yield {
        "step": numbers.counts,
        "name": [str(numbers.number(place)) for place in range(len(steps))],
        "first_row": steps.first,
        "last_row": steps.last,
        "ended": moments(log, log.pick("time", steps.last)),
        "duration": steps.durations(log),
        "backward_passes": count,
        "loss": known(np.where(is_known, newest["value"], of_series), is_known | in_series),
        "loss_row": known(newest["root"], count > 0),
    }


def _in_series(log: Log, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The losses that the series of all steps has of some steps, and which of them it has."""
    every = every_step(log)
    every = every[every["has_loss"]]
    places = np.searchsorted(every["step"], counts)
    has_them = np.append(every["step"], 0)[places] == counts
    return np.append(every["loss"], np.nan)[places], has_them
