"""Learning rates that rose by a large factor from one step to the next, as by a wrong exponent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.graph import series
from graphscope.graph.reading import once_a_length
from graphscope.graph.unrecorded_steps import title_in_series

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

FACTOR: Final = 10.0
"""No warm-up raises a rate so much in a step."""

_NEAR: Final = 20
"""So many steps behind it, a loss that is not finite may be the rate's doing."""

RISE: Final = np.dtype([("step", "<i8"), ("before", "<f8"), ("after", "<f8")])
"""The number of the first step that was made with the new rate, and the rates."""


class Rise(NamedTuple):
    """A rise of the learning rate."""

    title: str
    """What the program calls the first step that was made with the new rate."""
    before: float
    after: float


@once_a_length
def rises(log: Log) -> np.ndarray:
    """Every sudden rise in the series of a log, a RISE each."""
    every = series.every_step(log)
    every = every[~np.isnan(every["rate"])]
    before, after = every["rate"][:-1], every["rate"][1:]
    risen = np.flatnonzero((before > 0) & (after >= FACTOR * before))
    found = np.zeros(len(risen), RISE)
    found["step"], found["before"], found["after"] = every["step"][1:][risen], before[risen], after[risen]
    return found


def rise_ahead(log: Log, number: int) -> Rise | None:
    """The newest rise in one of the steps just ahead of a step of the series, which it may explain."""
    found = rises(log)
    near = found[(found["step"] < number) & (found["step"] >= number - _NEAR)]
    if not len(near):
        return None
    newest = near[-1]
    return Rise(title_in_series(log, int(newest["step"])), float(newest["before"]), float(newest["after"]))
