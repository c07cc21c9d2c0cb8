"""Averaged stochastic gradient descent: the mean of the way is kept beside the parameter."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.inplace import add_
from graphscope.engine.optim.adam import counted, decayed, zeros_like
from graphscope.engine.optim.optimizer import Optimizer, at_least_0


class ASGD(Optimizer):
    """Gradient descent whose steps shrink; `state[parameter]["ax"]` is the mean. Source: Polyak and Juditsky, 1992."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        at_least_0(lr=lr, weight_decay=weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "lambd": lambd,
                "alpha": alpha,
                "t0": t0,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def _update(self, parameter: Any, gradient: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        lr, shrink = float(group["lr"]), group["lambd"]
        if not state:
            numbers = {name: Tensor(np.float32(value)) for name, value in (("step", 0), ("eta", lr), ("mu", 1))}
            state.update(**numbers, ax=zeros_like(parameter))
        step = counted(state)
        gradient = decayed(parameter, gradient, group)
        rate, share, mean = float(state["eta"]), float(state["mu"]), state["ax"]
        parameter.mul_(1 - shrink * rate)
        add_(parameter, gradient, alpha=-rate)
        add_(mean, parameter - mean, alpha=share) if share != 1 else mean.copy_(parameter)
        state["eta"].fill_(lr / (1 + shrink * lr * step) ** group["alpha"])
        state["mu"].fill_(1 / max(1, step - group["t0"]))
