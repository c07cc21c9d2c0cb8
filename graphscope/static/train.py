"""Optimizers of programs of sessions: nodes that compute gradients and assign to variables. Savers, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphscope.errors import StaticError
from graphscope.static.graphs.symbols import Symbol, plain
from graphscope.static.sessions import functions
from graphscope.static.sessions.default_graph import builder, get_default_graph
from graphscope.static.sessions.functions import _listed, control_dependencies, name_scope
from graphscope.static.sessions.graph_collections import GraphKeys
from graphscope.static.sessions.saver import Saver as Saver
from graphscope.static.sessions.saver import checkpoint_exists as checkpoint_exists
from graphscope.static.sessions.saver import latest_checkpoint as latest_checkpoint
from graphscope.static.sessions.training_steps import ExponentialMovingAverage as ExponentialMovingAverage
from graphscope.static.sessions.training_steps import create_global_step as create_global_step
from graphscope.static.sessions.training_steps import get_global_step as get_global_step
from graphscope.static.sessions.training_steps import get_or_create_global_step as get_or_create_global_step
from graphscope.static.sessions.training_steps import global_step as global_step
from graphscope.static.sessions.variables import Variable, trainable_variables
from graphscope.static.words.namespaces import named
from graphscope.static.words.tensors import Operation, Tensor

Pairs = Sequence[tuple[Any, Variable]]


class Optimizer:
    """What optimizers have in common: settings (rates are numbers or tensors), and a name for the nodes they add."""

    name: str

    def minimize(
        self,
        loss: Any,
        global_step: Variable | None = None,
        var_list: Any = None,
        gate_gradients: Any = 1,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Operation:
        """An operation whose run takes one step down the gradient of the loss.

        Args:
            loss: What is to become smaller.
            global_step: A variable that counts the steps.
            var_list: What to train; all trainable variables unless it is given.
            gate_gradients: Accepted for TensorFlow's sake.
            aggregation_method: Accepted.
            colocate_gradients_with_ops: Accepted.
            name: The operation's name.
            grad_loss: The gradient of the loss itself; one unless it is given.
        """
        return self.apply_gradients(self.compute_gradients(loss, var_list, grad_loss=grad_loss), global_step, name)

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: Any = 1,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[tuple[Tensor | None, Variable]]:
        """The gradient (None where the loss does not depend on it) and the variable, for each."""
        variables = trainable_variables() if var_list is None else _listed(var_list)
        if not variables:
            raise StaticError("there are no variables to train", hint="tf.Variable(...), or var_list=[...]")
        found = functions.gradients(loss, variables, grad_loss)
        shown = [None if each is None else Tensor.of(each.output, each.builder) for each in found]
        return list(zip(shown, variables, strict=True))

    def apply_gradients(
        self, grads_and_vars: Pairs, global_step: Variable | None = None, name: str | None = None
    ) -> Operation:
        """An operation whose run changes the variables by these gradients.

        Raises:
            StaticError: There is no gradient at all.
        """
        pairs = [(plain(gradient), variable) for gradient, variable in grads_and_vars if gradient is not None]
        if not pairs:
            raise StaticError(
                "no variable has a gradient", hint="compute the loss from variables, by ops that gradients go through"
            )
        self._begin([variable for _, variable in pairs])
        here = builder()
        with name_scope(name or self.name):
            self._once()
            updates: list[Any] = [self._update(gradient, variable) for gradient, variable in pairs]
            with control_dependencies(updates):
                updates += self._after()
            with control_dependencies(updates):
                last = functions.group() if global_step is None else global_step.assign_add(1)
            last.output.node.name = here.scope  # the operation is called as the scope is
            last.output.node.origins = (here.scope,)
        operation = Operation(last.output.node, here)
        get_default_graph().add_to_collection(GraphKeys.TRAIN_OP, operation)
        return operation

    def get_slot(self, var: Variable, name: str) -> Any:
        """The variable of a name that the optimizer keeps beside another."""
        return self._slots.get((var.output.node, name))

    def get_name(self) -> str:
        """Its name."""
        return self.name

    # Inside -----------------------------------------------------------------------------------------------------------

    @property
    def _slots(self) -> dict[Any, Variable]:
        return self.__dict__.setdefault("slots", {})  # type: ignore[no-any-return]

    def _slot(self, variable: Variable, name: str, start: float = 0.0) -> Any:
        """A variable beside another, of its shape, that begins with the same number everywhere."""
        key = (variable.output.node, name)
        if key not in self._slots:
            array = np.full_like(variable.array_now, start)
            with builder().named(None):
                self._slots[key] = Variable(array, trainable=False, name=f"{variable.op.name}/{self.name}")
        return self._slots[key]

    def _begin(self, variables: list[Variable]) -> None:
        """Make what is kept beside the variables."""

    def _once(self) -> None:
        """Add what all updates of a step take."""

    def _update(self, gradient: Any, variable: Variable) -> Symbol:
        raise NotImplementedError

    def _after(self) -> list[Any]:
        """What is to run behind the updates."""
        return []

    def _refuse_rows(self, variable: Variable) -> None:
        """Refuse what TensorFlow updates row by row.

        Raises:
            StaticError: Rows of the variable alone are used.
        """
        users = get_default_graph().users().get(variable.output, [])
        forward = [node for node in users if node.rule is None and not node.op.startswith("assign")]
        if forward and all(node.op == "index_select" for node in forward):
            raise StaticError(
                f"TensorFlow's {type(self).__name__} changes only those rows of {variable.name!r} that a step looks up",
                hint="train tables that tf.gather or embedding_lookup reads by GradientDescent, Adagrad or Adam",
            )


@dataclass(eq=False)
class GradientDescentOptimizer(Optimizer):
    """W - rate · gradient."""

    learning_rate: Any
    use_locking: bool = False
    name: str = "GradientDescent"

    def _update(self, gradient: Any, variable: Variable) -> Symbol:
        return variable.assign_sub(gradient * _rate(self.learning_rate))


@dataclass(eq=False)
class MomentumOptimizer(Optimizer):
    """W - rate · m, with m = momentum · m + gradient."""

    learning_rate: Any
    momentum: Any
    use_locking: bool = False
    name: str = "Momentum"
    use_nesterov: bool = False

    def _begin(self, variables: list[Variable]) -> None:
        for each in variables:
            self._refuse_rows(each)
            self._slot(each, "momentum")

    def _update(self, gradient: Any, variable: Variable) -> Symbol:
        kept = self._slot(variable, "momentum")
        rate, momentum = _rate(self.learning_rate), _rate(self.momentum)
        average = plain(kept.assign(plain(kept) * momentum + gradient))
        if self.use_nesterov:
            return variable.assign_sub(gradient * rate + average * momentum * rate)
        return variable.assign_sub(average * rate)


@dataclass(eq=False)
class AdamOptimizer(Optimizer):
    """Adam (Kingma and Ba, 2015), as TensorFlow writes it: with the corrections of both averages in the rate."""

    learning_rate: Any = 0.001
    beta1: Any = 0.9
    beta2: Any = 0.999
    epsilon: Any = 1e-08
    use_locking: bool = False
    name: str = "Adam"

    def _begin(self, variables: list[Variable]) -> None:
        if not hasattr(self, "_powers"):
            with builder().named(None):
                self._powers = [
                    Variable(np.float32(beta), trainable=False, name=f"beta{number}_power")
                    for number, beta in ((1, self.beta1), (2, self.beta2))
                ]
        for each in variables:
            self._slot(each, "m")
            self._slot(each, "v")

    def _once(self) -> None:
        one, other = (plain(power) for power in self._powers)
        self._corrected = (1.0 - other).sqrt() / (1.0 - one) * _rate(self.learning_rate)

    def _update(self, gradient: Any, variable: Variable) -> Symbol:
        first, second = (self._slot(variable, name) for name in ("m", "v"))
        m = plain(first.assign(plain(first) * self.beta1 + gradient * (1.0 - self.beta1)))
        v = plain(second.assign(plain(second) * self.beta2 + gradient * gradient * (1.0 - self.beta2)))
        return variable.assign_sub(m / (v.sqrt() + self.epsilon) * self._corrected)

    def _after(self) -> list[Any]:
        return [
            power.assign(plain(power) * beta)
            for power, beta in zip(self._powers, (self.beta1, self.beta2), strict=True)
        ]


@dataclass(eq=False)
class AdagradOptimizer(Optimizer):
    """W - rate · gradient / √a, with a the sum of all squares so far (Duchi and others, 2011)."""

    learning_rate: Any
    initial_accumulator_value: float = 0.1
    use_locking: bool = False
    name: str = "Adagrad"

    def _begin(self, variables: list[Variable]) -> None:
        for each in variables:
            self._slot(each, "accumulator", self.initial_accumulator_value)

    def _update(self, gradient: Any, variable: Variable) -> Symbol:
        total = plain(self._slot(variable, "accumulator").assign_add(gradient * gradient))
        return variable.assign_sub(gradient * _rate(self.learning_rate) / total.sqrt())


@dataclass(eq=False)
class AdadeltaOptimizer(Optimizer):
    """Steps of the size of past steps over that of past gradients (Zeiler, 2012)."""

    learning_rate: Any = 0.001
    rho: float = 0.95
    epsilon: float = 1e-8
    use_locking: bool = False
    name: str = "Adadelta"

    def _begin(self, variables: list[Variable]) -> None:
        for each in variables:
            self._refuse_rows(each)
            self._slot(each, "accum")
            self._slot(each, "accum_update")

    def _update(self, gradient: Any, variable: Variable) -> Symbol:
        squares, steps = (self._slot(variable, name) for name in ("accum", "accum_update"))
        total = plain(squares.assign(plain(squares) * self.rho + gradient * gradient * (1 - self.rho)))
        step = (plain(steps) + self.epsilon).sqrt() / (total + self.epsilon).sqrt() * gradient
        with control_dependencies([steps.assign(plain(steps) * self.rho + step * step * (1 - self.rho))]):
            return variable.assign_sub(step * _rate(self.learning_rate))


@dataclass(eq=False)
class RMSPropOptimizer(Optimizer):
    """W - m, with m = momentum · m + rate · gradient / √(a + epsilon), a an average of squares that begins with 1."""

    learning_rate: Any
    decay: float = 0.9
    momentum: float = 0.0
    epsilon: float = 1e-10
    use_locking: bool = False
    centered: bool = False
    name: str = "RMSProp"

    def _begin(self, variables: list[Variable]) -> None:
        for each in variables:
            self._refuse_rows(each)
            self._slot(each, "rms", 1.0)
            if self.centered:
                self._slot(each, "mg")
            self._slot(each, "momentum")

    def _update(self, gradient: Any, variable: Variable) -> Symbol:
        average, step = self._slot(variable, "rms"), self._slot(variable, "momentum")
        spread = plain(average.assign(plain(average) * self.decay + gradient * gradient * (1.0 - self.decay)))
        if self.centered:
            middle = self._slot(variable, "mg")
            mean = plain(middle.assign(plain(middle) * self.decay + gradient * (1.0 - self.decay)))
            spread = spread - mean * mean
        moved = gradient * _rate(self.learning_rate) / (spread + self.epsilon).sqrt()
        return variable.assign_sub(plain(step.assign(plain(step) * self.momentum + moved)))


def _rate(rate: Any) -> Any:
    """A rate as a number or tensor of the engine's."""
    given = rate() if callable(rate) and not isinstance(rate, Symbol) else rate
    return plain(given) if isinstance(given, Symbol) else given


def __getattr__(name: str) -> Any:
    return named("train", name)
