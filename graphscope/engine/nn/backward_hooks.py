"""Backward hooks of modules: an entrance and an exit that pass tensors on and see the gradients come back."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from graphscope.engine.core.custom_function import Function
from graphscope.engine.core.modes import is_grad_enabled
from graphscope.engine.core.tensor import Tensor

Gradients = tuple[Any, ...]


class BackwardGate:
    """One call of a module with backward hooks.

    Args:
        module: The module.
        before: Hooks for when gradients have come to the module: `hook(module, grad_output)`.
        after: Hooks for when they have passed it: `hook(module, grad_input, grad_output)`.
    """

    def __init__(self, module: Any, before: list[Callable[..., Any]], after: list[Callable[..., Any]]) -> None:
        self._module = module
        self._before = before
        self._after = after
        self._entered = False
        self._arguments = 0
        self._grad_output: Gradients = ()

    def entering(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments of the module, with the entrance in front of their graph."""
        self._arguments = len(args)
        places = [place for place, value in enumerate(args) if isinstance(value, Tensor)]
        if not is_grad_enabled() or not any(args[place].requires_grad for place in places):
            return args
        self._entered = True
        return _through(self._passed, args, places)

    def leaving(self, result: Any) -> Any:
        """The result of the module, with the exit behind its graph."""
        alone = isinstance(result, Tensor)
        results = (result,) if alone else result
        if not isinstance(results, tuple):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
                f"{type(result)}",
                stacklevel=4,
            )
            return result
        places = [place for place, value in enumerate(results) if isinstance(value, Tensor)]
        if not is_grad_enabled() or not any(results[place].requires_grad for place in places):
            return result
        results = _through(self._arrived, results, places)
        return results[0] if alone else results

    def _arrived(self, grad_output: Gradients) -> Gradients:
        for hook in self._before:
            answer = hook(self._module, grad_output)
            if answer is not None:
                grad_output = _as_tuple(answer, len(grad_output), "grad_output")
        self._grad_output = grad_output
        if not self._entered and self._after:
            warnings.warn(
                "Full backward hook is firing when gradients are computed with respect to module outputs since no "
                "inputs require gradients: its grad_input is None throughout.",
                stacklevel=2,
            )
            self._passed((None,) * self._arguments)
        return grad_output

    def _passed(self, grad_input: Gradients) -> Gradients:
        for hook in self._after:
            answer = hook(self._module, grad_input, self._grad_output)
            if answer is None:
                continue
            if not self._entered:
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or None for "
                    "all gradients."
                )
            grad_input = _as_tuple(answer, len(grad_input), "grad_input")
        return grad_input


def _through(seen: Callable[[Gradients], Gradients], values: tuple[Any, ...], places: list[int]) -> tuple[Any, ...]:
    """The values, with those at `places` passed on by a node that shows their gradients to `seen`."""
    passed = _Passage.apply(seen, len(values), places, *(values[place] for place in places))
    found = dict(zip(places, passed if isinstance(passed, tuple) else (passed,), strict=True))
    return tuple(found.get(place, value) for place, value in enumerate(values))


class _Passage(Function):
    """Passes tensors on; on the way back it shows their gradients, among None for what is no tensor."""

    @staticmethod
    def forward(ctx: Any, seen: Any, count: int, places: list[int], *tensors: Tensor) -> Any:
        ctx.set_materialize_grads(False)
        ctx.seen, ctx.count, ctx.places = seen, count, places
        return tuple(tensor.detach() for tensor in tensors)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        found = dict(zip(ctx.places, gradients, strict=True))
        answer = ctx.seen(tuple(found.get(place) for place in range(ctx.count)))
        return None, None, None, *(answer[place] for place in ctx.places)


def _as_tuple(answer: Any, count: int, what: str) -> Gradients:
    answers = answer if isinstance(answer, tuple) else (answer,)
    if len(answers) != count:
        raise RuntimeError(
            f"Backward hook returned an invalid number of {what}, got {len(answers)}, but expected {count}"
        )
    return answers
