"""What is said of a loss that is not finite, in a step of which the recording has no rows."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.explanation import Explanation, step_of, title, where
from graphscope.diagnose.finding import Finding, finding
from graphscope.diagnose.training.rate_rises import rise_ahead
from graphscope.diagnose.values.nonfinite_causes import UNSEEN
from graphscope.diagnose.values.unrecorded_births import BEFORE, CURE, LEFT_OUT, LostLoss, why_unrecorded
from graphscope.graph import series
from graphscope.graph.step_numbers import step_numbers
from graphscope.graph.unrecorded_steps import numbers_in_series, title_in_series

if TYPE_CHECKING:
    from graphscope.graph import Graph, Node


def of_lost_loss(graph: Graph, lost: LostLoss) -> Finding:
    """The finding of a loss that no recorded step shows, at the line that computes the losses of the next one."""
    node = _loss_near(graph, lost.row)
    name, at, path = (
        ("the loss", "", ()) if node is None else (title(node), where(node), (step_of(node, "not finite"),))
    )
    verdict = (
        f"{name}{at} was {lost.loss} in {lost.title}, the first that is not finite; that step {_why(graph, lost)}"
        f"{_whence(graph, lost)}"
    )
    explained = Explanation("nonfinite", LEFT_OUT, verdict, path, CURE)
    return _in_its_step(graph, finding("nan", "error", lost.row, explained, (name,), _evidence(lost)), lost)


def as_consequence(born: Node, seen: Finding, lost: LostLoss) -> Finding:
    """The finding of what a recorded step holds because an earlier one, which was not recorded, made it."""
    what, _, _ = seen.verdict.partition(": ") if born.name or born.op != UNSEEN else ("a tensor is not finite", "", "")
    step = step_numbers(born.graph.log).title(born.row)
    when = f"in {step}" if step else "right behind it"  # in the rest of its turn of the loop
    verdict = (
        f"the loss of {lost.title} was {lost.loss}, the first that is not finite; that step {_why(born.graph, lost)}, "
        f"and that {what}{where(born)} {when} is a consequence"
        f"{_whence(born.graph, lost)}"
    )
    found = replace(seen, cause=LEFT_OUT, verdict=verdict, cure=CURE, evidence=_evidence(lost))
    return _in_its_step(born.graph, found, lost)


def _why(graph: Graph, lost: LostLoss) -> str:
    return why_unrecorded(graph.log, lost.number)


def _whence(graph: Graph, lost: LostLoss) -> str:
    """Where it may have been born: what a step does behind its loss shows in the loss of the next one alone."""
    before = lost.number - 1
    norms = series.norms_of_steps(graph.log)
    if not np.isfinite(norms["norm"][norms["step"] == before]).all():
        return f". The gradients of {title_in_series(graph.log, before)} were not finite already"
    return ". It was born in that step, or behind the loss of the one before, in its backward pass or its update"


def _evidence(lost: LostLoss) -> dict[str, float]:
    return {"loss": lost.loss, **({} if math.isnan(lost.before) else {BEFORE: lost.before})}


def _in_its_step(graph: Graph, found: Finding, lost: LostLoss) -> Finding:
    return replace(_with_rise(graph, found, lost.number), step=lost.title)


def behind_a_rise(graph: Graph, found: Finding) -> Finding:
    """A finding of a recorded step, with what the series tells of the learning rate just ahead of it."""
    place = step_numbers(graph.log).steps.place(found.row)
    if place is None or found.cause in _OF_NO_RATE:
        return found
    return _with_rise(graph, found, int(numbers_in_series(graph.log)[place]))


_OF_NO_RATE: Final = ("data", "not initialised")


def _with_rise(graph: Graph, found: Finding, number: int) -> Finding:
    rise = rise_ahead(graph.log, number)
    if rise is None:
        return found
    verdict = f"{found.verdict}; the learning rate had risen from {rise.before:g} to {rise.after:g} in {rise.title}"
    cure = f"see whether the learning rate was to be {rise.after:g} from {rise.title} on; {found.cure}"
    evidence = {**found.evidence, "lr before": rise.before, "lr": rise.after}
    return replace(found, verdict=verdict, cure=cure, evidence=evidence)


def _loss_near(graph: Graph, row: int) -> Node | None:
    """What the last backward pass of a recorded step began from, or else the newest one ahead of it."""
    place = step_numbers(graph.log).steps.place(row)
    end = row if place is None else int(step_numbers(graph.log).steps.last[place])
    found = series.losses(graph.log)
    newest = int(np.searchsorted(found["begin"], end, side="right")) - 1
    return graph.node(int(found["root"][newest])) if newest >= 0 else None
