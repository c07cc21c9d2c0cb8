"""Calls of `tf.gradients` on a graph: which op each rule belongs to, what it is given and what it returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import tensorflow as tf
from tensorflow.python.ops import gradients_util

from graphscope.adapters.kit.patches import Patches
from graphscope.adapters.tensorflow.deduced_gradients import deduced
from graphscope.adapters.tensorflow.gradient_rules import Gradient, GradientCall, Rule


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
        return [*noted, *deduced([op for op in graph.get_operations() if op.name not in known])]

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
