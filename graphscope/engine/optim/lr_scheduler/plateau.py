"""A scheduler that waits until nothing gets better."""

from __future__ import annotations

import math
from sys import _getframe
from typing import Any, Final

from graphscope.engine.core import training
from graphscope.engine.optim.lr_scheduler.scheduler import LRScheduler, checked
from graphscope.engine.optim.optimizer import Optimizer

BETTER: Final = {
    ("min", "rel"): lambda value, best, threshold: value < best * (1.0 - threshold),
    ("min", "abs"): lambda value, best, threshold: value < best - threshold,
    ("max", "rel"): lambda value, best, threshold: value > best * (1.0 + threshold),
    ("max", "abs"): lambda value, best, threshold: value > best + threshold,
}
"""By mode and mode of the threshold: whether a value is better than the best."""


class ReduceLROnPlateau(LRScheduler):
    """Times `factor` when a number that should fall (or rise) has not done so for more than `patience` epochs.

    Args:
        optimizer: Whose learning rates they are.
        mode: `min` if the number should fall, `max` if it should rise.
        factor: What the learning rate is multiplied by.
        patience: How many epochs without improvement are let pass.
        threshold: What counts as an improvement.
        threshold_mode: Whether the threshold is a part of the best (`rel`) or a number (`abs`).
        cooldown: How many epochs are let pass after a change.
        min_lr: The lowest learning rate, for all groups or each.
        eps: Smaller changes are not made.

    Raises:
        ValueError: A setting is out of range.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: Any = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.optimizer = checked(optimizer)
        count = len(optimizer.param_groups)
        self.min_lrs = list(min_lr) if isinstance(min_lr, list | tuple) else [min_lr] * count
        if len(self.min_lrs) != count:
            raise ValueError(f"expected {count} min_lrs, got {len(self.min_lrs)}")
        self.mode = mode
        self.factor = factor
        self.patience = patience
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0
        self.best = math.inf if mode == "min" else -math.inf
        self.cooldown_counter = 0
        self.num_bad_epochs = 0
        self._last_lr = self._rates()
        if (told := training.told()) is not None:
            told.built_scheduler(self)

    @property
    def in_cooldown(self) -> bool:
        """Whether a change was made a short while ago."""
        return self.cooldown_counter > 0

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Look at the number of the epoch that ended.

        Args:
            metrics: The number: the loss on held-out data, for example.
            epoch: Which epoch it was.
        """
        value = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if BETTER[self.mode, self.threshold_mode](value, self.best, self.threshold):
            self.best = value
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = self._rates()
        training.returned("scheduler.step", self, _getframe(1))

    def _reduce(self) -> None:
        for group, least in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
            rate = max(float(group["lr"]) * self.factor, least)
            if group["lr"] - rate > self.eps:
                group["lr"] = rate
