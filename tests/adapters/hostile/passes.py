"""Passes, hooks, and what goes wrong in them."""

# ruff: noqa: B023, E731 - these programs do what people do

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import nn

from tests.adapters.hostile import hostile, leaf


@hostile
def hooks_that_raise() -> Any:
    x = leaf(3)
    y = x * 2

    def refuse(gradient: Any) -> None:
        raise LookupError("hook")

    y.register_hook(refuse)
    try:
        y.sum().backward()
    except LookupError as error:
        return str(error), x.grad
    return None


@hostile
def hooks_that_remove_themselves() -> Any:
    x, ran = leaf(3), []
    y = x * 2
    handle = y.register_hook(lambda gradient: (ran.append(1), handle.remove())[0])
    for _ in range(2):
        y.sum().backward(retain_graph=True)
    return ran, x.grad.tolist()


@hostile
def hooks_of_nodes() -> Any:
    x, ran = leaf(3), []
    y = x.sin()
    y.grad_fn.register_prehook(lambda gradients: (ran.append("before"), (gradients[0] * 2,))[1])
    handle = y.grad_fn.register_hook(lambda given, taken: ran.append("after"))
    y.sum().backward(retain_graph=True)
    handle.remove()
    y.sum().backward()
    return ran, x.grad.tolist()


@hostile
def hooks_of_modules() -> Any:
    model, ran = nn.Linear(3, 2), []
    with torch.no_grad():
        for each in model.parameters():
            each.fill_(0.5)
    model.register_forward_pre_hook(lambda module, given: (given[0] * 2,))
    model.register_forward_hook(lambda module, given, result: result + 1)
    model.register_full_backward_hook(lambda module, given, taken: ran.append(len(taken)))
    x = leaf(1, 3)
    model(x).sum().backward()
    return ran, x.grad.tolist()


@hostile
def hooks_after_accumulation() -> Any:
    x, ran = leaf(3), []
    x.register_post_accumulate_grad_hook(
        lambda tensor: (ran.append(tensor.grad.sum().item()), setattr(tensor, "grad", None))[1]
    )
    (x * 2).sum().backward()
    return ran, x.grad


@hostile
def hooks_of_saved_tensors() -> Any:
    x, packed = leaf(3), []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: (packed.append(tuple(t.shape)), t * 1)[1], lambda t: t):
        y = (x.exp() * x).sum()
    y.backward()
    return packed, x.grad.tolist()


@hostile
def generators() -> Any:
    def layers(x: Any) -> Any:
        with torch.no_grad():
            while True:
                x = x * 2
                yield x.requires_grad, torch.is_grad_enabled()

    made = layers(leaf(2))
    return [next(made), torch.is_grad_enabled(), next(made)]


@hostile
def deep_modules() -> Any:
    class Nested(nn.Module):
        def __init__(self, depth: int) -> None:
            super().__init__()
            self.inner = Nested(depth - 1) if depth else nn.Identity()

        def forward(self, x: Any) -> Any:
            return self.inner(x * 1.5)

    x = leaf(2)
    Nested(60)(x).sum().backward()
    return x.grad.tolist()


@hostile
def transforms() -> Any:
    x = leaf(3).detach()
    f = lambda x: (x.sin() * x).sum()
    return [
        torch.func.grad(f)(x).tolist(), torch.func.hessian(f)(x).tolist(), torch.func.vmap(lambda t: t * 2)(x).tolist(),
        torch.func.jvp(f, (x,), (x,))[1].item(), torch.func.jacrev(torch.exp)(x).tolist(),
    ]  # fmt: skip


@hostile
def compiled_eagerly() -> Any:
    x = leaf(3)
    y = torch.compile(lambda x: x.sin().cos(), backend="eager")(x)
    y.sum().backward()
    return x.grad.tolist()


@hostile
def second_derivatives() -> Any:
    x = leaf(3)
    (first,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    return second.tolist()


@hostile
def a_function_of_its_own() -> Any:
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            (x,) = ctx.saved_tensors
            return gradient * 2 + x * 0

    x = leaf(3)
    Twice.apply(x).sum().backward()
    return x.grad.tolist(), Twice.apply(x).grad_fn.name()


@hostile
def a_function_that_raises() -> Any:
    class Broken(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            raise ArithmeticError("backward")

    try:
        Broken.apply(leaf(3)).sum().backward()
    except ArithmeticError as error:
        return str(error)
    return None


@hostile
def in_place_mistakes() -> Any:
    x = leaf(3)
    y = x.exp()
    y.add_(1)
    try:
        y.sum().backward()
    except RuntimeError as error:
        return "modified by an inplace operation" in str(error)
    return None


@hostile
def twice_backward() -> Any:
    y = (leaf(3) ** 2).sum()
    y.backward()
    try:
        y.backward()
    except RuntimeError as error:
        return str(error)[:60]
    return None


@hostile
def wrong_shapes() -> Any:
    try:
        torch.ones(2, 3) @ torch.ones(2, 3)
    except RuntimeError as error:
        return str(error), error.__traceback__.tb_next is None
    return None


@hostile
def inference() -> Any:
    with torch.inference_mode():
        y = leaf(3) * 2
        y.add_(1)
    return y.is_inference(), y.tolist()


@hostile
def random_state() -> Any:
    torch.manual_seed(3)
    nn.Dropout(0.5)(torch.ones(8))
    return torch.rand(2).tolist()


@hostile
def optimizers() -> Any:
    found = []
    for kind in (torch.optim.SGD, torch.optim.AdamW, torch.optim.LBFGS):
        x = leaf(3)
        optimizer = kind([x], lr=0.1)
        optimizer.register_step_pre_hook(lambda *args: None)

        def closure() -> Any:
            optimizer.zero_grad()
            loss = (x**2).sum()
            loss.backward()
            return loss

        for _ in range(2):
            optimizer.step(closure)
        found.append(x.tolist())
    return found


@hostile
def anomalies() -> Any:
    x = torch.zeros(2, requires_grad=True)
    with warnings.catch_warnings(), torch.autograd.detect_anomaly():
        warnings.simplefilter("ignore")
        try:
            (x / x).sum().backward()
        except RuntimeError as error:
            return str(error)
    return None
