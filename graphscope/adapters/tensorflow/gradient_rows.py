"""The rows of gradients in a run of a session: the cotangent of an op as soon as it is there, what reaches a leaf."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from graphscope.adapters.kit.tape import Node, Tape
from graphscope.adapters.tensorflow.gradient_rules import Gradient, GradientCall, Rule
from graphscope.adapters.tensorflow.graph_ops import VARIABLES, logged
from graphscope.adapters.tensorflow.run_plan import Plan


class GradientRows:
    """Writes the rows of one call of `tf.gradients` as far as a run computes it.

    Args:
        tape: Writes them.
        call: The call.
        plan: The run.
        values: What is computed so far, by the names of tensors.
        sources: The nodes that tensors come from, by their names.
    """

    def __init__(
        self,
        tape: Tape,
        call: GradientCall,
        plan: Plan,
        values: Mapping[str, Any],
        sources: Mapping[str, tuple[Node, ...]],
    ) -> None:
        self._tape = tape
        self._call = call
        self._plan = plan
        self._values = values
        self._sources = sources
        self._rows: dict[str, int] = {}
        """The row of the cotangent of each op, by its name, where it has arrived."""
        self._told: set[tuple[str, Gradient]] = set()
        """Leaves and what was added to their gradients."""
        self._waiting: dict[str, list[Rule]] = defaultdict(list)
        """The rules that a tensor is the last cotangent of."""
        self._arrivals: dict[str, list[tuple[Rule, Gradient]]] = defaultdict(list)
        """The rules that return something for a tensor, and what."""
        self._returned: dict[str, list[tuple[Rule, str, Gradient]]] = defaultdict(list)
        """The rules that return a tensor, for which one, and as what."""
        for rule in call.rules:
            self._enter_rule(rule)

    def root(self) -> Node | None:
        """The node with which the pass begins."""
        nodes = (self._node(rule) for rule in self._call.rules)
        return next((node for node in nodes if node is not None), None)

    def enter(self, name: str) -> None:
        """What runs from here on belongs to the rule that made the op of this name."""
        root = self.root()
        owner = self._call.owners.get(name, "")
        self._tape.within_rule(self._rows.get(owner) or (0 if root is None else root.row))

    def arrived(self, op: tf.Operation) -> dict[str, Any]:
        """The rows of gradients that are there with what an op gives; what a debugger put in the place of some."""
        changed: dict[str, Any] = {}
        for tensor in op.outputs:
            for rule in self._waiting.get(tensor.name, ()):
                changed |= self._cotangent(rule)
            for rule, source, given in self._returned.get(tensor.name, ()):
                changed |= self._contribution(rule, source, given)
        return changed

    # Inside ----------------------------------------------------------------------------------------------------------

    def _enter_rule(self, rule: Rule) -> None:
        cotangents = [each for each in rule.cotangents if each is not None and self._comes(each)]
        op = self._plan.forward.get(rule.op)
        if not cotangents or op is None:
            return
        returned = [
            (tensor.name, given)
            for tensor, given in zip(op.inputs, rule.contributions, strict=False)
            if given is not None and self._comes(given)
        ]
        if returned:
            self._waiting[cotangents[-1].name].append(rule)
        for source, given in returned:
            self._arrivals[source].append((rule, given))
            self._returned[given.name].append((rule, source, given))

    def _comes(self, gradient: Gradient) -> bool:
        """Whether the run computes a gradient."""
        return gradient.name in self._plan.names and (not gradient.rows or gradient.rows in self._plan.names)

    def _node(self, rule: Rule) -> Node | None:
        op = self._plan.forward.get(rule.op)
        found = () if op is None or not op.outputs else self._sources.get(op.outputs[0].name, ())
        return found[0] if len(found) == 1 else None

    def _value(self, gradient: Gradient | None, like: str) -> Any:
        """A gradient as a whole, with the shape of a tensor; None of what is not there."""
        value = None if gradient is None else logged(self._values.get(gradient.name))
        if value is None or gradient is None or not gradient.rows:
            return value
        rows, source = self._values.get(gradient.rows), self._sources.get(like, ())
        if rows is None or not source:
            return None
        whole = np.zeros((*source[0].fields["shape"][:1], *np.shape(value)[1:]), np.asarray(value).dtype)
        np.add.at(whole, rows, value)
        return whole

    def _cotangent(self, rule: Rule) -> dict[str, Any]:
        node, op = self._node(rule), self._plan.forward[rule.op]
        values = [self._value(each, out.name) for each, out in zip(rule.cotangents, op.outputs, strict=False)]
        if node is None or all(each is None for each in values):
            return {}
        slot = next(place for place, each in enumerate(values) if each is not None)
        arrived, whole = rule.cotangents[slot], values[slot]
        row, answer = self._tape.cotangent(node, whole, self._parts(op.outputs[slot].name, whole))
        self._rows[rule.op] = row
        changed = self._changed(arrived, whole, answer)
        for source, given in zip(op.inputs, rule.contributions, strict=False):
            if given is not None and given == arrived:
                changed |= self._contribution(rule, source.name, given)
        return changed

    def _parts(self, tensor: str, whole: Any) -> list[tuple[Any, int]]:
        """What a cotangent is the sum of, with the rows that it comes from."""
        arrivals = self._arrivals[tensor]
        found = [(self._value(given, tensor), self._rows.get(rule.op, 0)) for rule, given in arrivals]
        known = [(value, row) for value, row in found if value is not None]
        return known or [(whole, 0)]

    def _contribution(self, rule: Rule, source: str, given: Gradient) -> dict[str, Any]:
        """The row of what a rule adds to the gradient of a leaf."""
        leaf = self._sources.get(source, ())
        is_leaf = source in self._plan.fed or self._plan.graph.get_tensor_by_name(source).op.type in VARIABLES
        if not (is_leaf and leaf and rule.op in self._rows) or (source, given) in self._told:
            return {}
        value = self._value(given, source)
        if value is None:
            return {}
        first = all(known != source for known, _ in self._told)
        self._told.add((source, given))
        _, answer = self._tape.contribution(leaf[0], value, self._rows[rule.op], first=first)
        return self._changed(given, value, answer)

    def _changed(self, gradient: Gradient | None, value: Any, answer: Any) -> dict[str, Any]:
        """What the session is to be fed with, where a debugger put something in the place of a gradient."""
        if gradient is None or answer is value:
            return {}
        if not gradient.rows:
            return {gradient.name: answer}
        rows = np.asarray(self._values[gradient.rows])
        times = np.array([np.count_nonzero(rows == each) for each in rows])  # a row that comes twice bears half of it
        return {gradient.name: answer[rows] / times.reshape(-1, *[1] * (answer.ndim - 1)).astype(answer.dtype)}
