"""Updates that are far too large, or far too small, beside the weights that they change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import Explanation
from graphscope.diagnose.finding import Finding, finding
from graphscope.diagnose.training.initial import gains
from graphscope.diagnose.training.optimized import (
    LEAST,
    Group,
    groups,
    is_matrix,
    late_to_early,
    names_of,
    rate_at,
    scheduled_at,
    told,
)
from graphscope.diagnose.training.rate_rises import FACTOR, rises
from graphscope.eventlog.each_once import each_once
from graphscope.graph.sizes import norms_of
from graphscope.graph.step_numbers import step_numbers
from graphscope.graph.training import training
from graphscope.graph.unrecorded_steps import numbers_in_series

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph

_LARGE: Final = 0.1
"""Who changes by more than a tenth in each step does not settle."""

_WHOLE: Final = 1.0
"""So has who changes by more than itself in one of the first steps: nothing is left of what it was."""

_SMALL: Final = 1e-6
"""Who changes by less than a millionth in each step needs a million steps."""

_SLOW: Final = 1e-5
_LONG: Final = 20
_NOWHERE: Final = 1e-3
"""Ten times as much is small as well, where after so many steps the loss could not have got lower by such a part."""

_SIZEABLE: Final = 1e-3
"""A gradient of this part of its weights would bring them forward, were the learning rate not so small."""

_WORSE: Final = 2.0
"""The loss is that many times what it was ahead of the first update."""

_LEAP: Final = 10.0
_NO_BETTER: Final = 0.9
"""Or it was that many times as large meanwhile, and has only come back."""


_NEXT_TO_NOTHING: Final = 0.1
"""Weights that make so small a part of what they are given have yet to grow: so does a last layer that begins at 0."""

_LOST: Final = 0.1
"""Where no more of the elements change, rounding loses the updates: another check says so."""

_NOTHING: Final = 0.01


class _Ratio(NamedTuple):
    updates: np.ndarray
    ratio: float
    worse: float
    """The loss in the end, as a multiple of what it was; NaN where that is not known."""
    is_most: bool = False
    """Whether the ratio is the most that a step changed, and not what they usually do."""
    is_late: bool = False
    """Whether these came behind others that were not so."""

    @property
    def row(self) -> int:
        return int(self.updates["row"][0])

    @property
    def large(self) -> bool:
        return self.ratio > _LARGE


def _of_group(group: Group) -> _Ratio | None:
    found = group.updates
    found = found[(found["weight"] > 0) & (found["rate"] != 0)]
    found = found[is_matrix(group.log, found["tensor"])]
    if len(each_once(found["step"])) < LEAST:
        return _too_large(group, found) if len(found) and _bursts(group.losses) else None
    return _too_large(group, found) or _too_small(group, found[~np.isnan(found["update"])])


def _bursts(losses: np.ndarray) -> bool:
    """Whether the first step made a loss many times as large, and the next ones more than there are numbers for."""
    if len(losses) < LEAST or not np.isfinite(losses[:2]).all():
        return False
    return bool(losses[1] > _LEAP * losses[0] > 0 and not np.isfinite(losses[-1]))


def _too_large(group: Group, found: np.ndarray) -> _Ratio | None:
    losses = group.losses
    worse = late_to_early(losses, first=1)  # behind the first update it is too late already
    leapt = bool(np.nanmax(losses[:-1], initial=0.0) > _LEAP * losses[0]) if worse > _NO_BETTER else False
    if not (worse > _WORSE or leapt):
        return None
    early = found[found["step"] <= each_once(found["step"])[:LEAST][-1]]
    early = early[[not _is_spoilt(group.log, row) for row in early["pulled"].tolist()]]
    if not len(early):
        return None
    numbers, leaps = _numbers(group.log, early), rises(group.log)["step"]
    has_leapt = (early["rate"] >= FACTOR * early["rate"][0]) & (len(leaps) > 0 and numbers >= leaps[0])
    first, later = early[~has_leapt], early[has_leapt]
    grows = _growing(group)
    usual = _large(group.log, first, worse, grows, numbers[~has_leapt] <= LEAST)
    usual = usual or _large(group.log, later, worse, grows)
    return usual or _large_at_last(group.log, _ahead_of_growth(group, found), worse)


def _ahead_of_growth(group: Group, found: np.ndarray) -> np.ndarray:
    """The last updates before the loss was a multiple of what it was, where these are none of the first."""
    passes = group.passes
    has_grown = ~(passes["value"] <= _WORSE * passes["value"][0])
    ahead = found[found["row"] < passes["begin"][has_grown][0]] if has_grown.any() else found[:0]
    steps = each_once(ahead["step"])
    ahead = ahead[ahead["step"] >= steps[-LEAST]] if len(steps) > LEAST else ahead[:0]
    return ahead[[not _is_spoilt(group.log, row) for row in ahead["pulled"].tolist()]]


def _is_spoilt(log: Log, gradient: int) -> bool:
    """Whether an update was made with a gradient that is not finite: any rate makes such an update infinite."""
    return log.holds(gradient) and log.nonfinite(gradient) is True


def _numbers(log: Log, updates: np.ndarray) -> np.ndarray:
    """The numbers of the steps of updates in the series; 0 where there is none."""
    places = step_numbers(log).steps.places(updates["row"])
    return np.asarray(np.append(numbers_in_series(log), 0)[places])


def _growing(group: Group) -> np.ndarray:
    """The weights that begin next to nothing: whatever the rate, few updates make them many times what they are."""
    found = group.updates[is_matrix(group.log, group.updates["tensor"])]
    firsts = found[np.unique(found["tensor"], return_index=True)[1]]
    return np.asarray(firsts["tensor"][gains(group.log, firsts).max(axis=1, initial=0.0) < _NEXT_TO_NOTHING])


def _large(
    log: Log, early: np.ndarray, worse: float, grows: np.ndarray, first: np.ndarray | None = None
) -> _Ratio | None:
    """Updates that are too large, usually or once, if some are.

    Args:
        log: The log.
        early: The updates.
        worse: The loss in the end, as a multiple of what it was.
        grows: The weights that have yet to become as large as others are: only who turns them about does too much.
        first: Which of them are such that one alone tells; None: all.
    """
    if not len(early):
        return None
    ratios = _ratios(log, early)
    judged = np.where(np.isin(early["tensor"], grows), ratios * (_LARGE / _WHOLE), ratios)
    tensors, alone = early["tensor"], True if first is None else first
    if _typical(judged, tensors, np.median) > _LARGE:
        return _Ratio(early, _typical(ratios, tensors, np.median), worse)
    is_once = _typical(np.where(alone, judged, 0.0), tensors, np.max) > _WHOLE
    largest = _typical(np.where(alone, ratios, 0.0), tensors, np.max)
    return _Ratio(early, largest, worse, is_most=True) if is_once else None


def _typical(ratios: np.ndarray, tensors: np.ndarray, of_one: Callable[[np.ndarray], np.floating]) -> float:
    """What the tensor in the middle has, of those that are there."""
    return float(np.median([of_one(ratios[tensors == tensor]) for tensor in np.unique(tensors)]))


def _large_at_last(log: Log, ahead: np.ndarray, worse: float) -> _Ratio | None:
    """Updates that came to be larger than what they change, from the first large one on."""
    ratios = _ratios(log, ahead)
    large = ahead["step"][ratios > _LARGE]
    if not len(large):
        return None
    is_from_there = ahead["step"] >= large.min()
    ahead, ratios = ahead[is_from_there], ratios[is_from_there]
    ratio = _typical(ratios, ahead["tensor"], np.max)
    return _Ratio(ahead, ratio, worse, is_most=True, is_late=True) if ratio > _WHOLE else None


def _ratios(log: Log, updates: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        grown = np.abs(norms_of(log, updates["row"]) - updates["weight"])  # an update is no smaller
        update = np.where(np.isnan(updates["update"]), grown, updates["update"])
        return np.where(np.isfinite(update), update / updates["weight"], np.inf)


def _too_small(group: Group, found: np.ndarray) -> _Ratio | None:
    if len(each_once(found["step"])) < LEAST:
        return None
    losses, rates, moved = group.losses, found["rate"], found["moved"]
    with np.errstate(all="ignore"):
        ratios, pulls = found["update"] / found["weight"], found["gradient"] / found["weight"]
        reached = float(np.nansum(found["update"] * found["gradient"]))  # so much lower a loss may get by these updates
    steady = np.isnan(rates).all() or rates[-1] <= rates[len(rates) // 2]  # else it warms up
    lost = not np.isnan(moved).all() and float(np.nanmedian(moved)) < _LOST
    still = not late_to_early(losses) < _NO_BETTER or reached < _NOTHING * np.median(losses)
    is_long = len(each_once(found["step"])) >= _LONG and reached < _NOWHERE * np.median(losses)
    if (
        not lost
        and float(ratios.max()) < (_SLOW if is_long else _SMALL)
        and float(np.median(pulls)) > _SIZEABLE
        and steady
        and still
    ):
        return _Ratio(found, float(np.median(ratios)), late_to_early(losses, first=1))
    return None


@check(
    "update out of proportion",
    reads=("marks", "rows", "series"),
    shows="run",
    sample="""
        import torch

        weight = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=5.0)
        for _ in range(12):
            optimizer.zero_grad()
            loss = (weight * weight).sum()
            loss.backward()
            optimizer.step()
        """,
    healthy="""
        import torch

        weight = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=0.05)
        for _ in range(12):
            optimizer.zero_grad()
            loss = (weight * weight).sum()
            loss.backward()
            optimizer.step()
        """,
)
def update_ratio(graph: Graph) -> Iterator[Finding]:
    """Updates are far too large beside the weights and the loss grows, or far too small to get anywhere."""
    for found in filter(None, map(_of_group, groups(graph.log))):
        row = found.row
        names = names_of(graph, found.updates["tensor"])
        rate = float(np.median(found.updates["rate"]))
        evidence = {"update to weight": found.ratio, "steps": len(each_once(found.updates["step"]))}
        evidence |= {} if np.isnan(rate) else {"lr": rate}
        evidence |= {} if np.isnan(found.worse) else {"late loss to early loss": found.worse}
        if found.large:
            since = f"from {step_numbers(graph.log).title(row)} on, " if found.is_late else ""
            change, up_to = ("steps change", "up to ") if found.is_most else ("each step changes", "")
            verdict = (
                f"{since}{change} {told(names)} by {up_to}{found.ratio:.2g} times what they are, and the loss grows: "
                "the learning rate is too large"
            )
            cure = f"take a smaller learning rate{_about(rate, found.ratio)}: {_USUAL}"
        else:
            verdict = (
                f"each step changes {told(names)} by {found.ratio:.2g} of what they are: at this learning rate the "
                "training gets nowhere"
            )
            cure = f"take a larger learning rate{_about(rate, found.ratio)}: {_USUAL}"
        note = "its steps are too large" if found.large else "its steps are too small"
        scheduled = scheduled_at(graph, row, rate, note)
        if scheduled is not None and training(graph.log).schedulers and not found.large:
            cure = "let the schedule give a factor, 1.0 for the whole rate: that of the optimizer is multiplied by it"
        blamed = scheduled or rate_at(graph, row, note)
        cause = "too large" if found.large else "too small"
        explained = Explanation("fine", cause, verdict, (blamed,), cure)
        yield finding("update_ratio", "warning", row, explained, names, evidence)


_USUAL: Final = "one that changes weights by about a thousandth in each step"


def _about(rate: float, ratio: float) -> str:
    """The rate with which weights would have changed by a thousandth, where it can be told."""
    fitting = rate * 1e-3 / ratio
    return f", about {fitting:.1g}" if np.isfinite(fitting) and fitting > 0 else ""
