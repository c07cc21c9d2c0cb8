"""Averages of a model's weights over the steps of training: their mean, and exponential averages.

Source: Izmailov et al., Averaging Weights Leads to Wider Optima and Better Generalization, 2018.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import numpy as np

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.core.modes import no_grad
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.nn.module import Module

__all__ = ["AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn"]

Average = Callable[[Tensor, Tensor, Any], Any]
"""(average so far, tensor of the model, how many were averaged) -> the new average."""
Averages = Callable[[list[Tensor], list[Tensor], Any], None]
"""The same of several tensors, written into the averages."""


def _mean(averaged: Tensor, current: Tensor, num_averaged: Any) -> Any:
    return averaged + (current - averaged) / (num_averaged + 1)


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """The exponential average: `decay * average + (1 - decay) * new`.

    Raises:
        ValueError: `decay` is not between 0 and 1.
    """
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")
    return lambda averaged, current, num_averaged: decay * averaged + (1 - decay) * current


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
        self.module = deepcopy(model).to(device or "cpu")
        self.register_buffer("n_averaged", Tensor(np.int64(0)))
        self._update = multi_avg_fn or _of_many(avg_fn or _mean)
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take the parameters of the model, as they are now, into the averages."""
        averaged, current = list(self._averaged(self.module)), list(self._averaged(model))
        with no_grad():
            (self._update if int(self.n_averaged) else _copy)(averaged, current, self.n_averaged)
            if not self.use_buffers:
                _copy(list(self.module.buffers()), list(model.buffers()), self.n_averaged)
            self.n_averaged += 1

    def _averaged(self, model: Module) -> Iterator[Tensor]:
        """What of a model is averaged, detached."""
        buffers = model.buffers() if self.use_buffers else ()
        return (tensor.detach() for tensor in itertools.chain(model.parameters(), buffers))


_copy = _of_many(lambda averaged, current, num_averaged: current)

_answer_for(__name__)
