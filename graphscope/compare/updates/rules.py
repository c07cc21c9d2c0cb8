"""What an update can be told to have computed from numbers alone: its rate, its momentum, its decay."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Rule(NamedTuple):
    """`change = momentum * change before - rate * gradient - decay * parameter`."""

    rate: float
    momentum: float
    decay: float


def rule_of(
    change: np.ndarray, gradient: np.ndarray, parameter: np.ndarray, before: np.ndarray | None, close: float
) -> Rule | None:
    """The rule that an update followed; None where it was no such one, or the numbers do not say.

    Args:
        change: What was added to the parameter.
        gradient: The gradient that was used.
        parameter: The parameter ahead of the update.
        before: What the update ahead of it added; None of the first one.
        close: What is smaller than this part of the change is rounding.
    """
    terms = [each.reshape(-1).astype(np.float64) for each in (gradient, parameter, before) if each is not None]
    wanted = change.reshape(-1).astype(np.float64)
    if len(wanted) < len(terms) + 2 or not all(np.isfinite(each).all() for each in (*terms, wanted)):
        return None
    sizes = np.array([float(np.abs(each).max()) or 1.0 for each in terms])
    matrix = np.stack(terms, axis=1) / sizes
    found, _, rank, _ = np.linalg.lstsq(matrix, wanted, rcond=1e-9)
    rest = float(np.abs(matrix @ found - wanted).max())
    if rank < len(terms) or rest > close * float(np.abs(wanted).max()):
        return None
    scaled = (found / sizes).tolist()
    return Rule(-scaled[0], scaled[2] if before is not None else 0.0, -scaled[1])


def multiple(one: np.ndarray, other: np.ndarray, close: float) -> float | None:
    """The number that one array is to be multiplied by to get another; None where there is none."""
    one, other = (each.reshape(-1).astype(np.float64) for each in (one, other))
    square = float(one @ one)
    if one.size < 2 or not square or not np.isfinite(square):
        return None
    factor = float(one @ other) / square
    return factor if float(np.abs(factor * one - other).max()) <= close * float(np.abs(other).max()) else None
