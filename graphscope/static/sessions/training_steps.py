"""The variable that counts steps of training, and averages that follow variables."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.errors import StaticError
from graphscope.static.graphs.symbols import plain
from graphscope.static.sessions.default_graph import builder, get_default_graph
from graphscope.static.sessions.functions import control_dependencies, group, name_scope
from graphscope.static.sessions.graph_collections import GraphKeys
from graphscope.static.sessions.variables import Variable, trainable_variables
from graphscope.static.words.tensors import Operation


def get_global_step(graph: Any = None) -> Variable | None:
    """The variable that counts the steps; None where there is none."""
    kept = (graph or get_default_graph()).get_collection(GraphKeys.GLOBAL_STEP)
    return kept[0] if kept else None


def create_global_step(graph: Any = None) -> Variable:
    """A variable that counts the steps.

    Raises:
        StaticError: There is one.
    """
    if get_global_step(graph) is not None:
        raise StaticError("there is a global step already", hint="tf.train.get_or_create_global_step()")
    with builder().named(None):
        return Variable(
            np.int64(0),
            trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
            name="global_step",
        )


def get_or_create_global_step(graph: Any = None) -> Variable:
    """The variable that counts the steps, a new one where there is none."""
    return get_global_step(graph) or create_global_step(graph)


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """How many steps there were."""
    return int(sess.run(global_step_tensor))


class ExponentialMovingAverage:
    """Averages that follow variables: average · decay + value · (1 - decay).

    Args:
        decay: How much of the average stays.
        num_updates: With it, less stays at the beginning: (1 + updates) / (10 + updates) at most.
        zero_debias: Not here.
        name: Of the nodes.
    """

    def __init__(
        self, decay: Any, num_updates: Any = None, zero_debias: bool = False, name: str = "ExponentialMovingAverage"
    ) -> None:
        if zero_debias or num_updates is not None:
            raise StaticError("moving averages take neither num_updates nor zero_debias here", hint="leave them out")
        self._decay = decay
        self.name = name
        self._averages: dict[Any, Variable] = {}

    def apply(self, var_list: Any = None) -> Operation:
        """An operation whose run lets the averages follow."""
        variables = trainable_variables() if var_list is None else list(var_list)
        for each in variables:
            if not isinstance(each, Variable):
                raise StaticError(f"{each!r} is no Variable", hint="give variables: averages of tensors are not here")
            if each.output.node not in self._averages:
                with builder().named(None):
                    kept = Variable(each.array_now, trainable=False, name=f"{each.op.name}/{self.name}")
                self._averages[each.output.node] = kept
        updates = []
        with name_scope(self.name):
            for each in variables:
                kept = self._averages[each.output.node]
                updates.append(kept.assign_sub((plain(kept) - plain(each)) * (1 - self._decay)))
            with control_dependencies(updates):
                made = group()
        return Operation(made.output.node, made.builder)

    def average(self, var: Variable) -> Variable | None:
        """The average that follows a variable."""
        return self._averages.get(var.output.node)

    def average_name(self, var: Variable) -> str:
        """What that is called."""
        return f"{var.op.name}/{self.name}"

    def variables_to_restore(self, moving_avg_variables: Any = None) -> dict[str, Variable]:
        """For a saver: variables by the names of their averages."""
        return {self.average_name(each): each for each in moving_avg_variables or trainable_variables()}
