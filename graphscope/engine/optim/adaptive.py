"""Optimizers that give each element a rate of its own: RMSprop, Adagrad, Adadelta."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core.settings import KW_ONLY
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.inplace import add_
from graphscope.engine.ops.updates import blend_, blend_square_, scaled_step_
from graphscope.engine.optim.adam import counted, decayed, zeros_like
from graphscope.engine.optim.optimizer import DeclaredOptimizer


class RMSprop(DeclaredOptimizer):
    """Gradients divided by the root of their mean square. Source: Hinton, 2012."""

    lr: float = 1e-2
    alpha: float = 0.99
    eps: float = 1e-8
    weight_decay: float = 0
    momentum: float = 0
    centered: bool = False
    capturable: bool = False
    foreach: bool | None = None
    maximize: bool = False
    differentiable: bool = False

    def _update(self, parameter: Any, gradient: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            names = ["square_avg"]
            names += ["momentum_buffer"] if group["momentum"] > 0 else []
            names += ["grad_avg"] if group["centered"] else []
            state.update(step=Tensor(np.float32(0)), **{name: zeros_like(parameter) for name in names})
        counted(state)
        lr, alpha = float(group["lr"]), group["alpha"]
        gradient = decayed(parameter, gradient, group)
        square = state["square_avg"]
        blend_square_(square, gradient, keep=alpha, add=1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"]
            blend_(mean, gradient, keep=alpha, add=1 - alpha)
            square = square - mean * mean
        if group["momentum"] > 0:
            buffer = state["momentum_buffer"]
            blend_(buffer, gradient / (square.sqrt() + group["eps"]), keep=group["momentum"], add=1)
            add_(parameter, buffer, alpha=-lr)
        else:
            scaled_step_(parameter, gradient, square, step=lr, scale=1.0, eps=group["eps"])


class Adagrad(DeclaredOptimizer):
    """Gradients divided by the root of the sum of all squares so far. Source: Duchi and others, 2011."""

    lr: float = 1e-2
    lr_decay: float = 0
    weight_decay: float = 0
    initial_accumulator_value: float = 0
    eps: float = 1e-10
    foreach: bool | None = None
    _: KW_ONLY
    maximize: bool = False
    differentiable: bool = False
    fused: bool | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for group in self.param_groups:
            for parameter in group["params"]:
                both = 1 + 1j if parameter.array.dtype.kind == "c" else 1  # of complex numbers, each part
                total = Tensor(np.full_like(parameter.array, group["initial_accumulator_value"] * both)[()])
                self.state[parameter].update(step=Tensor(np.float32(0)), sum=total)

    def _update(self, parameter: Any, gradient: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        step = counted(state)
        gradient = decayed(parameter, gradient, group)
        blend_square_(state["sum"], gradient, keep=1, add=1)
        rate = float(group["lr"]) / (1 + (step - 1) * group["lr_decay"])
        scaled_step_(parameter, gradient, state["sum"], step=rate, scale=1.0, eps=group["eps"])


class Adadelta(DeclaredOptimizer):
    """Steps as large as the steps before, by their mean squares. Source: Zeiler, 2012."""

    lr: float = 1.0
    rho: float = 0.9
    eps: float = 1e-6
    weight_decay: float = 0
    foreach: bool | None = None
    _: KW_ONLY
    capturable: bool = False
    maximize: bool = False
    differentiable: bool = False

    def check(self, settings: dict[str, Any]) -> None:
        super().check(settings)
        if not 0.0 <= settings["rho"] <= 1.0:
            raise ValueError(f"Invalid rho value: {settings['rho']}; it must be between 0 and 1")

    def _update(self, parameter: Any, gradient: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            zeros = {"square_avg": zeros_like(parameter), "acc_delta": zeros_like(parameter)}
            state.update(step=Tensor(np.float32(0)), **zeros)
        counted(state)
        rho, eps = group["rho"], group["eps"]
        gradient = decayed(parameter, gradient, group)
        blend_square_(state["square_avg"], gradient, keep=rho, add=1 - rho)
        change = (state["acc_delta"] + eps).sqrt() / (state["square_avg"] + eps).sqrt() * gradient
        blend_square_(state["acc_delta"], change, keep=rho, add=1 - rho)
        add_(parameter, change, alpha=-float(group["lr"]))
