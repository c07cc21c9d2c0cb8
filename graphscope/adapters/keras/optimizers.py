"""Optimizers: a step is one row for each variable that it changed, and the end of a training step."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import keras
from keras.src.optimizers.base_optimizer import BaseOptimizer

from graphscope.adapters.kit.patches import Patches
from graphscope.adapters.kit.training_steps import Steps
from graphscope.eventlog.interruptions import own

if TYPE_CHECKING:
    from graphscope.adapters.keras.layers import Find

SETTINGS: Final[Mapping[str, str]] = {
    "momentum": "momentum", "nesterov": "nesterov", "beta_1": "beta_1", "beta_2": "beta_2", "epsilon": "eps",
    "rho": "rho", "weight_decay": "weight_decay", "amsgrad": "amsgrad", "clipnorm": "clipnorm",
    "clipvalue": "clipvalue", "global_clipnorm": "global_clipnorm",
}  # fmt: skip
"""Settings that are told with the rows of a step, and what the log calls them."""


class Optimizers:
    """Follows their steps.

    Args:
        find: Finds what records TensorFlow, if something does.
    """

    def __init__(self, find: Find) -> None:
        self._find = find
        self._steps = Steps(self._end)

    def install(self, patches: Patches) -> None:
        """See the steps of all optimizers."""
        patches.replace(BaseOptimizer, "apply", self._followed(BaseOptimizer.apply))

    def _followed(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """A step: what Keras' own optimizers compute is one row a variable; what the program's do is shown."""
        find, steps = self._find, self._steps

        @functools.wraps(original)
        def apply(optimizer: Any, grads: Any, trainable_variables: Any = None) -> Any:
            session = find()
            if session is None or steps.runs(optimizer):
                return original(optimizer, grads, trainable_variables)
            if session.is_left_out:
                with session.tape.aside():  # an optimizer that has one inside makes one step
                    result = original(optimizer, grads, trainable_variables)
                session.steps.stepped(optimizer)
                return result
            if trainable_variables is not None:
                trainable_variables = list(trainable_variables)
            grads = list(grads)
            steps.begin(optimizer)
            try:
                if type(optimizer).__module__.startswith("keras."):
                    with session.tape.aside():
                        told = settings(optimizer)
                        result = original(optimizer, grads, trainable_variables)
                    variables = optimizer._trainable_variables if trainable_variables is None else trainable_variables
                    session.changed(type(optimizer).__name__, _changes(grads, variables), told)
                else:
                    result = original(optimizer, grads, trainable_variables)
            except BaseException:
                steps.forget(optimizer)
                raise
            steps.end(optimizer)
            session.tape.stepped()
            return result

        return apply

    def _end(self, optimizer: Any) -> None:
        session = self._find()
        if session is not None:
            session.steps.stepped(optimizer)


def _changes(gradients: Sequence[Any], variables: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Each variable of TensorFlow's that a step has changed, with its gradient."""
    pairs = zip(variables, gradients, strict=False)
    return [(getattr(each, "_value", each), gradient) for each, gradient in pairs if gradient is not None]


def settings(optimizer: Any) -> dict[str, Any]:
    """The settings of an optimizer that are told: numbers, by the names that formulas know."""
    found: dict[str, Any] = {}
    try:
        found["lr"] = float(keras.ops.convert_to_numpy(optimizer.learning_rate))
    except own(Exception):  # a schedule of the program's own, or what a strategy has no value of here
        pass
    for name, called in SETTINGS.items():
        value = getattr(optimizer, name, None)
        if isinstance(value, (int, float)) and value:
            found[called] = value
    return found
