"""Watches: expressions over the log whose value is compared from node to node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from graphscope.debugger import names
from graphscope.debugger.expressions import Expression, describe
from graphscope.debugger.recorded import Recorded

if TYPE_CHECKING:
    from graphscope.graph import Graph, Node


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What an expression was at a position: comparable, and as text."""

    key: object
    text: str


@dataclass
class Watch:
    """An expression that is looked at after every node.

    Words of the current node (`value`, `grad`) speak of the tensor where the watch was set, wherever one stands later.
    """

    number: int
    expression: Expression
    row: int | None
    seen: Snapshot
    hits: int = 0

    def changed(self, graph: Graph) -> str:
        """Look at it; what is to be said when it is another than the last time, else nothing."""
        before, self.seen = self.seen, look(self.expression, graph, self.row)
        if before.key == self.seen.key:
            return ""
        self.hits += 1
        return f"watch {self.number}: {self.expression.text}: {before.text} -> {self.seen.text}"


def look(expression: Expression, graph: Graph, row: int | None) -> Snapshot:
    """The value of an expression at the graph's `now`; undefined while what it speaks of is not there."""
    node = _bound(graph, row)
    if node is None and expression.names & names.WORDS.keys():
        return Snapshot(None, "undefined")
    try:
        value = expression.evaluate(names.lookup(graph, node))
    except NameError:
        return Snapshot(None, "undefined")
    except Exception as error:  # noqa: BLE001 - a person's expression may raise anything; that is its value then
        text = describe(error)
        return Snapshot(text, text)
    return snapshot(value)


def snapshot(value: object) -> Snapshot:
    """A value as it can be compared later, whatever becomes of its memory."""
    if isinstance(value, Recorded):
        value = value.node.value
    if isinstance(value, np.ndarray):
        text = np.array2string(value, threshold=8, separator=", ").replace("\n", "")
        return Snapshot((value.shape, value.dtype.str, value.tobytes()), text)
    return Snapshot(repr(value), repr(value))


def bind(expression: Expression, node: Node | None) -> int | None:
    """The row that the words of an expression speak of; None when it has none of them."""
    if node is None or not expression.names & names.WORDS.keys():
        return None
    owner = names.owner_of(node)
    return None if owner is None else int(owner.row)


def _bound(graph: Graph, row: int | None) -> Node | None:
    if row is None or row > graph.now:
        return None
    return names.current(graph.node(row))
