"""Optimizers of programs of sessions: nodes that compute gradients and assign to variables. Savers, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphscope.errors import StaticError
from graphscope.static.graphs.symbols import Symbol
from graphscope.static.sessions import functions
from graphscope.static.sessions.functions import _listed, group, name_scope
from graphscope.static.sessions.saver import Saver as Saver
from graphscope.static.sessions.saver import checkpoint_exists as checkpoint_exists
from graphscope.static.sessions.saver import latest_checkpoint as latest_checkpoint
from graphscope.static.sessions.tensorflow_missing import absent
from graphscope.static.sessions.variables import Variable, trainable_variables

Pairs = Sequence[tuple[Symbol | None, Variable]]


class Optimizer:
    """What optimizers have in common: settings (rates are numbers or tensors), and a name for the nodes they add."""

    name: str

    def minimize(
        self, loss: Any, global_step: Variable | None = None, var_list: Any = None, name: str | None = None
    ) -> Symbol:
        """A node whose run takes one step down the gradient of the loss.

        Args:
            loss: What is to become smaller.
            global_step: A variable that counts the steps.
            var_list: What to train; all trainable variables unless it is given.
            name: The node's name.
        """
        return self.apply_gradients(self.compute_gradients(loss, var_list), global_step, name)

    def compute_gradients(self, loss: Any, var_list: Any = None) -> list[tuple[Symbol | None, Variable]]:
        """The gradient (None where the loss does not depend on it) and the variable, for each."""
        variables = trainable_variables() if var_list is None else _listed(var_list)
        return list(zip(functions.gradients(loss, variables), variables, strict=True))

    def apply_gradients(
        self, grads_and_vars: Pairs, global_step: Variable | None = None, name: str | None = None
    ) -> Symbol:
        """A node whose run changes the variables by these gradients.

        Raises:
            StaticError: There is no gradient at all.
        """
        pairs = [(gradient, variable) for gradient, variable in grads_and_vars if gradient is not None]
        if not pairs:
            raise StaticError(
                "no variable has a gradient", hint="compute the loss from variables, by ops that gradients go through"
            )
        with name_scope(name or self.name):
            updates = self._begin()
            updates += [self._update(gradient, variable) for gradient, variable in pairs]
            if global_step is not None:
                updates.append(global_step.assign_add(1))
            return group(*updates, name="train")

    def _begin(self) -> list[Symbol]:
        """What is to run once a step."""
        return []

    def _update(self, gradient: Any, variable: Any) -> Any:
        raise NotImplementedError


@dataclass(eq=False)
class GradientDescentOptimizer(Optimizer):
    """W - rate · gradient."""

    learning_rate: Any
    use_locking: bool = False
    name: str = "GradientDescent"

    def _update(self, gradient: Any, variable: Any) -> Any:
        return variable.assign_sub(gradient * self.learning_rate)


@dataclass(eq=False)
class MomentumOptimizer(Optimizer):
    """W - rate · m, with m = momentum · m + gradient."""

    learning_rate: Any
    momentum: Any
    use_locking: bool = False
    name: str = "Momentum"

    def _update(self, gradient: Any, variable: Any) -> Any:
        average = slot(variable, "momentum")
        return variable.assign_sub(average.assign(average * self.momentum + gradient) * self.learning_rate)


@dataclass(eq=False)
class AdamOptimizer(Optimizer):
    """Adam (Kingma and Ba, 2015), as TensorFlow writes it: with the corrections of both averages in the rate."""

    learning_rate: Any = 0.001
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-08
    use_locking: bool = False
    name: str = "Adam"

    def _begin(self) -> list[Symbol]:
        powers: list[Any] = []
        for beta in (self.beta1, self.beta2):
            power: Any = Variable(np.float32(1.0), trainable=False, name="beta_power")
            powers.append(power.assign(power * beta))
        self._corrected: Any = (1.0 - powers[1]).sqrt() / (1.0 - powers[0]) * self.learning_rate
        return powers

    def _update(self, gradient: Any, variable: Any) -> Any:
        first, second = slot(variable, "m"), slot(variable, "v")
        m = first.assign(first * self.beta1 + gradient * (1.0 - self.beta1))
        v = second.assign(second * self.beta2 + gradient * gradient * (1.0 - self.beta2))
        return variable.assign_sub(m / (v.sqrt() + self.epsilon) * self._corrected)


@dataclass(eq=False)
class AdagradOptimizer(Optimizer):
    """W - rate · gradient / √a, with a the sum of all squares so far (Duchi and others, 2011)."""

    learning_rate: Any
    initial_accumulator_value: float = 0.1
    use_locking: bool = False
    name: str = "Adagrad"

    def _update(self, gradient: Any, variable: Any) -> Any:
        total = slot(variable, "accumulator", self.initial_accumulator_value)
        return variable.assign_sub(gradient * self.learning_rate / total.assign_add(gradient * gradient).sqrt())


@dataclass(eq=False)
class RMSPropOptimizer(Optimizer):
    """W - m, with m = momentum · m + rate · gradient / √(a + epsilon), a an average of squares that begins with 1."""

    learning_rate: Any
    decay: float = 0.9
    momentum: float = 0.0
    epsilon: float = 1e-10
    use_locking: bool = False
    name: str = "RMSProp"

    def _update(self, gradient: Any, variable: Any) -> Any:
        average, step = slot(variable, "rms", 1.0), slot(variable, "momentum")
        squares = average.assign(average * self.decay + gradient * gradient * (1.0 - self.decay))
        moved = gradient * self.learning_rate / (squares + self.epsilon).sqrt()
        return variable.assign_sub(step.assign(step * self.momentum + moved))


def slot(variable: Variable, name: str, start: float = 0.0) -> Any:
    """A variable beside another, of its shape, that begins with the same number everywhere."""
    array = np.full_like(variable.array_now, start)
    return Variable(array, trainable=False, name=f"{variable.output.node.name}/{name}")


def __getattr__(name: str) -> Any:
    raise absent(f"train.{name}")
