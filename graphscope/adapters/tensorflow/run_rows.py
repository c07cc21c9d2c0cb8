"""The rows of a run of a session: a node for each op that it computed, on the pass that it is of, with its gradient."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

import tensorflow as tf

from graphscope.adapters.kit.guard import guarded
from graphscope.adapters.kit.tape import Node, Tape
from graphscope.adapters.tensorflow.execution import Execution
from graphscope.adapters.tensorflow.gradient_rows import GradientRows
from graphscope.adapters.tensorflow.gradient_rules import GradientCall
from graphscope.adapters.tensorflow.graph_ops import LEAVES, VARIABLES, Described, logged
from graphscope.adapters.tensorflow.run_plan import Plan
from graphscope.eventlog.schema import Kind

Changed = Mapping[str, Any]
"""What a debugger put in the place of values, by the names of tensors."""


class RunRows:
    """Writes the rows of one run.

    Args:
        tape: Writes them.
        plan: The run.
        execution: Its values.
        number: The number of the run in its session.
    """

    def __init__(self, tape: Tape, plan: Plan, execution: Execution, number: int) -> None:
        self.session = tape.session
        self._tape = tape
        self._plan = plan
        self._values = execution.values
        self._number = number
        self._sources: dict[str, tuple[Node, ...]] = {}
        """The nodes that a tensor comes from, by its name: its own, or those behind what can't be had."""
        self._backward: GradientCall | None = None
        self._gradients: dict[int, GradientRows] = {}
        self._around = contextlib.ExitStack()
        """The backward pass that runs."""

    @property
    def is_recording(self) -> bool:
        """Whether there is a log to write to."""
        return self._tape.is_recording

    def __enter__(self) -> Self:
        self._begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    @guarded(dict)
    def feeds(self) -> Changed:
        """The leaves of what the program feeds."""
        changed: dict[str, Any] = {}
        for name in sorted(self._plan.fed):
            tensor = self._plan.graph.get_tensor_by_name(name)
            changed |= self._leaf(self._plan.described(tensor.op), tensor, "placeholder")
        return changed

    @guarded(lambda op: {})
    def op(self, op: tf.Operation) -> Changed:
        """The rows of an op that was computed, and of the gradients that have arrived with it."""
        if self._plan.is_hidden(op):
            self._pass_on(op)
            return {}
        if op.type == "NoOp" or (op.outputs and all(tensor.name in self._plan.fed for tensor in op.outputs)):
            return {}
        told = self._plan.described(op)
        self._enter(self._plan.calls.get(op.name), told)
        if op.type in LEAVES:
            changed = self._leaf(told, op.outputs[0], LEAVES[op.type])
        else:
            changed = self._call(told, op)
        if self._backward is not None:
            changed = {**changed, **self._gradient(self._backward).arrived(op)}
        return changed

    # Inside ----------------------------------------------------------------------------------------------------------

    @guarded(lambda: None)
    def _begin(self) -> None:
        plan, writer = self._plan, self.session.writer
        fetches = [*(each.name for each in plan.fetches), *(each.name for each in plan.targets)]
        feeds = sorted(plan.fed)
        writer.mark(
            Kind.PRINT,
            text=f"run {self._number}: fetches {_listed(fetches)}; feeds {_listed(feeds)}",
            run=self._number,
            fetches=fetches,
            feeds=feeds,
            plan=writer.attributes({"nodes": plan.listed}),
        )

    def _leaf(self, told: Described, tensor: tf.Tensor, function: str) -> Changed:
        source = self._plan.readers.get(told.name, tensor.name)
        value = self._values.get(source)
        if value is None and told.type in VARIABLES:  # it is written only
            return {}
        is_parameter = told.name in self._plan.trained
        node = self._tape.leaf(
            logged(value),
            name=told.name if function != "placeholder" or told.type == "Placeholder" else tensor.name,
            parameter=is_parameter,
            function="" if function == "variable" else function,
            line=told.line,
            differentiated=is_parameter,
        )
        if node is None:
            return {}
        self._sources[tensor.name] = (node,)
        answer = self._tape.look(node, logged(value))
        return {} if answer is logged(value) else {source: answer}

    def _call(self, told: Described, op: tf.Operation) -> Changed:
        inputs = [node for tensor in op.inputs for node in self._sources.get(tensor.name, ())]
        values = [logged(self._values.get(each.name)) for each in op.outputs]
        value: Any = None if not values or any(each is None for each in values) else tuple(values)
        if value is None:
            value = self._written(op)
        elif len(values) == 1:
            value = values[0]
        self._tape.before(told.type, inputs, called=told.name, line=told.line)
        node, answer = self._tape.op(
            told.type, inputs, value, attributes=told.attributes, called=told.name, line=told.line
        )
        if node is None:
            return {}
        for slot, tensor in enumerate(op.outputs):
            self._sources[tensor.name] = (node.output(slot),)
        if answer is value or not op.outputs:
            return {}
        return {op.outputs[0].name: answer[0] if isinstance(answer, tuple) else answer}

    def _written(self, op: tf.Operation) -> Any:
        """What an op that gives nothing has written; None where nobody knows."""
        return logged(self._values.get(op.inputs[1].name)) if op.type == "AssignVariableOp" else None

    def _pass_on(self, op: tf.Operation) -> None:
        """Let what comes behind an op that can't be had come from what lies ahead of it."""
        sources = dict.fromkeys(node.row for tensor in op.inputs for node in self._sources.get(tensor.name, ()))
        nodes = {node.row: node for tensor in op.inputs for node in self._sources.get(tensor.name, ())}
        for tensor in op.outputs:
            self._sources[tensor.name] = tuple(nodes[row] for row in sources)

    def _gradient(self, call: GradientCall) -> GradientRows:
        found = self._gradients.get(id(call))
        if found is None:
            found = self._gradients[id(call)] = GradientRows(self._tape, call, self._plan, self._values, self._sources)
        return found

    def _enter(self, call: GradientCall | None, told: Described) -> None:
        """Go to where an op lies: the pass, and the scopes."""
        if call is not self._backward:
            self._leave()
            self._backward = call
            if call is not None:
                self._around.enter_context(self._tape.backward(self._gradient(call).root()))
        self._tape.lie_in([(name, "scope") for name in told.scopes])
        if call is not None:
            self._gradient(call).enter(told.name)

    def _leave(self) -> None:
        """Leave the scopes, and the backward pass."""
        self._tape.lie_in([])
        self._around.close()
        self._backward = None


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "nothing"
