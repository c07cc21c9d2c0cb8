"""Custom functions of which differences say nothing, or as much as the program's settings allow: none is blamed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import torch
from torch.autograd import Function

UNJUDGED: Final[dict[str, tuple[Callable[[], torch.Tensor], str]]] = {}
"""Computes a loss; and a part of what `check` says of the function."""


def unjudged(reason: str) -> Callable[[Callable[[], torch.Tensor]], Callable[[], torch.Tensor]]:
    def enter(program: Callable[[], torch.Tensor]) -> Callable[[], torch.Tensor]:
        UNJUDGED[program.__name__] = program, reason
        return program

    return enter


class Square(Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> Any:
        return 2 * g * ctx.saved_tensors[0]


def _x(*shape: int) -> torch.Tensor:
    return torch.linspace(-1.4, 1.3, int(np.prod(shape))).reshape(shape).requires_grad_()


@unjudged("steps")
def straight_through() -> torch.Tensor:
    class Round(Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x.round()

        @staticmethod
        def backward(ctx: Any, g: torch.Tensor) -> Any:
            return g

    return Round.apply(_x(4)).sum()


@unjudged("not differentiable at 1 of 3")
def kink_beside_others() -> torch.Tensor:
    class Relu(Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x)
            return x.clamp(min=0)

        @staticmethod
        def backward(ctx: Any, g: torch.Tensor) -> Any:
            return g * (ctx.saved_tensors[0] > 0)

    return Relu.apply(torch.tensor([0.0, 1.0, -1.0], requires_grad=True)).sum()


def _norm(x: torch.Tensor) -> float:
    return float((x * x).sum())


@unjudged("reads numbers")
def number_in_a_helper() -> torch.Tensor:
    class Scaled(Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x)
            ctx.norm = _norm(x)
            return x * ctx.norm

        @staticmethod
        def backward(ctx: Any, g: torch.Tensor) -> Any:
            (x,) = ctx.saved_tensors
            return g * ctx.norm + 2 * x * (g * x).sum()

    return Scaled.apply(_x(4)).pow(2).sum()


@unjudged("reads numbers")
def array_of_numpy() -> torch.Tensor:
    class Sine(Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x)
            return torch.as_tensor(np.sin(x.numpy()))

        @staticmethod
        def backward(ctx: Any, g: torch.Tensor) -> Any:
            return g * ctx.saved_tensors[0].cos()

    return Sine.apply(_x(4)).sum()


@unjudged("hands on what it was given")
def in_place() -> torch.Tensor:
    class Doubled(Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor) -> Any:
            x.mul_(2)
            ctx.mark_dirty(x)
            ctx.save_for_backward(y)
            return x, y * y

        @staticmethod
        def backward(ctx: Any, g: torch.Tensor, h: torch.Tensor) -> Any:
            return g * 2, 2 * h * ctx.saved_tensors[0]

    one, other = Doubled.apply(_x(3) * 1, _x(3))
    return one.sum() + other.sum()


@unjudged("hook")
def hooked() -> torch.Tensor:
    x = _x(4) * 2
    x.register_hook(lambda g: g * 10)
    return Square.apply(x).sum()


@unjudged("hook")
def hooked_leaf() -> torch.Tensor:
    x = _x(4)
    x.register_hook(lambda g: g * 10)
    return Square.apply(x).sum()


@unjudged("NaN")
def nan() -> torch.Tensor:
    return Square.apply(torch.tensor([float("nan"), 1.0], requires_grad=True)).sum()
