"""Where the numbers of a tensor come from: back through ops that move, copy or cast them and compute nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any, Final

from graphscope.eventlog.typed import Input

if TYPE_CHECKING:
    from graphscope.graph import Node

MOVES: Final = frozenset(
    {
        "view", "reshape", "view_as", "reshape_as", "flatten", "unflatten", "ravel", "squeeze", "unsqueeze", "permute",
        "transpose", "t", "T", "mT", "swapaxes", "swapdims", "movedim", "moveaxis", "contiguous", "clone", "detach",
        "alias", "to", "type", "type_as", "float", "double", "half", "bfloat16", "cpu", "cuda", "getitem", "select",
        "narrow", "index_select", "chunk", "split", "unbind", "expand", "expand_as", "broadcast_to", "requires_grad",
        "as_tensor", "as_strided", "rearrange", "tensor_split", "take", "data", "rename", "align_to", "flip", "roll",
    }
)  # fmt: skip
"""Ops whose output holds numbers of their first input, unchanged but for their dtype; `clone` for `clone_` as well."""

JOINS: Final = frozenset({"cat", "concat", "concatenate", "stack", "hstack", "vstack", "column_stack"})
"""Ops whose output holds the numbers of all their inputs."""


def moves(node: Node) -> bool:
    """Whether a node only hands on the numbers of its first input."""
    return node.kind == "op" and node.op.rstrip("_") in MOVES and bool(node.inputs)


def first_told(node: Node) -> Node:
    """The node that made a tensor, of a leaf by which a later segment of the log tells of it again."""
    known = node.kind == "leaf" and node.graph.log.first <= node.tensor < node.row
    return node.graph.node(node.tensor) if known else node


def is_forward(node: Node, names: Collection[str]) -> bool:
    """Whether a node is an op of one of these names that ran forward."""
    return node.kind == "op" and node.graph_pass == "forward" and node.op.rstrip("_") in names


def origin(node: Node) -> Node:
    """The node that computed the numbers of a node."""
    while moves(node):
        node = node.inputs[0].source
    return node


def origins(node: Node) -> Iterator[Node]:
    """The nodes that computed the numbers of a node, of all that were joined."""
    waiting: list[Node] = [node]
    seen: set[int] = set()
    while waiting and len(seen) < _MOST:
        at = origin(waiting.pop())
        if at.row in seen:
            continue
        seen.add(at.row)
        if at.kind == "op" and at.op in JOINS and at.inputs:
            waiting += [edge.source for edge in at.inputs]
        else:
            yield at


_MOST: Final = 1000


NAMED_ONLY: Final = 99
"""The place of an argument that has none."""


def argument(node: Node, name: str, place: int, otherwise: Any = None) -> Any:
    """What an op was given by name, or else at a place among its operands."""
    given = node.arguments
    if name in given.attributes:
        return given.attributes[name]
    operands = given.operands or ()
    return operands[place] if place < len(operands) else otherwise


def operand(node: Node, name: str, place: int) -> Node | None:
    """The node that an op was given by name, or else at a place among its operands; None of a constant."""
    given = argument(node, name, place)
    if not isinstance(given, Input):
        return None
    edges = {edge.number: edge for edge in node.inputs}
    return edges[given.number].source if given.number in edges else None


def axis(node: Node, name: str = "dim", place: int = 1, otherwise: Any = None) -> int | None:
    """The axis that an op was given, counted from the front; None where it was given none, or several."""
    found = argument(node, name, place, otherwise)
    dimensions = len(node.inputs[0].source.shape) if node.inputs else 0
    if isinstance(found, bool) or not isinstance(found, int) or not -dimensions <= found < max(dimensions, 1):
        return None
    return found % dimensions if dimensions else 0
