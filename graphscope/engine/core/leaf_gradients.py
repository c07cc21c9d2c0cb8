"""The `grad` of a tensor, as programs read, set, delete and clear it: the log is told what they put there."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from graphscope.engine.core import training
from graphscope.engine.core.tensor import Tensor


def _set(self: Tensor, value: Tensor | None) -> None:
    self.gradient = value
    if (told := training.told()) is not None:
        told.given_gradient(self)


def _delete(self: Tensor) -> None:
    _set(self, None)


grad: Any = property(attrgetter("gradient"), _set, _delete, "What backward passes have accumulated here, or None.")


def clear(parameter: Tensor, *, set_to_none: bool) -> None:
    """Forget the gradient of a parameter, which the caller tells of, or set it to 0."""
    gradient = parameter.gradient
    if set_to_none or gradient is None:
        parameter.gradient = None
        return
    if gradient.requires_grad:
        gradient = gradient.detach()
        _set(parameter, gradient)
    gradient.zero_()
