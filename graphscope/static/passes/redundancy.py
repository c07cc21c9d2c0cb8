"""Leaving out what need not be computed: what nothing needs, what is there already, what is the same in each run."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from graphscope.engine.core import modes
from graphscope.engine.core.tensor import Tensor
from graphscope.static.graphs import interpreter
from graphscope.static.graphs.graph import Graph, Node, Value, needed
from graphscope.static.graphs.node_kinds import frozen, is_pure
from graphscope.static.graphs.rewriting import rewrite

_MOST: Final = 1 << 16
"""Constants of more elements are computed when they are needed: they would only take room."""


def prune(graph: Graph) -> Graph:
    """Leave out nodes that no output needs and that do nothing else."""
    kept = {*needed(graph), *(value.node for value in graph.inputs)}
    return rewrite(graph, lambda new, node, inputs: None if node in kept else ())


def merge(graph: Graph) -> Graph:
    """Keep one of several nodes that compute the same of the same."""
    known: dict[Any, tuple[Value, ...]] = {}

    def merged(new: Graph, node: Node, inputs: tuple[Any, ...]) -> Any:
        if not is_pure(node) or node.bodies:
            return None
        try:
            key = (node.op, tuple(_key(value) for value in inputs), frozen(node.attributes))
            found = known.get(key)
        except TypeError:  # an attribute that can't be compared
            return None
        if found is not None:
            kept = found[0].node
            kept.origins = tuple(dict.fromkeys((*kept.origins, *node.origins)))
            return found
        made = new.append(
            node.op, inputs, node.attributes, name=node.name, after=(), origins=node.origins,
            types=[(value.shape, value.dtype) for value in node.outputs],
        )  # fmt: skip
        known[key] = made.outputs
        return made.outputs

    return rewrite(graph, merged)


def _key(value: Any) -> Any:
    return value if isinstance(value, Value) else (value.__class__, value)


def fold(graph: Graph) -> Graph:
    """Put a constant in the place of a node all of whose inputs are constants, or that needs only their shape."""
    return rewrite(graph, _folded)


def constant_of(value: Any) -> Any:
    """The array of a constant, or None."""
    return value.node.attributes["value"] if isinstance(value, Value) and value.node.op == "constant" else None


def _folded(new: Graph, node: Node, inputs: tuple[Any, ...]) -> Any:
    if node.op in ("ones_like", "zeros_like"):
        shape = node.outputs[0].shape
        if shape is None or None in shape or node.outputs[0].dtype is None:
            return None
        number = node.outputs[0].dtype.type(node.op == "ones_like")
        return [_constant(new, node, np.broadcast_to(number, tuple(size or 0 for size in shape)))]
    if node.op in ("constant", "input", "variable") or not is_pure(node) or node.bodies or not inputs:
        return None
    arrays = [constant_of(value) if isinstance(value, Value) else value for value in inputs]
    if any(array is None and isinstance(value, Value) for array, value in zip(arrays, inputs, strict=True)):
        return None
    if any(
        value.shape is None or None in value.shape or math.prod(filter(None, value.shape)) > _MOST
        for value in node.outputs
    ):
        return None
    given = [Tensor(array) if isinstance(array, np.ndarray | np.generic) else array for array in arrays]
    with modes.grad_mode(False):
        found = interpreter.compute(node, given)
    return [_constant(new, node, result.array) for result in found]


def _constant(new: Graph, node: Node, array: Any) -> Value:
    return new.append("constant", (), {"value": array}, name=node.name).outputs[0]
