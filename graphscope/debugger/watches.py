"""Watches: expressions over the log whose value is compared from node to node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from graphscope.debugger import expression_names, nodes, value_results
from graphscope.debugger.breakpoints import holds
from graphscope.debugger.expressions import RAISED, Expression, Lookup, describe, parse
from graphscope.debugger.hit_counts import hits_that_stop
from graphscope.debugger.results import Change, WatchInfo
from graphscope.graph import Node

if TYPE_CHECKING:
    from graphscope.debugger.debugger import Debugger
    from graphscope.graph import Graph


_ANY = frozenset({"nodes", "node"})
"""Names through which an expression reaches any node."""

_SHOWN = 8
"""An array of more elements is told in a few numbers."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What an expression was at a position: comparable, and as text."""

    key: object
    text: str


UNDEFINED: Final = Snapshot(None, "undefined")


@dataclass
class Watch:
    """An expression that is looked at after every node.

    Words of the current node (`value`, `grad`) speak of the tensor where the watch was set, wherever one stands later.
    """

    number: int
    expression: Expression
    row: int | None
    seen: Snapshot
    condition: Expression | None = None
    """What must hold at the node that changes it."""
    when: str = ""
    """Which changes stop: `5`, `>= 5`, `% 5`; empty for all."""
    hits: int = 0
    tensors: set[int] = field(default_factory=set)
    """The tensors that it has been found to speak of."""
    due: bool = True
    """The last node that was passed may have changed it, in the one or the other direction of time."""

    @property
    def info(self) -> WatchInfo:
        """It as data."""
        condition = "" if self.condition is None else self.condition.text
        return WatchInfo(self.number, self.expression.text, self.row, condition, self.when, self.hits)

    def concerns(self, node: Node) -> bool:
        """Whether a node can change it: it belongs to a tensor of a name that the expression mentions."""
        names_in = self.expression.names
        if not names_in or not names_in.isdisjoint(_ANY):
            return True
        owner = expression_names.owner_of(node)
        if owner is None:
            return True
        if owner.name in names_in or owner.row == self.row:
            self.tensors.add(owner.tensor)
        return owner.tensor in self.tensors

    def changed(self, graph: Graph, node: Node, lookup: Callable[[], Lookup]) -> Change | None:
        """Pass by a node; the change, where the value is another than before and that is to stop.

        Args:
            graph: The graph there.
            node: The node.
            lookup: Says what names mean in the condition.
        """
        concerned = self.concerns(node)
        is_due, self.due = concerned or self.due, concerned
        if not is_due:
            return None
        before, self.seen = self.seen, look(self.expression, graph, self.row)
        if before.key == self.seen.key:
            return None
        met, note = holds(self.condition, lookup)
        if not met:
            return None
        self.hits += 1
        if self.when and not note and not hits_that_stop(self.when)(self.hits):
            return None
        return Change(self.number, self.expression.text, before.text, self.seen.text, note)


def look(expression: Expression, graph: Graph, row: int | None) -> Snapshot:
    """The value of an expression at the graph's `now`; undefined while what it speaks of is not there."""
    node = _bound(graph, row)
    if node is None and expression.names & expression_names.WORDS.keys():
        return UNDEFINED
    try:
        return snapshot(expression.evaluate(expression_names.lookup(graph, node)))
    except NameError:
        return UNDEFINED
    except RAISED as error:  # a person's expression may raise anything; that is its value then
        text = describe(error)
        return Snapshot(text, text)


def snapshot(value: object) -> Snapshot:
    """A value as it can be compared later, whatever becomes of its memory."""
    array = value_results.as_array(value)
    if array is not None:
        small = array.size <= _SHOWN
        text = value_results.in_one_line(array) if small else value_results.brief(array)
        return Snapshot((array.shape, array.dtype.str, array.tobytes()), text)
    return Snapshot(repr(value), repr(value))


def watch(
    number: int,
    expression: Expression,
    graph: Graph,
    node: Node | None,
    condition: Expression | None = None,
    when: str = "",
) -> Watch:
    """A watch that is set at a node."""
    row = bind(expression, node)
    made = Watch(number, expression, row, look(expression, graph, row), condition, when)
    bound = [] if row is None else [graph.node(row)]
    named = (expression_names.newest(graph, name) for name in expression.names - expression_names.WORDS.keys())
    made.tensors.update(found.tensor for found in (*bound, *named) if found is not None)
    return made


def add(
    debugger: Debugger, expression: Expression, node: Node | None = None, *, condition: str = "", when: str = ""
) -> Watch:
    """Begin to watch an expression; its words speak of a node, the current one unless another is given.

    Raises:
        CommandError: The condition, or which changes stop, is not understood; or the words speak of a node, and there
            is none.
    """
    here = node or debugger.node_at_hand
    if here is None and (words := expression.names & expression_names.WORDS.keys()):
        raise expression_names.nothing_at_hand(min(words), debugger.node)
    test = parse(condition) if condition.strip() else None
    if when.strip():
        hits_that_stop(when)
    number = debugger.watches_made = max(debugger.watches_made, *debugger.watches, 0) + 1
    bound = here if isinstance(here, Node) else None
    made = debugger.watches[number] = watch(number, expression, debugger.graph, bound, test, when.strip())
    return made


def last_change(seen: Watch, graph: Graph) -> int | None:
    """The node at or before the graph's `now` that gave the expression the value that it has there."""
    changed = None
    due = False
    for row in nodes.backward(graph.log, graph.log.first, graph.now + 1):
        then = graph.at(row)
        if due and look(seen.expression, then, seen.row).key != seen.seen.key:
            break
        due = seen.concerns(then.node(row))
        changed = row if due else changed
    return changed


def bind(expression: Expression, node: Node | None) -> int | None:
    """The row that the words of an expression speak of; None when it has none of them."""
    if node is None or not expression.names & expression_names.WORDS.keys():
        return None
    owner = expression_names.owner_of(node)
    return None if owner is None else int(owner.row)


def _bound(graph: Graph, row: int | None) -> Node | None:
    if row is None or row > graph.now:
        return None
    return expression_names.current(graph.node(row))
