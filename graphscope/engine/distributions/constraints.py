"""What the parameters and the values of a distribution must be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from graphscope.engine.absent import answer_for as _answer_for

Check = Callable[[np.ndarray], Any]


@dataclass(frozen=True)
class Constraint:
    """A property of tensors, checked element by element; of vectors and matrices, over the last `event_dim` dims."""

    text: str
    holds: Check
    event_dim: int = 0

    def check(self, value: Any) -> Any:
        """For each event whether it holds, as a tensor of booleans."""
        return type(value)(np.asarray(self.holds(np.asarray(value.array)))[()])

    def __repr__(self) -> str:
        return self.text


def _simplex(x: np.ndarray) -> Any:
    return (x >= 0).all(-1) & (np.abs(x.sum(-1) - 1) < 1e-6)


real: Final = Constraint("Real()", lambda x: ~np.isnan(x))
real_vector: Final = Constraint("IndependentConstraint(Real(), 1)", lambda x: (~np.isnan(x)).all(-1), 1)
positive: Final = Constraint("GreaterThan(lower_bound=0.0)", lambda x: x > 0)
nonnegative: Final = Constraint("GreaterThanEq(lower_bound=0.0)", lambda x: x >= 0)
unit_interval: Final = Constraint("Interval(lower_bound=0.0, upper_bound=1.0)", lambda x: (x >= 0) & (x <= 1))
boolean: Final = Constraint("Boolean()", lambda x: (x == 0) | (x == 1))
nonnegative_integer: Final = Constraint("IntegerGreaterThan(lower_bound=0)", lambda x: (x >= 0) & (x % 1 == 0))
simplex: Final = Constraint("Simplex()", _simplex, 1)


def interval(low: Any, high: Any) -> Constraint:
    """From `low` to `high`, both included."""
    return Constraint(f"Interval(lower_bound={low}, upper_bound={high})", lambda x: (x >= low) & (x <= high))


def integer_interval(low: int, high: int) -> Constraint:
    """The integers from `low` to `high`, both included."""
    text = f"IntegerInterval(lower_bound={low}, upper_bound={high})"
    return Constraint(text, lambda x: (x % 1 == 0) & (x >= low) & (x <= high))


_answer_for(__name__)
