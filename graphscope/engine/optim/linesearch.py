"""How far to go along a direction: a line search that ends where the strong Wolfe conditions hold.

Source: Nocedal and Wright, Numerical Optimization, algorithms 3.5 and 3.6, as PyTorch's L-BFGS applies them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

ENOUGH: Final = 1e-4
"""How much of the promised decrease there must be."""
FLAT: Final = 0.9
"""How much of the slope may be left."""


class Point(NamedTuple):
    """A place along the direction."""

    at: float
    loss: float
    gradient: Any
    slope: float


def strong_wolfe(
    visit: Callable[[float], Point], start: Point, first: float, longest: float, tolerance: float, most: int
) -> tuple[Point, int]:
    """Find a place whose loss is low enough and whose slope is flat enough.

    Args:
        visit: Evaluates the loss at a place.
        start: Where the search begins, at 0.
        first: Where to look first.
        longest: The largest element of the direction.
        tolerance: Below this change of a parameter the search ends.
        most: How often it may look, after the first time.

    Returns:
        The place, and how often the loss was evaluated.
    """
    bracket, looks, done = _bracketed(visit, start, first, most)
    low, high = (0, 1) if bracket[0].loss <= bracket[-1].loss else (1, 0)
    stuck = False
    while not done and looks < most:
        near, far = min(bracket[0].at, bracket[1].at), max(bracket[0].at, bracket[1].at)
        if (far - near) * longest < tolerance:
            break
        at = cubic_minimum(bracket[0], bracket[1])
        margin = 0.1 * (far - near)
        at, stuck = _inside(at, near, far, margin, stuck)
        point = visit(at)
        looks += 1
        if point.loss > start.loss + ENOUGH * at * start.slope or point.loss >= bracket[low].loss:
            bracket[high] = point
            low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
        else:
            if abs(point.slope) <= -FLAT * start.slope:
                done = True
            elif point.slope * (bracket[high].at - bracket[low].at) >= 0:
                bracket[high] = bracket[low]
            bracket[low] = point
    return bracket[low if len(bracket) > 1 else 0], looks + 1


def _bracketed(visit: Callable[[float], Point], start: Point, first: float, most: int) -> tuple[list[Point], int, bool]:
    """Two places with a good one between them; or a single one, that is good already."""
    before, point = start, visit(first)
    looks = 0
    while looks < most:
        too_high = point.loss > start.loss + ENOUGH * point.at * start.slope
        if too_high or (looks > 1 and point.loss >= before.loss):
            return [before, point], looks, False
        if abs(point.slope) <= -FLAT * start.slope:
            return [point], looks, True
        if point.slope >= 0:
            return [before, point], looks, False
        nearest, farthest = point.at + 0.01 * (point.at - before.at), point.at * 10
        before, point = point, visit(cubic_minimum(before, point, (nearest, farthest)))
        looks += 1
    return [start, point], looks, False


def _inside(at: float, near: float, far: float, margin: float, stuck: bool) -> tuple[float, bool]:
    """A place that is not too close to an end of the bracket twice in a row."""
    if min(far - at, at - near) >= margin:
        return at, False
    if not (stuck or at >= far or at <= near):
        return at, True
    return (far - margin if abs(at - far) < abs(at - near) else near + margin), False


def cubic_minimum(one: Point, other: Point, bounds: tuple[float, float] | None = None) -> float:
    """Where the cubic through two points with their slopes is least, within bounds."""
    least, most = bounds or (min(one.at, other.at), max(one.at, other.at))
    with np.errstate(all="ignore"):
        bend = one.slope + other.slope - 3 * np.float64(one.loss - other.loss) / (one.at - other.at)
        square = bend * bend - one.slope * other.slope
        if not square >= 0:
            return (least + most) / 2
        left, right = (one, other) if one.at <= other.at else (other, one)
        root = np.sqrt(square)
        share = (right.slope + root - bend) / (right.slope - left.slope + 2 * root)
        return float(min(max(right.at - (right.at - left.at) * share, least), most))
