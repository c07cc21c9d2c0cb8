"""Gradients kept small: all of them by their common norm, or each element by itself."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from graphscope.engine.core import training
from graphscope.engine.core.modes import no_grad
from graphscope.engine.core.tensor import Tensor
from graphscope.eventlog import record as recording


def _given(parameters: Any) -> list[Any]:
    return [parameters] if isinstance(parameters, Tensor) else list(parameters)


def get_total_norm(
    tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """The norm of all elements of some tensors together.

    Args:
        tensors: The tensors.
        norm_type: Which norm; `inf` is the largest absolute value.
        error_if_nonfinite: Whether a norm that is not finite is an error.
        foreach: Accepted and of no effect.

    Raises:
        RuntimeError: The norm is not finite, and that is an error.
    """
    arrays = [tensor.array for tensor in _given(tensors)]
    order = float(norm_type)
    norms = [np.linalg.norm(np.ravel(array), order) for array in arrays]
    total = np.linalg.norm(np.array(norms), order) if norms else np.float32(0)
    if error_if_nonfinite and not math.isfinite(total):
        raise RuntimeError(
            f"The total norm of order {order} for gradients from `parameters` is non-finite, so it cannot be clipped. "
            "To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    return Tensor(arrays[0].dtype.type(total) if arrays else total)


def clip_grads_with_norm_(parameters: Any, max_norm: float, total_norm: Any, foreach: bool | None = None) -> None:
    """Scale gradients so that a norm that is known becomes `max_norm` at most."""
    factor = min(float(max_norm) / (float(total_norm) + 1e-6), 1.0)
    with no_grad():
        for parameter in _given(parameters):
            if parameter.grad is not None:
                parameter.grad.mul_(factor)


def clip_grad_norm_(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale the gradients of parameters so that their common norm is `max_norm` at most.

    Returns:
        The norm before.

    Raises:
        RuntimeError: The norm is not finite, and that is an error.
    """
    given = _given(parameters)
    gradients = [parameter.grad for parameter in given if parameter.grad is not None]
    total = get_total_norm(gradients, norm_type, error_if_nonfinite)
    clip_grads_with_norm_(given, max_norm, total)
    _tell("clip_grad_norm_", given, max_norm)
    return total


def clip_grad_value_(parameters: Iterable[Any] | Any, clip_value: float, foreach: bool | None = None) -> None:
    """Bring each element of the gradients of parameters within ±clip_value."""
    given, limit = _given(parameters), float(clip_value)
    with no_grad():
        for parameter in given:
            if parameter.grad is not None:
                parameter.grad.copy_(Tensor(np.clip(parameter.grad.array, -limit, limit)))
    _tell("clip_grad_value_", given, limit)


def _tell(name: str, parameters: list[Any], limit: float) -> None:
    told = training.told()
    frame = None if told is None else recording.user_frame(2)
    if told is not None and frame is not None:
        told.clipped(name, parameters, (float(limit),), frame)
