"""The scheduler that goes up and far down once, momentum the other way. Source: Smith, 2017."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from graphscope.engine.optim.lr_scheduler.scheduler import LRScheduler, checked, for_each, set_momentum
from graphscope.engine.optim.optimizer import Optimizer

ANNEALINGS: Final[dict[str, Callable[[float, float, float], float]]] = {
    "cos": lambda start, end, share: end + (start - end) / 2.0 * (math.cos(math.pi * share) + 1),
    "linear": lambda start, end, share: (end - start) * share + start,
}
"""By strategy: how to come from one number to another."""


def _begin_momentum(optimizer: Optimizer, base_momentum: Any, max_momentum: Any, last_epoch: int) -> None:
    """Give each group its two momenta, and the larger one to begin with."""
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
    bases = for_each("base_momentum", optimizer, base_momentum)
    for group, base, most in zip(
        optimizer.param_groups, bases, for_each("max_momentum", optimizer, max_momentum), strict=True
    ):
        if last_epoch == -1:
            set_momentum(group, most)
            group.update(max_momentum=most, base_momentum=base)


class OneCycleLR(LRScheduler):
    """Up to `max_lr` and then far down, once in the whole run; momentum down and up."""

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        checked(optimizer)
        self.total_steps = _total(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ANNEALINGS:
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self.anneal_strategy = anneal_strategy
        top = float(pct_start * self.total_steps) - 1
        up = (top, "initial_lr", "max_lr", "max_momentum", "base_momentum")
        if three_phase:
            back = (2 * top, "max_lr", "initial_lr", "base_momentum", "max_momentum")
            out = (self.total_steps - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum")
            self.phases: list[Any] = [up, back, out]
        else:
            self.phases = [up, (self.total_steps - 1, "max_lr", "min_lr", "base_momentum", "max_momentum")]
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, for_each("max_lr", optimizer, max_lr), strict=True):
                group.update(initial_lr=rate / div_factor, max_lr=rate)
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            _begin_momentum(optimizer, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is {self.total_steps}")
        place = next((n for n, phase in enumerate(self.phases) if step <= phase[0]), len(self.phases) - 1)
        begin = self.phases[place - 1][0] if place else 0.0
        end, low, high, momentum, other = self.phases[place]
        share = (step - begin) / (end - begin)
        between = ANNEALINGS[self.anneal_strategy]
        if self.cycle_momentum:
            for group in self.optimizer.param_groups:
                set_momentum(group, between(group[momentum], group[other], share))
        return [between(group[low], group[high], share) for group in self.optimizer.param_groups]


def _total(total_steps: Any, epochs: Any, steps_per_epoch: Any) -> int:
    if total_steps is None and (epochs is None or steps_per_epoch is None):
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    given = (
        {"epochs": epochs, "steps_per_epoch": steps_per_epoch} if total_steps is None else {"total_steps": total_steps}
    )
    for name, value in given.items():
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value}")
    return math.prod(given.values())
