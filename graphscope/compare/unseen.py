"""Runs that part in a step whose values are not there: its losses tell so, and parameters go by their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphscope.compare.difference import Fact, Parting
from graphscope.compare.first_steps import course, leap_of
from graphscope.compare.parameters import parameters
from graphscope.compare.sides import side
from graphscope.compare.steps import Step, steps
from graphscope.graph import Graph, series

if TYPE_CHECKING:
    from graphscope.compare.difference import Side
    from graphscope.compare.rounding import Allowed
    from graphscope.eventlog.reader import Log


def losses_parting(a: Log, b: Log, tolerance: Allowed | None = None) -> Parting | None:
    """The first step whose losses are no longer the same, though nothing else is known of it; None where they are.

    Args:
        a: A log.
        b: Another.
        tolerance: How far they may be apart, in place of what rounding explains.
    """
    known = steps(a), steps(b)
    common = min(map(len, known))
    place = leap_of(course(a)[:common], course(b)[:common], ("loss",), tolerance)
    if place is None or not any(_is_unseen(log, own[place]) for log, own in zip((a, b), known, strict=True)):
        return None
    values = [float(course(log)["loss"][place]) for log in (a, b)]
    sentence = f"the losses of step {place + 1} are {values[0]:.6g} and {values[1]:.6g}: no values are there to say why"
    sides = [_loss(log, own[place]) for log, own in zip((a, b), known, strict=True)]
    facts = (Fact("loss", f"{values[0]:.9g}", f"{values[1]:.9g}"),)
    return Parting("forward", place + 1, sides[0], sides[1], "losses", sentence, False, facts)


def _is_unseen(log: Log, step: Step) -> bool:
    return step.start < log.dropped or log.metadata.get("values") == "none"


def _loss(log: Log, step: Step) -> Side | None:
    found = series.losses(log)
    own = found[(found["begin"] >= step.start) & (found["begin"] < step.stop)]
    return side(Graph(log).node(int(own["root"][-1]))) if len(own) else None


def parameters_in_order(a: Log, b: Log) -> dict[int, int]:
    """Which parameters belong together where the two runs use as many, of the same shapes, in one order."""
    ours, theirs = (dict(sorted(parameters(log, log.first).items())) for log in (a, b))
    return dict(zip(ours, theirs, strict=True)) if _shapes(a, ours) == _shapes(b, theirs) else {}


def _shapes(log: Log, held: dict[int, int]) -> list[tuple[int, ...]]:
    """The shapes of parameters, of which it is known what row holds each."""
    return [log.shape(int(each)) for each in log.pick("shape", np.array([*held.values()], np.int64))]
