"""A call as the rules of rounding errors see it: its tensors, and how far off they are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from graphscope.compare.rounding import Deviation, roundoff
from graphscope.eventlog.typed import Input

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graphscope.graph import Node


class Operand:
    """A tensor that came in.

    Args:
        value: Its value in one of the runs; None where it was not kept.
        found: How it differs from that of the other.
        shape: Its shape.
    """

    def __init__(self, value: np.ndarray | None, found: Deviation | None, shape: tuple[int, ...]) -> None:
        self.array = value
        self.shape = shape
        self.count = math.prod(shape)
        self.found = found
        self.relative = min(found.relative, 1.0) if found is not None and found.size else 0.0

    @property
    def value(self) -> np.ndarray:
        """Its value, where there must be one.

        Raises:
            ValueError: It was not kept.
        """
        if self.array is None:
            raise ValueError("a value that was not kept")
        return self.array

    @cached_property
    def size(self) -> float:
        """Root of the mean square of its finite elements."""
        return root_mean_square(self.value)

    @property
    def largest(self) -> float:
        """The largest absolute difference; 0 for equal."""
        return self._scaled(self.found.largest) if self.found is not None and self.found.largest else 0.0

    @property
    def spread(self) -> float:
        """The root of the mean square of the differences; of few large ones a part of the largest."""
        found = self.found
        return self._scaled(max(found.spread, found.largest / 8)) if found is not None and found.largest else 0.0

    def _scaled(self, difference: float) -> float:
        """A difference of the tensors that were measured, where these may be others of the same relative error."""
        assert self.found is not None
        return difference * self.size / self.found.size if self.found.size else difference


@dataclass(frozen=True, slots=True)
class Operation:
    """An op, what came in and what it made."""

    node: Node
    result: np.ndarray | None
    shape: tuple[int, ...]
    dtypes: Sequence[str]
    """Those of the result, in both runs."""
    tensors: Mapping[int, Operand]
    """The tensors that came in, by the number of the input."""
    saved: float = 0.0
    """The relative error that the values of forward bring which the rules of a backward node used."""

    def operand(self, place: int, *names: str, default: Any = None) -> Any:
        """What stood at a place or was called so: an `Operand`, or a constant."""
        given = self.node.arguments
        operands = given.operands or ()
        found = operands[place] if place < len(operands) else None
        for name in names:
            found = given.attributes.get(name, found)
        if isinstance(found, Input):
            return self.tensors[found.number]
        return default if found is None else found

    @property
    def value(self) -> np.ndarray:
        """The result, where there must be one.

        Raises:
            ValueError: It was not kept.
        """
        if self.result is None:
            raise ValueError("a value that was not kept")
        return self.result

    @property
    def unit(self) -> float:
        """The unit roundoff of the result, of the coarser of both dtypes."""
        return roundoff(*self.dtypes)

    @property
    def sums(self) -> float:
        """The unit roundoff in which sums are accumulated: those of 16 bits are so in float32."""
        return min(self.unit, 2.0**-24)

    @property
    def largest(self) -> float:
        """The largest of what came in and is not equal."""
        return max((each.largest for each in self.tensors.values()), default=0.0)

    def slope(self, own: float, gain: float = 2.0) -> float:
        """What slope the result may have: its own, and what errors that came in make where they all go one way.

        The slope of differences over values is at most the root of their mean square by that of the values
        (Cauchy-Schwarz).
        """
        return own + gain * sum(each.relative for each in self.tensors.values())


def root_mean_square(value: np.ndarray) -> float:
    """The root of the mean square of the finite elements."""
    flat = value.reshape(-1)
    with np.errstate(all="ignore"):
        square = float(np.einsum("i,i->", flat, flat.conj(), dtype=np.result_type(flat.dtype, np.float64)).real)
        if not math.isfinite(square):
            flat = np.where(np.isfinite(flat), flat, 0).astype(np.float64)
            square = float(flat @ flat)
    return math.sqrt(square / max(flat.size, 1))
