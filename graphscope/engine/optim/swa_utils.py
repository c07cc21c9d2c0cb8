"""Averages of a model's weights over the steps of training: stochastic weight averaging, and exponential averages.

Source: Izmailov et al., Averaging Weights Leads to Wider Optima and Better Generalization, 2018.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from typing import Any, Final

import numpy as np

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.core.modes import no_grad
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.nn.batchnorm import _BatchNorm
from graphscope.engine.nn.module import Module
from graphscope.engine.optim.lr_scheduler.scheduler import LRScheduler, for_each
from graphscope.engine.optim.optimizer import Optimizer

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

Average = Callable[[Tensor, Tensor, Any], Any]
"""(average so far, tensor of the model, how many were averaged) -> the new average."""
Averages = Callable[[list[Tensor], list[Tensor], Any], None]
"""The same of several tensors of one dtype, written into the averages."""


def get_swa_avg_fn() -> Average:
    """The mean of all models: `average + (new - average) / (count + 1)`."""

    def average(averaged: Tensor, current: Tensor, num_averaged: Any) -> Any:
        return averaged + (current - averaged) / (num_averaged + 1)

    return average


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """The exponential average: `decay * average + (1 - decay) * new`.

    Raises:
        ValueError: `decay` is not between 0 and 1.
    """
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")

    def average(averaged: Tensor, current: Tensor, num_averaged: Any) -> Any:
        return decay * averaged + (1 - decay) * current

    return average


def get_swa_multi_avg_fn() -> Averages:
    """As `get_swa_avg_fn`, of many tensors at once."""
    return _of_many(get_swa_avg_fn())


def get_ema_multi_avg_fn(decay: float = 0.999) -> Averages:
    """As `get_ema_avg_fn`, of many tensors at once."""
    return _of_many(get_ema_avg_fn(decay))


def _of_many(average: Average) -> Averages:
    def update(averaged: list[Tensor], current: list[Tensor], num_averaged: Any) -> None:
        with no_grad():
            for old, new in zip(averaged, current, strict=True):
                old.copy_(average(old, new, num_averaged))

    return update


class AveragedModel(Module):
    """A copy of a model whose parameters are averages of the model's: `update_parameters(model)` adds to them.

    Args:
        model: The model.
        device: Accepted; there is the CPU.
        avg_fn: The average of one tensor, called from the second update on; the mean of all models when left out.
        multi_avg_fn: The same of lists of tensors, in place. One of both may be given.
        use_buffers: Average the buffers, too; else they are those of the model at the last update.

    Raises:
        AssertionError: Both kinds of average are given.
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Average | None = None,
        multi_avg_fn: Averages | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", Tensor(np.int64(0)))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take the parameters of the model, as they are now, into the averages."""
        pairs = list(zip(self._averaged(self.module), self._averaged(model), strict=True))
        with no_grad():
            self._average(pairs)
            if not self.use_buffers:
                for buffer, current in zip(self.module.buffers(), model.buffers(), strict=True):
                    buffer.copy_(current)
            self.n_averaged += 1

    def _average(self, pairs: list[tuple[Tensor, Tensor]]) -> None:
        if not int(self.n_averaged):
            for averaged, current in pairs:
                averaged.copy_(current)
        elif self.multi_avg_fn is None and self.avg_fn is not None:
            for averaged, current in pairs:
                averaged.copy_(self.avg_fn(averaged, current, self.n_averaged))
        else:
            update = self.multi_avg_fn or get_swa_multi_avg_fn()
            for dtype in dict.fromkeys(averaged.dtype for averaged, _ in pairs):
                same = [pair for pair in pairs if pair[0].dtype == dtype]
                update([averaged for averaged, _ in same], [current for _, current in same], self.n_averaged)

    def _averaged(self, model: Module) -> Iterator[Tensor]:
        """What of a model is averaged, detached."""
        buffers = model.buffers() if self.use_buffers else ()
        return (tensor.detach() for tensor in itertools.chain(model.parameters(), buffers))


def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Measure the running statistics of all batch norms again, in one pass over the batches of a loader.

    Args:
        loader: Gives inputs, or tuples that begin with one.
        model: The model, in whose forward pass they are measured.
        device: Where inputs are put first.
    """
    momenta = {module: module.momentum for module in model.modules() if isinstance(module, _BatchNorm)}
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.reset_running_stats()
        module.momentum = None  # statistics are the mean of all batches then
    with no_grad():
        for batch in loader:
            input = batch[0] if isinstance(batch, list | tuple) else batch
            model(input if device is None else input.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


ANNEALING: Final[dict[str, Callable[[float], float]]] = {
    "cos": lambda part: (1 - math.cos(math.pi * part)) / 2,
    "linear": lambda part: part,
}
"""How far the way to the last learning rate has gone, by the part of the epochs that has passed."""


class SWALR(LRScheduler):
    """From the learning rates as they are to `swa_lr`, within `anneal_epochs`, and constant from there.

    Args:
        optimizer: Whose learning rates they are.
        swa_lr: The last learning rate, for all groups or each.
        anneal_epochs: How many epochs it takes.
        anneal_strategy: `cos` or `linear`.
        last_epoch: The epoch that ended last, when a run goes on.

    Raises:
        ValueError: The strategy is another, or the epochs are negative.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: Any,
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        for group, rate in zip(optimizer.param_groups, for_each("swa_lr", optimizer, swa_lr), strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ANNEALING:
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        step = self._step_count - 1 if self.anneal_epochs else max(1, self._step_count - 1)
        before, now = self._way(step - 1), self._way(step)
        rates = []
        for group in self.optimizer.param_groups:
            last = group["swa_lr"]
            first = last if before == 1 else (group["lr"] - before * last) / (1 - before)
            rates.append(last * now + first * (1 - now))
        return rates

    def _way(self, step: int) -> float:
        return ANNEALING[self._anneal_strategy](max(0, min(1, step / max(1, self.anneal_epochs))))


_answer_for(__name__)
