"""Steps in which a loss is many times what it ever was, and stays so: of all steps where the series tell of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.training.optimized import LEAST
from graphscope.graph import series
from graphscope.graph.reading import once_a_length
from graphscope.graph.step_numbers import step_numbers
from graphscope.graph.training import training
from graphscope.graph.unrecorded_steps import title_in_series

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_LEAP: Final = 30.0
"""So many times the largest loss that the same optimizer ever saw: a spike of noise, or a new task, is no such leap."""

_STAYS: Final = 10.0
"""And so many times as large all the rest: who warms up, or recovers, comes back."""

_LONG: Final = 2 * LEAST
"""So many passes before it and behind it are looked at, at least."""

_SAME: Final = 1e-5
"""What the series tell of a step that is in the log is its loss, but for so small a part of it."""


class Leap(NamedTuple):
    """A loss that leaps and stays."""

    before: int
    """The root of the pass ahead of it; of those in the log the nearest."""
    row: int
    """The root of the pass that shows it; of those in the log the first."""
    value_before: float
    value_after: float
    least: float
    """The least that the loss is from there on."""
    step: str
    """What the step is called; empty where its pass is in the log."""
    follows: bool
    """Whether the pass ahead of it is that of the step before."""


@once_a_length
def leaps(log: Log) -> list[Leap]:
    """The leaps of the losses of a log, in its order."""
    if int(log.metadata.get("every", 1)) > 1:
        return _in_series(log)
    found = series.losses(log)
    if len(found) < 2 * _LONG:
        return []
    owners, leaping = _owners(log, found["begin"]), []
    for site in np.unique(found["site"]).tolist():
        own = found["site"] == site
        for owner in np.unique(owners[own & (owners > 0)]).tolist():
            passes = found[own & (owners == owner)]
            roots, values = passes["root"], passes["value"]
            for place, least in _places(values):
                before, after = (float(values[each]) for each in (place - 1, place))
                leaping.append(Leap(int(roots[place - 1]), int(roots[place]), before, after, least, "", True))
    return sorted(leaping, key=lambda leap: leap.row)


def _in_series(log: Log) -> list[Leap]:
    """The leaps in the losses of all steps, where those in the log are of one line and one optimizer."""
    found, every = series.losses(log), series.every_step(log)
    every = every[every["has_loss"]]
    owners = _owners(log, found["begin"])
    found, owners = found[owners > 0], owners[owners > 0]
    if len(found) < 2 or len(np.unique(found["site"])) > 1 or len(np.unique(owners)) > 1:
        return []
    numbers = step_numbers(log)
    counts = np.array([numbers.count_at(row) for row in found["begin"].tolist()])
    if not _are_those(found, counts, every):
        return []
    leaping = []
    for place, least in _places(every["loss"]):
        behind = int(np.searchsorted(counts, every["step"][place]))
        if 0 < behind < len(found):  # the log has passes on both sides of it
            before, after = (float(each) for each in every["loss"][[place - 1, place]])
            step = int(every["step"][place])
            title = "" if counts[behind] == step else title_in_series(log, step)
            follows = not title and counts[behind - 1] == every["step"][place - 1]
            ahead, row = found["root"][[behind - 1, behind]].tolist()
            leaping.append(Leap(ahead, row, before, after, least, title, bool(follows)))
    return leaping


def _are_those(found: np.ndarray, counts: np.ndarray, every: np.ndarray) -> bool:
    """Whether the series tell the losses that the log has: the last of each step, where it has several."""
    is_last = np.append(counts[1:] != counts[:-1], True)
    steps, values = counts[is_last], found["value"][is_last]
    known = np.isin(steps, every["step"])
    told = every["loss"][np.searchsorted(every["step"], steps[known])]
    return bool(known.any() and np.isclose(told, values[known], rtol=_SAME, atol=0).all())


def _owners(log: Log, begins: np.ndarray) -> np.ndarray:
    """The optimizer that steps next behind each backward pass; 0 where none does, or it is not known."""
    known = training(log)
    rows = known.rows("step")
    return np.append(known.owners(rows), 0)[np.searchsorted(rows, begins)]


def _places(values: np.ndarray) -> list[tuple[int, float]]:
    """Where some losses leap, and the least that they are from there on."""
    if len(values) < 2 * _LONG or not (np.isfinite(values) & (values > 0)).all():
        return []
    most, least = np.maximum.accumulate(values), np.minimum.accumulate(values[::-1])[::-1]
    leapt = (values[1:] >= _LEAP * most[:-1]) & (least[1:] >= _STAYS * most[:-1])
    places = np.flatnonzero(leapt) + 1
    places = places[(places >= _LONG) & (places <= len(values) - _LONG)]
    return [(place, float(least[place])) for place in places.tolist()]
