"""Adam and its kin: steps along a running mean of gradients, scaled by the root of their mean square."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core.settings import KW_ONLY
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.updates import blend_, blend_square_, scaled_step_
from graphscope.engine.optim.optimizer import DeclaredOptimizer


def zeros_like(parameter: Any) -> Tensor:
    """Where a running mean begins."""
    return Tensor(np.zeros_like(parameter.array)[()])


def counted(state: dict[str, Any]) -> float:
    """The number of the step that is being taken, from 1."""
    step = state["step"]
    step.array = np.float32(step.array + 1)
    step.row = -1
    return float(step.array)


class Adam(DeclaredOptimizer):
    """Adaptive moments. Source: Kingma and Ba, 2014.

    Args:
        params: Tensors that require grad, or groups of them.
        lr: The learning rate.
        betas: The factors of the running means of gradients and of their squares.
        eps: Added to the root, so that nothing is divided by 0.
        weight_decay: How much of the parameter is added to its gradient.
        amsgrad: Whether the largest mean square so far counts. Source: Reddi and others, 2018.
        foreach: Accepted and of no effect, as are `capturable`, `differentiable` and `fused`.
        maximize: Whether to go up.
        decoupled_weight_decay: Whether the parameter shrinks by itself instead, as in AdamW.

    Raises:
        ValueError: A setting is out of range, or there are no parameters.
    """

    lr: float = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0
    amsgrad: bool = False
    _: KW_ONLY
    foreach: bool | None = None
    maximize: bool = False
    capturable: bool = False
    differentiable: bool = False
    fused: bool | None = None
    decoupled_weight_decay: bool = False

    def _update(self, parameter: Any, gradient: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            names = ("exp_avg", "exp_avg_sq", *(("max_exp_avg_sq",) if group["amsgrad"] else ()))
            state.update(step=Tensor(np.float32(0)), **{name: zeros_like(parameter) for name in names})
        step = counted(state)
        lr = float(group["lr"])
        beta1, beta2 = map(float, group["betas"])
        gradient = decayed(parameter, gradient, group)
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        blend_(mean, gradient, keep=beta1, add=1 - beta1)
        blend_square_(square, gradient, keep=beta2, add=1 - beta2)
        if group["amsgrad"]:
            square = state["max_exp_avg_sq"].copy_(Tensor(np.maximum(state["max_exp_avg_sq"].array, square.array)))
        scale = (1 - beta2**step) ** 0.5
        scaled_step_(parameter, mean, square, step=lr / (1 - beta1**step), scale=scale, eps=group["eps"])


class AdamW(Adam):
    """Adam whose parameters shrink by themselves. Source: Loshchilov and Hutter, 2017."""

    weight_decay: float = 1e-2
    decoupled_weight_decay: bool = True


def decayed(parameter: Any, gradient: Any, group: dict[str, Any]) -> Any:
    """The gradient with weight decay; or the parameter shrinks, if that is decoupled."""
    if group["weight_decay"] == 0:
        return gradient
    if group.get("decoupled_weight_decay"):
        parameter.mul_(1 - float(group["lr"]) * group["weight_decay"])
        return gradient
    return gradient + parameter * group["weight_decay"]
