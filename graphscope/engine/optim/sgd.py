"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from graphscope.engine.core.settings import KW_ONLY
from graphscope.engine.ops.inplace import add_
from graphscope.engine.ops.updates import blend_
from graphscope.engine.optim.optimizer import DeclaredOptimizer


class SGD(DeclaredOptimizer):
    """Stochastic gradient descent with momentum: `p ← p - lr · g`, in PyTorch's order of operations.

    Args:
        params: Tensors that require grad, or dicts `{"params": [...], "lr": ...}`, each with settings of its own.
        lr: The learning rate.
        momentum: How much of the last step goes into the next.
        dampening: How much of the gradient is left out of the momentum.
        weight_decay: How much of the parameter is added to its gradient.
        nesterov: Whether to look ahead by the momentum.
        maximize: Whether to go up.
        foreach: Accepted and of no effect, as are the next two.

    Raises:
        ValueError: A setting is out of range, or there are no parameters.
    """

    lr: float = 1e-3
    momentum: float = 0
    dampening: float = 0
    weight_decay: float = 0
    nesterov: bool = False
    _: KW_ONLY
    maximize: bool = False
    foreach: bool | None = None
    differentiable: bool = False
    fused: bool | None = None

    def check(self, settings: dict[str, Any]) -> None:
        super().check(settings)
        if settings["nesterov"] and (settings["momentum"] <= 0 or settings["dampening"] != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")

    def _update(self, parameter: Any, gradient: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        momentum = group["momentum"]
        if group["weight_decay"]:
            gradient = gradient + parameter * group["weight_decay"]
        if momentum:
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = gradient.detach().clone()
            else:
                blend_(buffer, gradient, keep=momentum, add=1 - group["dampening"])
            gradient = gradient + buffer * momentum if group["nesterov"] else buffer
        add_(parameter, gradient, alpha=-float(group["lr"]))
