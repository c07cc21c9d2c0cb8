"""Which training steps of a program are recorded: every so many one, and those that follow something remarkable."""

from __future__ import annotations

import math

from graphscope.errors import LogError


class Sampling:
    """Decides it at the end of each step. The first step is recorded.

    Args:
        every: One of so many steps is recorded.
        burst: So many steps are recorded after something remarkable.

    Raises:
        LogError: `every` is less than 1.
    """

    def __init__(self, every: int, burst: int) -> None:
        if every < 1:
            raise LogError(f"every={every} is no number of steps", hint="give 1 or more")
        self.every = every
        self.ended = 0
        """Steps that have ended."""
        self.loss: float | None = None
        """What the newest backward pass began from in a step that is left out; None where there was none yet."""
        self._burst = burst
        self.until = 0
        """Up to this step all are recorded."""
        self._is_finite = True

    def step(self) -> bool:
        """Note that a step has ended; whether the next one is recorded."""
        self.ended += 1
        return self.ended % self.every == 0 or self.ended < self.until

    def meet(self, loss: float | None) -> bool:
        """Note the loss of a step that ends; whether it is remarkable, as the first is that is NaN or Inf."""
        self.loss = None
        if loss is None:
            return False
        was_finite, self._is_finite = self._is_finite, math.isfinite(loss)
        return was_finite and not self._is_finite

    def remark(self) -> None:
        """Record the steps that follow the one which runs now."""
        self.until = self.ended + 1 + self._burst
