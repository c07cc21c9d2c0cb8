"""Calls of `tf.gradients` on a graph: which op each rule belongs to, what it is given and what it returns."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final
from weakref import WeakKeyDictionary

import tensorflow as tf
from tensorflow.python.ops import gradients_util

from graphscope.adapters.kit.patches import Patches

_GRADIENT: Final = re.compile(r"(?P<scope>(?:.*/)?gradients(?:_\d+)?)/(?P<op>.+?)_grad(?:_\d+)?/")
"""The name of an op that a rule made, where nothing but names is known: the graph was imported."""


@dataclass(frozen=True, slots=True)
class Gradient:
    """A gradient, by the names of tensors: these keep no graph alive."""

    name: str
    rows: str = ""
    """Of a gradient of a few rows: the tensor that says which they are."""


@dataclass(frozen=True, slots=True)
class Rule:
    """The rule of an op."""

    op: str
    cotangents: tuple[Gradient | None, ...]
    """By output of the op."""
    contributions: tuple[Gradient | None, ...]
    """By input of the op: what the rule returns for it."""


@dataclass(slots=True)
class GradientCall:
    """One call of `tf.gradients`: its rules in the order in which they are due, and the ops that it made."""

    rules: list[Rule] = field(default_factory=list)
    made: frozenset[str] = frozenset()
    owners: dict[str, str] = field(default_factory=dict)
    """By the name of an op that a rule made: the op whose rule it is."""


class GradientCalls:
    """The calls of `tf.gradients` that are made while a recording lasts, and those before it as far as graphs tell."""

    def __init__(self) -> None:
        self._noted: WeakKeyDictionary[tf.Graph, list[GradientCall]] = WeakKeyDictionary()
        self._running: list[GradientCall] = []

    def install(self, patches: Patches) -> None:
        """Begin to note them."""
        patches.replace(gradients_util, "_GradientsHelper", self._noting(gradients_util._GradientsHelper))
        patches.replace(gradients_util, "_LogOpGradients", self._rule(gradients_util._LogOpGradients))

    def of(self, graph: tf.Graph) -> list[GradientCall]:
        """The calls of which a graph has ops."""
        noted = self._noted.get(graph, [])
        known = {name for call in noted for name in call.made}
        return [*noted, *_deduced(op for op in graph.get_operations() if op.name not in known)]

    def _noting(self, helper: Callable[..., Any]) -> Callable[..., Any]:
        def noting(ys: Any, xs: Any, *args: Any, **kwargs: Any) -> Any:
            graph = tf.compat.v1.get_default_graph()
            count = len(graph.get_operations())
            call = GradientCall()
            self._running.append(call)
            try:
                found = helper(ys, xs, *args, **kwargs)
            finally:
                self._running.pop()
            made = graph.get_operations()[count:]
            call.made = frozenset(op.name for op in made)
            call.owners = {op.name: op._original_op.name for op in made if op._original_op is not None}
            self._noted.setdefault(graph, []).append(call)
            return found

        return noting

    def _rule(self, log: Callable[..., Any]) -> Callable[..., Any]:
        def rule(op: tf.Operation, out_grads: Any, in_grads: Any) -> None:
            if self._running:
                made = Rule(op.name, tuple(map(_named, out_grads)), tuple(map(_named, in_grads)))
                self._running[-1].rules.append(made)
            log(op, out_grads, in_grads)

        return rule


def _named(gradient: Any) -> Gradient | None:
    """The name of a gradient, and of its rows where it has but a few; None of what is none."""
    if isinstance(gradient, tf.IndexedSlices):
        return Gradient(gradient.values.name, gradient.indices.name)
    return Gradient(gradient.name) if isinstance(gradient, tf.Tensor) else None


def _deduced(ops: Iterable[tf.Operation]) -> list[GradientCall]:
    """The calls that made ops, by `_original_op` and names, where nobody saw them run."""
    calls: dict[str, GradientCall] = defaultdict(GradientCall)
    rules: dict[tuple[str, str], list[tf.Operation]] = defaultdict(list)
    others = []
    for op in ops:
        scope, owner = _owner(op)
        if owner is None:
            others.append(op)
        else:
            rules[scope, owner].append(op)
    for op in others:
        around = next((scope for scope, _ in rules if op.name.startswith(f"{scope}/")), "")
        if around:
            calls[around].made |= {op.name}
    for (scope, owner), made in rules.items():
        calls[scope].made |= {op.name for op in made}
        calls[scope].owners |= {op.name: owner for op in made}
    for (scope, owner), made in rules.items():
        calls[scope].rules.append(Rule(owner, _arriving(made, calls[scope].made), ()))
    return list(calls.values())


def _owner(op: tf.Operation) -> tuple[str, str | None]:
    """The scope of the call that made an op, and the op whose rule it is of; None of an op of no rule."""
    original = op._original_op
    if original is not None:
        scope, found, _ = op.name.partition(f"/{original.name}_grad")
        return (scope if found else "gradients"), original.name
    found = _GRADIENT.match(op.name)
    return (found["scope"], found["op"]) if found is not None and not op.traceback else ("", None)


def _arriving(ops: list[tf.Operation], made: frozenset[str]) -> tuple[Gradient | None, ...]:
    """What the ops of a rule are given by other rules of the call: the cotangent."""
    own = {op.name for op in ops}
    given = (tensor for op in ops for tensor in op.inputs if tensor.op.name in made and tensor.op.name not in own)
    return tuple(map(Gradient, dict.fromkeys(tensor.name for tensor in given)))[:1]
