"""Computing ahead what does not depend on what a run is given."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from graphscope.engine.core import modes
from graphscope.engine.core.tensor import Tensor
from graphscope.static.graphs import interpreter
from graphscope.static.graphs.graph import Graph, Node, Value
from graphscope.static.graphs.node_kinds import is_pure
from graphscope.static.graphs.rewriting import rewrite

_MOST: Final = 1 << 16
"""Constants of more elements are computed when they are needed: they would only take room."""


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
