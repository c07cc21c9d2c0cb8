"""What compiled code reads and writes in each training step, side by side in memory.

Little of it is in the processor's caches when a step ends: each object that has to be looked at makes the program wait.
"""

from __future__ import annotations

import math
from typing import Final

_LENGTH: Final = 12
"""So many numbers of 8 bytes: `Counts` in `_adapter.h` of PyTorch's adapter, in the order of the attributes below."""
_IS_FINITE, _HAS_LOSS, _LOSS, _NEWEST = 6, 7, 8, 11


class Count:
    """An attribute that is one of them, a whole number.

    Args:
        place: Which.
    """

    def __init__(self, place: int) -> None:
        self._place = place

    def __get__(self, owner: StepCounts, kind: type) -> int:
        return owner.numbers[self._place]

    def __set__(self, owner: StepCounts, value: int) -> None:
        owner.numbers[self._place] = value


class StepCounts:
    """Those of a recording, all 0 at first but for `is_finite`."""

    __slots__ = ("_reals", "memory", "numbers")

    idle = Count(0)
    """So many steps end until one is looked at, while steps are left out."""
    until = Count(1)
    """Up to this step all are recorded."""
    ended = Count(2)
    """Steps that have ended."""
    last = Count(3)
    """The optimizer whose steps end training steps, by `id`."""
    others = Count(4)
    """Steps of others since its last one."""
    scaled = Count(5)
    """So many tensors scale losses up."""
    is_finite = Count(_IS_FINITE)
    """Whether the newest loss is that was looked at: another is remarkable, or the end of that."""
    held = Count(9)
    """So many steps that nobody looked at are not in the series yet."""
    since = Count(10)
    """When the first step of the series ended, in nanoseconds."""

    def __init__(self) -> None:
        self.memory = bytearray(8 * _LENGTH)
        self.numbers: memoryview[int] = memoryview(self.memory).cast("q")
        self._reals: memoryview[float] = memoryview(self.memory).cast("d")
        self.numbers[_IS_FINITE] = True

    @property
    def loss(self) -> float | None:
        """What the newest backward pass of the step began from, or one before it that is not finite; None of none."""
        return self._reals[_LOSS] if self.numbers[_HAS_LOSS] else None

    @loss.setter
    def loss(self, value: float | None) -> None:
        self.numbers[_HAS_LOSS] = value is not None
        self._reals[_LOSS] = value or 0.0

    def note_loss(self, value: float | None) -> None:
        """Note what a backward pass of the step begins from: an earlier one may have spoilt its gradients."""
        if value is None:
            return
        loss, self._reals[_NEWEST] = self.loss, value
        if loss is None or math.isfinite(loss):
            self.loss = value

    @property
    def newest(self) -> float:
        """What the newest backward pass began from of which that is known."""
        return self._reals[_NEWEST]
