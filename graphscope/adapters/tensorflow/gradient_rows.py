"""The rows of gradients in a run of a session: the cotangent of an op as soon as it is there, what reaches a leaf."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from graphscope.adapters.kit.tape import Node, Tape
from graphscope.adapters.tensorflow.gradient_calls import GradientCall, Rule
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
        self._told: set[tuple[str, str]] = set()
        """Leaves and what was added to their gradients."""
        self._waiting: dict[str, list[Rule]] = defaultdict(list)
        """The rules that a tensor is the first cotangent of."""
        self._arrivals: dict[str, list[tuple[Rule, str]]] = defaultdict(list)
        """The rules that return something for a tensor, and what."""
        self._returned: dict[str, list[tuple[Rule, str]]] = defaultdict(list)
        """The rules that return a tensor, and for which one."""
        self._owners: dict[str, str] = {}
        """The op whose rule made an op."""
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
            for rule, source in self._returned.get(tensor.name, ()):
                changed |= self._contribution(rule, source, tensor.name)
        return changed

    # Inside ----------------------------------------------------------------------------------------------------------

    def _enter_rule(self, rule: Rule) -> None:
        cotangents = [each for each in rule.cotangents if each is not None and each in self._plan.names]
        returned = [each for each in rule.contributions if each is not None and each in self._plan.names]
        if not cotangents or not returned or rule.op not in self._plan.forward:
            return
        self._waiting[cotangents[-1]].append(rule)
        for tensor, given in zip(self._plan.forward[rule.op].inputs, rule.contributions, strict=False):
            if given is not None and given in self._plan.names:
                self._arrivals[tensor.name].append((rule, given))
                self._returned[given].append((rule, tensor.name))

    def _node(self, rule: Rule) -> Node | None:
        op = self._plan.forward.get(rule.op)
        found = () if op is None or not op.outputs else self._sources.get(op.outputs[0].name, ())
        return found[0] if len(found) == 1 else None

    def _cotangent(self, rule: Rule) -> dict[str, Any]:
        node = self._node(rule)
        values = [None if each is None else logged(self._values.get(each)) for each in rule.cotangents]
        if node is None or all(each is None for each in values):
            return {}
        slot = next(place for place, each in enumerate(values) if each is not None)
        name, first = rule.cotangents[slot], values[slot]
        parts = self._parts(self._plan.forward[rule.op].outputs[slot].name, first)
        row, answer = self._tape.cotangent(node, first, parts)
        self._rows[rule.op] = row
        changed = {} if answer is first or name is None else {name: answer}
        for tensor, given in zip(self._plan.forward[rule.op].inputs, rule.contributions, strict=False):
            if given is not None and given == name:
                changed |= self._contribution(rule, tensor.name, given)
        return changed

    def _parts(self, tensor: str, whole: Any) -> list[tuple[Any, int]]:
        """What a cotangent is the sum of, with the rows that it comes from."""
        found = [(logged(self._values.get(name)), self._rows.get(rule.op, 0)) for rule, name in self._arrivals[tensor]]
        known = [(value, row) for value, row in found if value is not None]
        return known or [(whole, 0)]

    def _contribution(self, rule: Rule, source: str, name: str) -> dict[str, Any]:
        """The row of what a rule adds to the gradient of a leaf."""
        leaf, value = self._sources.get(source, ()), logged(self._values.get(name))
        is_leaf = source in self._plan.fed or self._plan.graph.get_tensor_by_name(source).op.type in VARIABLES
        if not (is_leaf and leaf and value is not None and rule.op in self._rows) or (source, name) in self._told:
            return {}
        first = all(known != source for known, _ in self._told)
        self._told.add((source, name))
        _, answer = self._tape.contribution(leaf[0], np.asarray(value), self._rows[rule.op], first=first)
        return {} if answer is value else {name: answer}
