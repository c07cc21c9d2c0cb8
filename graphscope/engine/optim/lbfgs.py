"""L-BFGS: Newton's method with the curvature guessed from the last steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphscope.engine.absent import ELSEWHERE
from graphscope.engine.core.modes import enable_grad, no_grad
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.inplace import add_
from graphscope.engine.optim.optimizer import DeclaredOptimizer


class LBFGS(DeclaredOptimizer):
    """L-BFGS. A step evaluates the loss several times, so it needs a closure. There is one group of parameters.

    Args:
        params: Tensors that require grad.
        lr: The learning rate.
        max_iter: How many iterations a step may take.
        max_eval: How often it may evaluate the loss; 1.25 times `max_iter` if left out.
        tolerance_grad: It ends when no gradient is larger.
        tolerance_change: It ends when no parameter, or the loss, changes by more.
        history_size: How many of the last steps tell the curvature.
        line_search_fn: None, for steps of `lr`; there is no line search here.

    Raises:
        ValueError: A setting is out of range, or there are several groups.
    """

    lr: float = 1
    max_iter: int = 20
    max_eval: int | None = None
    tolerance_grad: float = 1e-7
    tolerance_change: float = 1e-9
    history_size: int = 100
    line_search_fn: str | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.defaults["max_eval"] is None:
            most = self.defaults["max_iter"] * 5 // 4
            for settings in (self.defaults, *self.param_groups):
                settings["max_eval"] = most
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Take up to `max_iter` iterations.

        Args:
            closure: Forgets the gradients, computes the loss and its gradients, and returns the loss.

        Raises:
            TypeError: There is no closure.
            RuntimeError: A line search is asked for.
        """
        if closure is None:
            raise TypeError("LBFGS.step() evaluates the loss several times: pass it a closure that returns the loss")
        with no_grad():
            return self._iterate(closure)

    def _iterate(self, closure: Callable[[], Any]) -> Any:
        (group,) = self.param_groups
        if group["line_search_fn"] is not None:
            raise RuntimeError(f"LBFGS: line_search_fn is {group['line_search_fn']!r}: leave it out, or {ELSEWHERE}")
        parameters: list[Any] = group["params"]
        state = self.state[parameters[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        with enable_grad():
            first = closure()
        loss, gradient = float(first), _flat(parameters)
        evaluations = 1
        state["func_evals"] += 1
        if np.abs(gradient).max() <= group["tolerance_grad"]:
            return first
        direction, length = _array(state.get("d")), state.get("t")
        for iteration in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            direction = _direction(state, gradient, direction, length, group["history_size"])
            before = loss
            state["prev_flat_grad"], state["prev_loss"] = Tensor(gradient), loss
            length = float(group["lr"])
            if state["n_iter"] == 1:
                length *= min(1.0, 1.0 / float(np.abs(gradient).sum()))
            slope = float(gradient @ direction)
            if slope > -group["tolerance_change"]:
                break
            _move(parameters, direction, length)
            if iteration < group["max_iter"]:
                with enable_grad():
                    loss = float(closure())
                gradient = _flat(parameters)
                evaluations += 1
                state["func_evals"] += 1
            if (
                evaluations >= group["max_eval"]
                or np.abs(gradient).max() <= group["tolerance_grad"]
                or np.abs(direction * length).max() <= group["tolerance_change"]
                or abs(loss - before) < group["tolerance_change"]
            ):
                break
        state["d"], state["t"] = Tensor(direction), length
        return first


def _array(value: Any) -> Any:
    return None if value is None else value.array


def _flat(parameters: list[Any]) -> np.ndarray:
    """All gradients in one vector; 0 where there is none."""
    return np.concatenate(
        [
            np.zeros(parameter.array.size, parameter.array.dtype)
            if parameter.grad is None
            else np.ravel(parameter.grad.array)
            for parameter in parameters
        ]
    )


def _move(parameters: list[Any], direction: np.ndarray, length: float) -> None:
    """Go along the direction."""
    offset = 0
    for parameter in parameters:
        count = parameter.array.size
        change = direction[offset : offset + count].reshape(parameter.array.shape)
        add_(parameter, Tensor(change[()]), alpha=length)
        offset += count


def _direction(state: dict[str, Any], gradient: np.ndarray, direction: Any, length: Any, most: int) -> np.ndarray:
    """The way down by the curvature that the last steps showed (the two-loop recursion)."""
    if state["n_iter"] == 1:
        state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1.0)
        return -gradient
    turns, steps, weights = state["old_dirs"], state["old_stps"], state["ro"]
    turn = gradient - state["prev_flat_grad"].array
    step = direction * gradient.dtype.type(float(length))
    agreement = float(turn @ step)
    if agreement > 1e-10:
        if len(turns) == most:
            for history in (turns, steps, weights):
                history.pop(0)
        turns.append(Tensor(turn))
        steps.append(Tensor(step))
        weights.append(1.0 / agreement)
        state["H_diag"] = agreement / float(turn @ turn)
    result: np.ndarray = -gradient
    shares = []
    for turned, stepped, weight in zip(reversed(turns), reversed(steps), reversed(weights), strict=True):
        shares.append(float(stepped.array @ result) * weight)
        result = result - turned.array * shares[-1]
    result = result * state["H_diag"]
    for turned, stepped, weight, share in zip(turns, steps, weights, reversed(shares), strict=True):
        result = result + stepped.array * (share - float(turned.array @ result) * weight)
    return result
