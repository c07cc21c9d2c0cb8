"""Calls of `tf.gradients` that nobody saw run, deduced from a graph that was built before, or imported."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

import tensorflow as tf

from graphscope.adapters.tensorflow.gradient_rules import Gradient, GradientCall, Rule
from graphscope.adapters.tensorflow.graph_ops import VARIABLES

_GRADIENT: Final = re.compile(r"(?P<scope>(?:.*/)?gradients(?:_\d+)?)/(?P<op>.+?)_grad(?:_\d+)?/")
"""The name of an op that a rule made, where nothing but names is known: the graph was imported."""

_Made = dict[str, list[tf.Operation]]
"""By an op: the ops that its rule made."""


def deduced(ops: Sequence[tf.Operation]) -> list[GradientCall]:
    """The calls that made ops, by `_original_op`, or by names where the graph was imported."""
    made: dict[str, _Made] = defaultdict(lambda: defaultdict(list))
    for op in ops:
        scope, owner = _owner(op)
        if owner:
            made[scope][owner].append(op)
    return [_call(scope, rules, ops) for scope, rules in made.items()]


def _owner(op: tf.Operation) -> tuple[str, str]:
    """The scope of the call that made an op, and the op whose rule it is of; nothing of an op of no rule."""
    original = op._original_op
    if original is not None:
        scope, found, _ = op.name.partition(f"/{original.name}_grad")
        return (scope if found else "gradients"), original.name
    found_by_name = _GRADIENT.match(op.name)
    return (found_by_name["scope"], found_by_name["op"]) if found_by_name and not op.traceback else ("", "")


def _call(scope: str, rules: _Made, ops: Sequence[tf.Operation]) -> GradientCall:
    owners = {op.name: owner for owner, own in rules.items() for op in own}
    inside = frozenset(op.name for op in ops if op.name in owners or op.name.startswith(f"{scope}/"))
    arriving = {owner: _arriving(own, inside, owners) for owner, own in rules.items()}
    graph = ops[0].graph
    found = []
    for owner, arrived in arriving.items():
        contributions = [
            _returned(tensor, rules[owner], arriving) for tensor in graph.get_operation_by_name(owner).inputs
        ]
        for place, variable, gradient in _trained(graph.get_operation_by_name(owner), rules[owner]):
            contributions[place] = gradient
            if variable is not None:
                found.append(Rule(variable.op.name, (gradient,), (gradient,)))
        found.append(Rule(owner, () if arrived is None else (Gradient(arrived.name),), tuple(contributions)))
    return GradientCall(found, inside, owners)


def _arriving(ops: list[tf.Operation], inside: frozenset[str], owners: dict[str, str]) -> tf.Tensor | None:
    """What the ops of a rule are given by the rest of the call: the cotangent."""
    whose = owners[ops[0].name]
    given = (tensor for op in ops for tensor in op.inputs)
    return next((each for each in given if each.op.name in inside and owners.get(each.op.name) != whose), None)


def _returned(tensor: tf.Tensor, own: list[tf.Operation], arriving: dict[str, tf.Tensor | None]) -> Gradient | None:
    """What a rule returns for an input, which the rule of the op that made that is given, or a part of it."""
    arrived = arriving.get(tensor.op.name)
    if arrived is None:
        return None
    parts = [arrived, *(arrived.op.inputs if arrived.op.type == "AddN" else ())]
    return next((Gradient(part.name) for part in parts if part.op in own), None)


def _trained(op: tf.Operation, own: list[tf.Operation]) -> Iterator[tuple[int, tf.Tensor | None, Gradient]]:
    """The inputs of an op that are variables, or read from one, which an optimizer changes by what the rule returns."""
    given = {
        user.inputs[0].op.name: tensor
        for made in own
        for tensor in made.outputs
        for user in tensor.consumers()
        if user.inputs[0].op.type in VARIABLES and user not in own
    }
    for place, tensor in enumerate(op.inputs):
        is_read = tensor.op.type in ("Identity", "ReadVariableOp")
        variable = tensor.op.inputs[0].op if is_read else tensor.op
        if variable.name in given:
            yield place, (tensor if is_read else None), Gradient(given[variable.name].name)
