"""The dense layers of a network as they ran: which weights join what to what, and what came out in the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.errors import LogError
from graphscope.eventlog.schema import Flag

if TYPE_CHECKING:
    from graphscope.graph.node import Edge, Node

__all__ = ["Dense", "Side", "chain_of", "dense_layers"]

_PRODUCTS: Final = {"linear": 0, "addmm": 1, "mm": 0, "matmul": 0, "dot": 0, "dotgeneral": 0, "mv": 0}
"""Ops that multiply with a weight, by their names without underscores: so many of their inputs stand ahead."""

_MOVES: Final = frozenset({"t", "transpose", "permute", "mt", "detach", "to", "cast", "clone"})
_CARRIES: Final = _MOVES | {"view", "reshape", "flatten", "squeeze", "unsqueeze", "dropout", "contiguous"}
"""Ops that hand on the features of each sample as they are."""


@dataclass(frozen=True, slots=True)
class Side:
    """A tensor whose features are neurons."""

    node: Node
    is_columns: bool
    """Each sample is a column, as of `W @ x`."""

    @property
    def width(self) -> int:
        """How many neurons."""
        return self.node.shape[0 if self.is_columns else -1]

    @property
    def samples(self) -> int:
        """How many samples it holds."""
        return int(np.prod(self.node.shape, dtype=np.int64)) // max(self.width, 1)

    def row(self, values: np.ndarray | None, sample: int) -> np.ndarray | None:
        """What each neuron has of values in its form, for one sample; None where they were not kept."""
        if values is None or values.shape != self.node.shape or values.dtype.kind not in "fiu":
            return None
        table = values.reshape(self.width, -1).T if self.is_columns else values.reshape(-1, self.width)
        return table[sample] if sample < len(table) else None


@dataclass(frozen=True, slots=True)
class Dense:
    """A dense layer that ran."""

    product: Node
    """The op with the weight."""
    weight: Edge
    taken: Node
    """What it multiplies."""
    turned: bool
    """Its weight has a row for each neuron that comes out."""
    source: Side
    """What goes in."""
    made: Side
    """What comes out, with bias and activation."""
    ops: tuple[str, ...]
    """The activation, and what else was done to each neuron by itself behind the weights and the bias."""

    def weights(self) -> np.ndarray | None:
        """The weights as they were then, a row for each neuron that goes in; None where they were not kept."""
        value = self.weight.source.output(self.weight.slot)
        return None if value is None else value.T if self.turned else value

    @property
    def parameter(self) -> Node:
        """The weight as the program made it."""
        return _origin(self.weight.source)

    @property
    def name(self) -> str:
        """The module's name, else that of the weight."""
        return self.product.scope or self.parameter.name or self.product.op


def dense_layers(nodes: Iterable[Node]) -> list[Dense]:
    """The dense layers among some nodes, in the order in which they ran."""
    chosen = {node.row: node for node in nodes if node.kind == "op" and node.graph_pass == "forward"}
    return [found for node in chosen.values() if (found := _layer(node, chosen.keys())) is not None]


def chain_of(layers: list[Dense]) -> list[Dense]:
    """The layers that lead one into the next, up to the last that ran; of several such chains the longest."""
    makers = {row: place for place, layer in enumerate(layers) for row in _rows_of(layer)}
    before: list[int | None] = [_maker(layer.taken, makers) for layer in layers]
    chains: list[list[int]] = []
    for place, previous in enumerate(before):
        chains.append([*(chains[previous] if previous is not None and previous < place else []), place])
    longest = max(chains, key=lambda chain: (len(chain), chain[-1]), default=[])
    return [layers[place] for place in longest]


def _layer(node: Node, among: Iterable[int]) -> Dense | None:
    name = node.op.replace("_", "").lower()
    if name not in _PRODUCTS or node.flags & Flag.NO_GRAD or not node.shape:
        return None
    factors = node.inputs[_PRODUCTS[name] :][:2]
    if len(factors) < 2:
        return None
    for weight, other in ((factors[1], factors[0]), (factors[0], factors[1])):
        if len(weight.source.shape) == 2 and _is_trained(weight.source) and other.source.shape:
            return _joined(node, weight, other.source, name == "linear", weight is factors[0], among)
    return None


def _joined(node: Node, weight: Edge, taken: Node, turned: bool, is_left: bool, among: Iterable[int]) -> Dense | None:
    columns = is_left and len(taken.shape) == 2
    source, made = Side(taken, columns), Side(node, columns and len(node.shape) == 2)
    is_turned = turned or is_left
    rows, cols = weight.source.shape
    if (source.width, made.width) != ((cols, rows) if is_turned else (rows, cols)):
        return None
    end, ops = _followed(node, among)
    return Dense(node, weight, taken, is_turned, source, Side(end, made.is_columns), ops)


def _followed(node: Node, among: Iterable[int]) -> tuple[Node, tuple[str, ...]]:
    """What becomes of each neuron by itself: the last such op, and the names of those that are no bias."""
    ops: list[str] = []
    while True:
        onward = [edge.target for edge in node.users if edge.target.row in among and edge.kind == "data"]
        if len(onward) != 1 or not _is_by_itself(node, onward[0]):
            return node, tuple(ops)
        is_bias = onward[0].op in ("add", "add_") and len(onward[0].inputs) > 1
        node = onward[0]
        ops += [] if is_bias else [node.op]


def _is_by_itself(node: Node, user: Node) -> bool:
    others = [edge.source for edge in user.inputs if edge.source.row != node.row]
    is_product = user.op.replace("_", "").lower() in _PRODUCTS
    return user.shape == node.shape and not is_product and user.op not in _CARRIES and all(map(_is_trained, others))


def _rows_of(layer: Dense) -> Iterator[int]:
    """The rows whose features are the neurons of a layer, from what comes out back to the product."""
    node = layer.made.node
    while True:
        yield node.row
        if node.row == layer.product.row:
            return
        node = next(edge.source for edge in node.inputs if not _is_trained(edge.source))


def _maker(node: Node, makers: dict[int, int]) -> int | None:
    """The layer whose neurons a tensor has, however it was laid out in between."""
    while node.row not in makers:
        if node.kind != "op" or node.op.rstrip("_").lower() not in _CARRIES or not node.inputs:
            return None
        node = node.inputs[0].source
    return makers[node.row]


def _origin(node: Node) -> Node:
    """What a weight is a turned copy, or a later version, of."""
    while node.kind == "op" and node.op.rstrip("_").lower() in _MOVES and node.inputs:
        node = node.inputs[0].source
    try:
        return node.graph.node(node.tensor)
    except LogError:
        return node


def _is_trained(node: Node) -> bool:
    found = _origin(node)
    return found.kind == "leaf" and bool(found.flags & (Flag.PARAMETER | Flag.REQUIRES_GRAD))
