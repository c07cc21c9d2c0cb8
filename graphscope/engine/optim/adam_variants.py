"""Adamax, NAdam and RAdam: Adam with another scale, with Nesterov's momentum, and with a warm-up of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core.settings import KW_ONLY
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.inplace import add_
from graphscope.engine.ops.updates import blend_, blend_square_
from graphscope.engine.optim.adam import counted, decayed, zeros_like
from graphscope.engine.optim.optimizer import DeclaredOptimizer


class Adamax(DeclaredOptimizer):
    """Adam scaled by the largest gradient so far. Source: Kingma and Ba, 2014."""

    lr: float = 2e-3
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0
    foreach: bool | None = None
    _: KW_ONLY
    maximize: bool = False
    differentiable: bool = False
    capturable: bool = False

    def _update(self, parameter: Any, gradient: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            zeros = {"exp_avg": zeros_like(parameter), "exp_inf": zeros_like(parameter)}
            state.update(step=Tensor(np.float32(0)), **zeros)
        step = counted(state)
        beta1, beta2 = group["betas"]
        gradient = decayed(parameter, gradient, group)
        mean, largest = state["exp_avg"], state["exp_inf"]
        blend_(mean, gradient, keep=beta1, add=1 - beta1)
        largest.copy_(Tensor(np.maximum(largest.array * beta2, np.abs(gradient.array) + group["eps"])))
        add_(parameter, mean / largest, alpha=-float(group["lr"]) / (1 - beta1**step))


class NAdam(DeclaredOptimizer):
    """Adam that looks ahead by its momentum. Source: Dozat, 2016."""

    lr: float = 2e-3
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0
    momentum_decay: float = 4e-3
    decoupled_weight_decay: bool = False
    _: KW_ONLY
    foreach: bool | None = None
    maximize: bool = False
    capturable: bool = False
    differentiable: bool = False

    def _update(self, parameter: Any, gradient: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            zeros = {"exp_avg": zeros_like(parameter), "exp_avg_sq": zeros_like(parameter)}
            state.update(step=Tensor(np.float32(0)), mu_product=Tensor(np.float32(1)), **zeros)
        step = counted(state)
        lr = float(group["lr"])
        beta1, beta2 = group["betas"]
        gradient = decayed(parameter, gradient, group)
        now, then = (beta1 * (1 - 0.5 * 0.96 ** (number * group["momentum_decay"])) for number in (step, step + 1))
        product = state["mu_product"]
        product.array = np.float32(product.array * now)
        reached = float(product.array)
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        blend_(mean, gradient, keep=beta1, add=1 - beta1)
        blend_square_(square, gradient, keep=beta2, add=1 - beta2)
        root = (square / (1 - beta2**step)).sqrt() + group["eps"]
        add_(parameter, gradient / root, alpha=-lr * (1 - now) / (1 - reached))
        add_(parameter, mean / root, alpha=-lr * then / (1 - reached * then))


class RAdam(DeclaredOptimizer):
    """Adam that scales only once its mean square can be trusted. Source: Liu and others, 2019."""

    lr: float = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0
    decoupled_weight_decay: bool = False
    _: KW_ONLY
    foreach: bool | None = None
    maximize: bool = False
    capturable: bool = False
    differentiable: bool = False

    def _update(self, parameter: Any, gradient: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            zeros = {"exp_avg": zeros_like(parameter), "exp_avg_sq": zeros_like(parameter)}
            state.update(step=Tensor(np.float32(0)), **zeros)
        step = counted(state)
        lr = float(group["lr"])
        beta1, beta2 = group["betas"]
        gradient = decayed(parameter, gradient, group)
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        blend_(mean, gradient, keep=beta1, add=1 - beta1)
        blend_square_(square, gradient, keep=beta2, add=1 - beta2)
        correction = 1 - beta2**step
        most = 2 / (1 - beta2) - 1
        length = most - 2 * step * beta2**step / correction  # of the mean that the running one amounts to
        alpha = -lr / (1 - beta1**step)
        if length <= 5:
            add_(parameter, mean, alpha=alpha)
            return
        rectified = ((length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length)) ** 0.5
        add_(parameter, mean / (square.sqrt() + group["eps"]), alpha=alpha * rectified * correction**0.5)
