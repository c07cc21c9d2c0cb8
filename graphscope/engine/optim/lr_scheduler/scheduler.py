"""What all schedulers have in common: they count epochs and set the learning rates of each."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from sys import _getframe
from typing import Any

from graphscope.engine.core import training
from graphscope.engine.optim.optimizer import Optimizer


class LRScheduler:
    """Sets the learning rates of an optimizer's groups; a subclass says them in `get_lr`.

    Args:
        optimizer: Whose learning rates they are.
        last_epoch: The epoch that ended last, when a run goes on; -1 at the beginning.

    Raises:
        TypeError: It is no Optimizer.
        KeyError: A run goes on, but a group has no `initial_lr`.
    """

    _initial = False
    """Whether the first learning rates are being set."""

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = checked(optimizer)
        for place, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{place}] when resuming an optimizer: "
                    "load its state dict first, or leave last_epoch at -1"
                )
        self.base_lrs: list[float] = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._steps_before = optimizer._steps
        self._initial_step()
        if (told := training.told()) is not None:
            told.built_scheduler(self)

    def _initial_step(self) -> None:
        self._step_count = 0
        self._initial = True
        try:
            self.step()
        finally:
            self._initial = False

    def get_lr(self) -> list[float]:
        """The learning rates of the epoch that begins.

        Raises:
            NotImplementedError: The subclass does not say.
        """
        raise NotImplementedError(f"{type(self).__name__} has no get_lr(): define it")

    def get_last_lr(self) -> list[float]:
        """The learning rates that were set last."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Set the learning rates of the next epoch; to be called after the optimizer's step."""
        if self._step_count == 1 and self.optimizer._steps == self._steps_before:
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`: call them in the opposite order, "
                "or the first learning rate of the schedule is never used.",
                stacklevel=2,
            )
        self._step_count += 1
        self._update(epoch)
        training.returned("scheduler.step", self, _getframe(1))

    def _update(self, epoch: int | None = None) -> None:
        if epoch is None:
            self.last_epoch += 1
            self._set(self.get_lr())
        else:
            self.last_epoch = epoch
            self._set(self._at_once())

    def _at_once(self) -> list[float]:
        """The learning rates of an epoch that does not follow the last one."""
        return self.get_lr()

    def _set(self, rates: Sequence[float]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate
        self._last_lr = self._rates()

    def _rates(self) -> list[float]:
        """The learning rates as they are."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def _scaled(self, factor: float) -> list[float]:
        """The learning rates as they are, times a factor."""
        return [rate * factor for rate in self._rates()]

    def state_dict(self) -> dict[str, Any]:
        """All that the scheduler knows, but for the optimizer and functions."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer" and not callable(value)}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take back what `state_dict` gave."""
        self.__dict__.update(state_dict)


def checked(optimizer: Any) -> Optimizer:
    """The optimizer itself.

    Raises:
        TypeError: It is none.
    """
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
    return optimizer


def for_each(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """A setting for each group: one for all, or a list.

    Raises:
        ValueError: The list has another length.
    """
    if not isinstance(value, list | tuple):
        return [value] * len(optimizer.param_groups)
    if len(value) != len(optimizer.param_groups):
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups: "
            f"{len(value)} and {len(optimizer.param_groups)}"
        )
    return list(value)


def set_momentum(group: dict[str, Any], momentum: float) -> None:
    """Set the momentum of a group, which of Adam and its kin is the first beta."""
    if "betas" in group:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        group["momentum"] = momentum
