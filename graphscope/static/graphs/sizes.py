"""Sizes as values of a graph: what a dim is when the graph runs, where that is not known before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphscope.engine.core.tensor import Tensor
from graphscope.static.graphs.graph import Node
from graphscope.static.graphs.graph_builder import current
from graphscope.static.graphs.node_kinds import kind
from graphscope.static.graphs.symbols import Symbol


@kind("size", "The length of a dim, as it is when the graph runs.", infer=lambda node: [((), np.dtype("int64"))])
def _size(node: Node, values: Sequence[Any]) -> Sequence[Any]:
    return [Tensor(np.int64(values[0].array.shape[node.attributes["dim"]]))]


def length(symbol: Symbol, dim: int = 0) -> Any:
    """How many elements there are along a dim: a number, or a symbol where that is told at run time."""
    size = symbol.shape[dim]
    if size is not None:
        return size
    here = current()
    node = here.append("size", (here.take(symbol.value, symbol.builder),), {"dim": dim})
    return Symbol.of(node.outputs[0], here)
