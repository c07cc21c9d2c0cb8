"""Optimizers that see a parameter as a matrix: Adafactor keeps rows and columns, Muon makes its steps orthogonal."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.inplace import add_
from graphscope.engine.ops.updates import blend_
from graphscope.engine.optim.adam import counted, zeros_like
from graphscope.engine.optim.optimizer import Optimizer, at_least_0


class Adafactor(Optimizer):
    """Adam whose mean squares are kept as one number a row and a column. Source: Shazeer and Stern, 2018."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        at_least_0(lr=lr, weight_decay=weight_decay, epsilon1=eps[0] or 0.0, epsilon2=eps[1])
        if beta2_decay > 0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if d < 1:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        super().__init__(
            params,
            {
                "lr": lr,
                "beta2_decay": beta2_decay,
                "eps": eps,
                "d": d,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
            },
        )

    def _update(self, parameter: Any, gradient: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        g = gradient.array
        factored = g.ndim > 1
        if not state:
            kept = {"row_var": (*g.shape[:-1], 1), "col_var": (*g.shape[:-2], 1, *g.shape[-1:])} if factored else {}
            state.update(step=Tensor(np.float32(0)))
            state.update({name: Tensor(np.zeros(shape, g.dtype)) for name, shape in kept.items()})
            state.update({} if factored else {"variance": zeros_like(parameter)})
        step = counted(state)
        lr = float(group["lr"])
        least = np.finfo(g.dtype).eps if group["eps"][0] is None else group["eps"][0]
        share = step ** group["beta2_decay"]
        length = max(group["eps"][1], _root_mean_square(parameter.array)) * min(lr, 1 / math.sqrt(step))
        if group["weight_decay"] != 0:
            parameter.mul_(1 - lr * group["weight_decay"])
        square = g * g
        if factored:
            row, column = state["row_var"], state["col_var"]
            blend_(row, Tensor(square.mean(-1, keepdims=True)), keep=1 - share, add=share)
            blend_(column, Tensor(square.mean(-2, keepdims=True)), keep=1 - share, add=share)
            estimate = row.array @ column.array / np.maximum(row.array.mean(-2, keepdims=True), least)
        else:
            blend_(state["variance"], Tensor(square), keep=1 - share, add=share)
            estimate = state["variance"].array
        change = g / np.sqrt(np.maximum(estimate, g.dtype.type(least) ** 2))
        add_(parameter, Tensor(change), alpha=-length / max(1.0, _root_mean_square(change) / group["d"]))


def _root_mean_square(x: Any) -> float:
    return math.sqrt(float(np.vdot(x, x)) / x.size) if x.size else 0.0


_TO_ORTHOGONAL: Final = (3.4445, -4.775, 2.0315)
"""Coefficients of x, x³ and x⁵ that bring singular values near 1 in few steps."""

_RATES: Final[dict[str | None, Any]] = {
    None: lambda rows, columns: math.sqrt(max(1, rows / columns)),
    "original": lambda rows, columns: math.sqrt(max(1, rows / columns)),
    "match_rms_adamw": lambda rows, columns: 0.2 * math.sqrt(max(rows, columns)),
}
"""Factors of the learning rate by the shape of the parameter, under the names of `adjust_lr_fn`."""


class Muon(Optimizer):
    """Momentum, made orthogonal by iterations of Newton and Schulz; for matrices alone. Source: Jordan, 2024.

    Its iterations are rounded to bfloat16, as PyTorch's.
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = _TO_ORTHOGONAL,
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        at_least_0(lr=lr, momentum=momentum, weight_decay=weight_decay)
        if adjust_lr_fn not in _RATES:
            known = ", ".join(repr(name) for name in _RATES)
            raise ValueError(f"adjust_lr_fn is {adjust_lr_fn!r}; it must be one of {known}")
        super().__init__(
            params,
            {
                "lr": lr,
                "weight_decay": weight_decay,
                "momentum": momentum,
                "nesterov": nesterov,
                "ns_coefficients": ns_coefficients,
                "eps": eps,
                "ns_steps": ns_steps,
                "adjust_lr_fn": adjust_lr_fn,
            },
        )
        for parameter in (each for group in self.param_groups for each in group["params"]):
            if parameter.ndim != 2:
                raise ValueError(
                    f"Muon only supports 2D parameters whereas we found a parameter with size: {tuple(parameter.shape)}"
                )

    def _update(self, parameter: Any, gradient: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            state["momentum_buffer"] = zeros_like(parameter)
        keep, buffer, lr = group["momentum"], state["momentum_buffer"], float(group["lr"])
        blend_(buffer, gradient, keep=keep, add=1 - keep)
        change = gradient * (1 - keep) + buffer * keep if group["nesterov"] else buffer
        turned = _orthogonal(change.array, group["ns_coefficients"], group["ns_steps"], group["eps"])
        parameter.mul_(1 - lr * group["weight_decay"])
        add_(parameter, Tensor(turned), alpha=-lr * _RATES[group["adjust_lr_fn"]](*parameter.shape))


def _coarse(x: Any) -> Any:
    """Numbers rounded to those that bfloat16 has, as float32."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & np.uint32(0xFFFF0000)).view(np.float32)


def _orthogonal(x: Any, coefficients: tuple[float, float, float], steps: int, eps: float) -> Any:
    """A matrix with the singular vectors of x, and singular values near 1."""
    first, third, fifth = coefficients
    wide = _coarse(x.mT if x.shape[0] > x.shape[1] else x)
    wide = _coarse(wide / max(float(_coarse(np.linalg.norm(wide))), eps))
    for _ in range(steps):
        gram = _coarse(wide @ wide.mT)
        wide = _coarse(first * wide + _coarse(third * gram + fifth * (gram @ gram)) @ wide)
    return (wide.mT if x.shape[0] > x.shape[1] else wide).astype(x.dtype)
