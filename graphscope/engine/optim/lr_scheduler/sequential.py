"""One scheduler after another."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from sys import _getframe
from typing import Any

from graphscope.engine.core import training
from graphscope.engine.optim.lr_scheduler.plateau import ReduceLROnPlateau
from graphscope.engine.optim.lr_scheduler.scheduler import LRScheduler
from graphscope.engine.optim.optimizer import Optimizer


class SequentialLR(LRScheduler):
    """One scheduler after the other; each begins at a milestone."""

    def __init__(
        self, optimizer: Optimizer, schedulers: Sequence[Any], milestones: list[int], last_epoch: int = -1
    ) -> None:
        if not schedulers:
            raise ValueError("SequentialLR expects at least one scheduler, but got no scheduler.")
        self.optimizer = optimizer
        for place, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(f"SequentialLR at index {place} should have `optimizer` as its attribute.")
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(  # noqa: TRY004 - as PyTorch
                    "SequentialLR does not support `ReduceLROnPlateau` scheduler as its `step` needs a number, "
                    f"but got one at index {place}."
                )
            if scheduler.optimizer is not self.optimizer:
                raise ValueError(
                    "SequentialLR expects all schedulers to belong to the same optimizer: "
                    f"the one at index {place} does not"
                )
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of "
                f"milestone points, but got number of schedulers {len(schedulers)} and the number of milestones to be "
                f"equal to {len(milestones)}"
            )
        self._schedulers = list(schedulers)
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        for group in self.optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        _take_back(self._schedulers)
        first = self._schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()
        if (told := training.told()) is not None:
            told.built_scheduler(self)

    def state_dict(self) -> dict[str, Any]:
        """All that it and its schedulers know."""
        return {**super().state_dict(), "_schedulers": [scheduler.state_dict() for scheduler in self._schedulers]}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take back what `state_dict` gave."""
        super().load_state_dict({name: value for name, value in state_dict.items() if name != "_schedulers"})
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            scheduler.load_state_dict(state)

    def step(self, epoch: int | None = None) -> None:
        """Set the learning rates of the next epoch."""
        self.last_epoch += 1
        place = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[place]
        if place and self._milestones[place - 1] == self.last_epoch:
            scheduler._update(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()
        training.returned("scheduler.step", self, _getframe(1))


def _take_back(schedulers: Sequence[Any]) -> None:
    """Undo the first step, which each scheduler took when it was made."""
    for scheduler in schedulers:
        if isinstance(scheduler, SequentialLR):
            _take_back(scheduler._schedulers)
        else:
            scheduler.last_epoch -= 1
