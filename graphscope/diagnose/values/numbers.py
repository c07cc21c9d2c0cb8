"""What is known of the numbers at a place of an op: themselves, or what their statistics leave open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.eventlog.values import summarize

if TYPE_CHECKING:
    from graphscope.eventlog.values import Summary
    from graphscope.graph import Node
    from graphscope.graph.operands import Operand

LARGEST: Final = {
    "float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38,
    "float64": 1.7976931348623157e308, "complex64": 3.4028234663852886e38, "complex128": 1.7976931348623157e308,
}  # fmt: skip
"""The largest number of each dtype."""


@dataclass(frozen=True, slots=True)
class Extent:
    """Of how many numbers something holds."""

    some: bool | None
    """Whether it holds of any; None where the log can't tell."""
    every: bool | None = None
    mask: np.ndarray | None = None
    """Of which, where they were kept."""
    number: int | None = None
    total: int = 0

    @classmethod
    def of(cls, mask: Any) -> Extent:
        """What a mask says."""
        mask = np.asarray(mask)
        number = int(np.count_nonzero(mask))
        return cls(number > 0, number == mask.size > 0, mask, number, mask.size)

    def __and__(self, other: Extent) -> Extent:
        both = self._joined(other, np.logical_and)
        if both is not None:
            return both
        if False in (self.some, other.some):
            return Extent(False, False)
        some = (self.some and other.every) or (self.every and other.some)
        return Extent(some or None, (self.every and other.every) or None)

    def __or__(self, other: Extent) -> Extent:
        either = self._joined(other, np.logical_or)
        if either is not None:
            return either
        known = (self.some, other.some)
        some = True if True in known else None if None in known else False
        return Extent(some, (self.every or other.every) or None)

    def __invert__(self) -> Extent:
        if self.mask is not None:
            return Extent.of(~self.mask)
        return Extent(None if self.every is None else not self.every, None if self.some is None else not self.some)

    def _joined(self, other: Extent, join: Callable[[Any, Any], Any]) -> Extent | None:
        if self.mask is None or other.mask is None:
            return None
        try:
            return Extent.of(join(self.mask, other.mask))
        except ValueError:  # the op does not join them element by element
            return None

    @property
    def share(self) -> float:
        """Which part of them, from 0 to 1; 0 where that is not known."""
        return (self.number or 0) / max(self.total, 1)

    def __str__(self) -> str:
        """`3 of 10 elements`; empty where that is not known."""
        if self.number is None:
            return ""
        return "its only element" if self.total == 1 else f"{self.number} of {self.total} elements"


UNKNOWN: Final = Extent(None)
NOWHERE: Final = Extent(False, False)


class Numbers:
    """The numbers of an operand or a result."""

    def __init__(
        self,
        value: Any = None,
        summary: Summary | None = None,
        shape: tuple[int, ...] = (),
        dtype: str = "",
        *,
        finite: bool = False,
    ) -> None:
        comparable = value is not None and np.asarray(value).dtype.kind in "fiub"
        self.value = np.asarray(value) if comparable else None
        self.summary = summary
        self.shape = shape
        self.dtype = dtype
        self.finite = finite or dtype.startswith(("int", "uint", "bool"))
        """Whether all are known to be finite, be they kept or not."""

    @cached_property
    def count(self) -> int:
        """How many they are."""
        return prod(self.shape)

    @cached_property
    def bounds(self) -> tuple[np.float64, np.float64] | None:
        """The smallest and the largest of those that are finite; None where that is not known, or none is.

        They are NumPy's, as is all that follows: what is computed with them overflows to infinity.
        """
        if self.summary is None or self.dtype.startswith("complex"):
            return None
        odd = self.summary.nan + self.summary.inf
        if odd >= self.summary.count:
            return None
        return np.float64(self.summary.minimum), np.float64(self.summary.maximum)

    @property
    def magnitude(self) -> np.float64:
        """The largest magnitude of those that are finite; NaN where that is not known."""
        if self.summary is not None and self.dtype.startswith("complex"):
            return np.float64(self.summary.maximum)
        return np.float64("nan") if self.bounds is None else max(map(abs, self.bounds))

    @property
    def smallest(self) -> np.float64:
        """What no magnitude of those that are neither zero nor infinite lies below; 0 where that is not known."""
        if self.value is not None:
            sizes = np.abs(self.value[np.isfinite(self.value) & (self.value != 0)].astype(np.float64))
            return np.float64(sizes.min() if sizes.size else "inf")
        if self.bounds is None or self.bounds[0] <= 0 <= self.bounds[1]:
            return np.float64(0.0)
        return min(map(abs, self.bounds))

    def zero(self) -> Extent:
        """Those that are 0."""
        if self.value is not None or self.summary is None:
            return UNKNOWN if self.value is None else Extent.of(self.value == 0)
        return Extent(self.summary.zero > 0, self.summary.zero == self.count, None, self.summary.zero, self.count)

    def infinite(self) -> Extent:
        """Those that are infinite."""
        if self.finite:
            return NOWHERE
        if self.value is not None or self.summary is None:
            return UNKNOWN if self.value is None else Extent.of(np.isinf(self.value))
        return Extent(self.summary.inf > 0, self.summary.inf == self.count, None, self.summary.inf, self.count)

    def nan(self) -> Extent:
        """Those that are NaN."""
        if self.finite:
            return NOWHERE
        if self.value is not None or self.summary is None:
            return UNKNOWN if self.value is None else Extent.of(np.isnan(self.value))
        return Extent(self.summary.nan > 0, self.summary.nan == self.count, None, self.summary.nan, self.count)

    def below(self, limit: float) -> Extent:
        """Those that are smaller."""
        return self._compared(lambda x: x < limit, lambda low, _: low < limit, lambda _, high: high < limit)

    def above(self, limit: float) -> Extent:
        """Those that are larger."""
        return self._compared(lambda x: x > limit, lambda _, high: high > limit, lambda low, _: low > limit)

    def beyond(self, limit: float) -> Extent:
        """Those of a larger magnitude."""
        return self.below(-limit) | self.above(limit)

    def at(self, number: float) -> Extent:
        """Those that are a certain number; whether one is between the ends is not known."""
        found = self._compared(
            lambda x: x == number, lambda low, high: low <= number <= high, lambda low, high: low == number == high
        )
        inside = self.value is None and found.some and self.bounds is not None and number not in self.bounds
        return Extent(None, False) if inside else found

    def fractional(self) -> Extent:
        """Those that are no whole numbers."""
        if self.value is not None:
            return Extent.of(self.value != np.round(self.value))
        return NOWHERE if self.dtype.startswith(("int", "uint", "bool")) else UNKNOWN

    def _compared(
        self,
        test: Callable[[Any], Any],
        some: Callable[[float, float], bool],
        every: Callable[[float, float], bool],
    ) -> Extent:
        if self.value is not None:
            return Extent.of(test(self.value))
        if self.bounds is None or self.summary is None:
            return UNKNOWN
        finite = self.summary.finite
        found = some(*self.bounds)
        return Extent(found or (False if finite else None), finite and every(*self.bounds))


def numbers_of(node: Node, slot: int = 0) -> Numbers:
    """What a node has made."""
    value = node.output(slot)
    summary = node.graph.log.summary(node.row, slot) if slot else node.summary
    shape, dtype = node.outputs[slot] if slot < len(node.outputs) else (node.shape, node.dtype)
    finite = summary is None and node.graph.log.nonfinite(node.graph.value_row(node.row)) is False
    return Numbers(value, summary, shape, dtype, finite=finite)


def operand_numbers(operand: Operand) -> Numbers:
    """What stood at a place of an op."""
    if operand.edge is not None and operand.edge.source.kind == "grad":  # what a rule makes has no value of its own
        return Numbers()
    if operand.edge is not None:
        return numbers_of(operand.edge.source, operand.edge.slot)
    if isinstance(operand.constant, int | float):
        value = np.asarray(operand.constant)
        return Numbers(value, summarize(value), (), "int64" if isinstance(operand.constant, int) else "float64")
    return Numbers()
