"""Losses and learning rates of training steps that are not here yet when their steps end: an accelerator computes them.

They are told when the step behind theirs ends, or when somebody reads the log, or it ends: nothing waits in a step for
what the accelerator has not come to.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from graphscope.eventlog.step_series import StepSeries


class LateNumber(Protocol):
    """A number that an accelerator computes."""

    value: float | None
    """The number, when it has come; None: it never does."""

    def comes(self) -> bool:
        """Wait for it; False while nothing may wait: then it is to be asked for again."""


class _Ended(NamedTuple):
    """A step that has ended."""

    step: int
    """Counted from 1."""
    losses: Sequence[LateNumber | float]
    """What its backward passes began from, in their order."""
    rate: LateNumber | None
    """None: it was known."""

    def has_come(self) -> bool:
        for each in self.losses:
            if not isinstance(each, float) and not each.comes():
                return False
        return self.rate is None or self.rate.comes()

    def loss(self) -> float | None:
        """That of the newest pass, or of one before it that is not finite, as `StepCounts.note_loss` has it."""
        found: float | None = None
        for each in self.losses:
            value = each if isinstance(each, float) else each.value
            if value is not None and (found is None or math.isfinite(found)):
                found = value
        return found


class LateNumbers:
    """Those of a recording."""

    def __init__(self) -> None:
        self.is_elsewhere = False
        """Whether losses lie on an accelerator: then each step that is left out is looked at as it ends."""
        self.number_of: Callable[[Any], LateNumber | float] = float
        """What a learning rate is: a producer says so that knows numbers which lie elsewhere."""
        self._losses: list[LateNumber | float] = []
        """Of the step that runs."""
        self._ended: tuple[_Ended, ...] = ()

    @property
    def has_losses(self) -> bool:
        """Whether a loss of the step that runs is still to come."""
        return bool(self._losses)

    def note(self, before: float | None, loss: LateNumber) -> None:
        """Note the loss of a backward pass of the step that runs.

        Args:
            before: What is known of the loss of passes before it, and no more to be told by others.
            loss: What it begins from.
        """
        self._losses += [loss] if before is None else [before, loss]

    def end(self, step: int, loss: float | None, rate: LateNumber | float) -> tuple[float | None, float]:
        """A step ends.

        Args:
            step: Which, counted from 1.
            loss: What is known of it.
            rate: Its learning rate.

        Returns:
            The loss and the rate as far as they can be told now.
        """
        losses, self._losses = self._losses, []
        if losses and loss is not None:
            losses.append(loss)
        late = None if isinstance(rate, float) else rate
        if losses or late is not None:
            self._ended += (_Ended(step, losses, late),)
        return None if losses else loss, rate if isinstance(rate, float) else math.nan

    def fetch(self, series: StepSeries) -> None:
        """Tell a series of all steps that have ended: somebody reads it."""
        for each in self._ended:
            _tell(each, series)

    def losses(self, series: StepSeries) -> Iterator[float]:
        """Tell a series of the steps that have ended, and give their losses in turn."""
        while self._ended and _tell(first := self._ended[0], series):
            self._ended = self._ended[1:]
            loss = first.loss()
            if loss is not None:
                yield loss


def _tell(ended: _Ended, series: StepSeries) -> bool:
    """Tell a series of a step, if its numbers have come."""
    if not ended.has_come():
        return False
    series.tell(ended.step, ended.loss(), None if ended.rate is None else ended.rate.value)
    return True
