"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graphscope.engine.modes import no_grad
from graphscope.engine.ops.inplace import add_, mul_
from graphscope.engine.tensor import Tensor
from graphscope.eventlog.record import step as end_step


class SGD:
    """Stochastic gradient descent with momentum: `p ← p - lr · g`, in PyTorch's order of operations.

    Args:
        params: Tensors that require grad, or dicts `{"params": [...], "lr": ...}`, each with settings of its own.
        lr: The learning rate.
        momentum: How much of the last step goes into the next.
        dampening: How much of the gradient is left out of the momentum.
        weight_decay: How much of the parameter is added to its gradient.
        nesterov: Whether to look ahead by the momentum.

    Raises:
        ValueError: A setting is out of range, or there are no parameters.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
        }
        for name in ("lr", "momentum", "weight_decay"):
            if defaults[name] < 0:
                raise ValueError(f"SGD: {name} is {defaults[name]}; it must be 0 or more")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("SGD: Nesterov momentum requires a momentum and zero dampening")
        given: list[Any] = [params] if isinstance(params, Tensor) else list(params)
        if not given:
            raise ValueError("SGD got an empty parameter list: pass the tensors to train, e.g. model.parameters()")
        groups: list[dict[str, Any]] = given if isinstance(given[0], dict) else [{"params": given}]
        self.param_groups: list[dict[str, Any]] = [
            {**defaults, **group, "params": [_trainable(tensor) for tensor in group["params"]]} for group in groups
        ]
        self.state: dict[Tensor, dict[str, Tensor]] = {}

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or set them to 0."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if set_to_none or parameter.grad is None:
                    parameter.grad = None
                else:
                    parameter.grad.zero_()

    def step(self) -> None:
        """Change every parameter that has a gradient; the log notes that a training step ends."""
        with no_grad():
            for group in self.param_groups:
                for parameter in group["params"]:
                    if parameter.grad is not None:
                        add_(parameter, self._direction(parameter, group), alpha=-group["lr"])
        end_step()

    def _direction(self, parameter: Any, group: dict[str, Any]) -> Any:
        """The gradient with weight decay and momentum."""
        gradient = parameter.grad
        momentum = group["momentum"]
        if group["weight_decay"]:
            gradient = gradient + parameter * group["weight_decay"]
        if not momentum:
            return gradient
        state = self.state.setdefault(parameter, {})
        buffer: Any = state.get("momentum_buffer")
        if buffer is None:
            buffer = state["momentum_buffer"] = gradient.detach().clone()
        else:
            add_(mul_(buffer, momentum), gradient, alpha=1 - group["dampening"])
        return gradient + buffer * momentum if group["nesterov"] else buffer


def _trainable(tensor: Any) -> Tensor:
    if not isinstance(tensor, Tensor) or tensor.node is not None:
        raise ValueError(
            f"SGD can train leaf tensors only, not {type(tensor).__name__}: a result has no grad to follow"
        )
    tensor.is_parameter = True
    return tensor
