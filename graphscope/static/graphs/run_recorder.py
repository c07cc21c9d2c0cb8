"""The rows that a graph writes into a log when it runs: its nodes, and its gradients as a backward pass."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from graphscope.engine.core import slots
from graphscope.engine.core.modes import Context, here
from graphscope.engine.core.module_scopes import ROOT, mark
from graphscope.engine.core.tensor import Tensor
from graphscope.eventlog.schema import ROW_MASK, SLOT_SHIFT, Kind
from graphscope.eventlog.scopes import ScopePath
from graphscope.eventlog.writer import Writer
from graphscope.static.graphs import graph_rows
from graphscope.static.graphs.graph import Arrival, Graph, Node, Value
from graphscope.static.graphs.graph_rows import LEAVES
from graphscope.static.graphs.node_kinds import KINDS
from graphscope.static.graphs.op_calls import at

# A node that computes gradients stands in the rule of the node that it differentiates, as an op does that a person
# steps into; ahead of the rule comes the GRAD row with the cotangent, as in a program that runs without a graph.

_thread = threading.local()
"""`run`: the run of a graph that is going on in this thread."""

Execute = Callable[[Node, dict[Value, Any]], None]


Cotangents = dict[int, tuple[Value, Tensor]]
"""For slots of a node, which value is its cotangent, and what that is."""


class Part:
    """Nodes of a graph, or of a body, that run one after the other, and the gradients that arrive meanwhile.

    Args:
        nodes: The nodes, in order.
        values: What is known already.
        graph: Whose nodes they are; it knows what gradients are of.
    """

    def __init__(self, nodes: Sequence[Node], values: dict[Value, Any], graph: Graph | None) -> None:
        self.nodes, self.values, self._graph = nodes, values, graph
        self.ready = self.arrivals(values)
        """Gradients that are there and have no row yet."""
        known = [*self.ready, *self.arrivals([value for node in nodes for value in node.outputs])]
        self.ruled = {node.rule for node in nodes} | {node for _, each in known for node, _ in each.sources}
        """The nodes whose rules run."""
        self.expected = Counter(arrival.of.node for _, arrival in known)
        """For how many slots of each node a cotangent will arrive."""
        self.edited: dict[Node, dict[Value, Tensor]] = {}
        """What people put in the place of cotangents of nodes. Others may have been given the same value."""
        self.slots: dict[Node, tuple[list[int], Cotangents]] = {}
        """Of nodes that wait for others of their slots, the rows and the cotangents that have arrived."""

    def execute(self, node: Node, execute: Execute) -> None:
        """Run a node: what it computes is added to the values."""
        edited = self._edited(node) if self.edited and node.rule is not None else {}
        if not edited:
            execute(node, self.values)
            return
        values = {**self.values, **edited}
        execute(node, values)
        for value in node.outputs:
            self.values.setdefault(value, values[value])

    def _edited(self, node: Node) -> dict[Value, Tensor]:
        """What people put in the place of what a node takes."""
        sums = self._graph.sums.get(node) if self._graph is not None else None
        if sums is None:
            return self.edited.get(node.rule, {}) if node.rule is not None else {}
        return {
            value: self.edited[giver][value]
            for value, sources in zip(node.values, sums, strict=True)
            for giver, _ in sources
            if value in self.edited.get(giver, {})
        }

    def arrivals(self, values: Iterable[Value]) -> list[tuple[Value, Arrival]]:
        """For each value that is a gradient, what it is of."""
        cotangents = {} if self._graph is None else self._graph.cotangents
        return [(value, arrival) for value in values for arrival in cotangents.get(value, ())]


class Run:
    """One run of a graph, the bodies of its loops and branches included, as the log is told of it.

    Args:
        writer: The log.
        began: The row that the run began with: what was made since is known to the log as long as the run goes on.
    """

    def __init__(self, writer: Writer, began: int) -> None:
        self._writer = writer
        self._began = began
        self._rules: dict[Node, int] = {}
        """The GRAD row of each node whose cotangent has arrived."""
        self._newest = 0
        self._path = ROOT
        self._depth = 0
        self._backward: Node | None = None
        """The node with which the backward pass began."""

    @classmethod
    def here(cls, writer: Writer, began: int | None) -> Run:
        """The run that is going on in this thread, or a new one."""
        going: Run | None = getattr(_thread, "run", None)
        return going or cls(writer, writer.low if began is None else began)

    def nodes(self, part: Part, execute: Execute) -> None:
        """Run the nodes of a part; what they compute is added to its values."""
        mode = here()
        outer, since, going = mode.context, mode.since, getattr(_thread, "run", None)
        begins: tuple[Node, int] | None = None
        if going is None:
            self._newest, self._path = outer.backward_row, outer.scope or ROOT
            _thread.run, mode.since = self, self._began
        self._depth += 1
        try:
            for node in part.nodes:
                self._enter(node.scope, outer.grad_enabled)
                if node.rule is not None and node.op not in LEAVES:
                    if self._backward is None:
                        begins = node, self._row_of(node.rule, part.values)
                        self._backward = node
                        at(node)(graph_rows.edge, self._writer, Kind.BACKWARD_BEGIN, begins[1])
                    self._tell(part)
                row = outer.backward_row if node.rule is None else self._rules.get(node.rule, self._newest)
                scope = None if self._path is ROOT else self._path
                mode.context = Context(scope, row, mode.grad_enabled, node.name)
                part.execute(node, execute)
                if node.op in KINDS:
                    self._append(node, part.values)
                part.ready += part.arrivals(node.outputs)
                if self._backward is not None:
                    self._tell(part)
            if self._backward is not None:
                self._tell(part)
        finally:
            self._depth -= 1
            mode.context = outer
            self._enter("" if outer.scope is None else _spelled(outer.scope), outer.grad_enabled)
            mode.context = outer
            if going is None:
                _thread.run, mode.since = None, since
            elif self._backward is not None:  # what a loop adds up between its turns
                mode.context = Context(outer.scope, self._newest, outer.grad_enabled, outer.name)
            if begins is not None:
                self._backward = None
                at(begins[0])(graph_rows.edge, self._writer, Kind.BACKWARD_END, begins[1])

    # Scopes ----------------------------------------------------------------------------------------------------------

    def _enter(self, scope: str, grad_enabled: bool) -> None:
        path = ROOT
        for name in scope.split("/") if scope else ():
            path = path.child(name, "scope")
        if path is self._path:
            return
        leaving, entering = self._path.line(), path.line()
        common = 0
        while common < min(len(leaving), len(entering)) and leaving[common] is entering[common]:
            common += 1
        for each in reversed(leaving[common:]):
            mark(Kind.SCOPE_EXIT, each)
        for each in entering[common:]:
            mark(Kind.SCOPE_ENTER, each)
        self._path = path

    # Rows ------------------------------------------------------------------------------------------------------------

    def _append(self, node: Node, values: dict[Value, Any]) -> None:
        """The rows of a node that is no op of the engine: a leaf, or an op of a name of its own."""
        rule = self._rules.get(node.rule, -1) if node.rule is not None else -1
        for slot, value in enumerate(node.outputs):
            made = values.get(value)
            if not isinstance(made, Tensor):
                continue
            if node.op in LEAVES:
                if made.row < (self._began if node.op == "read" else self._writer.low):
                    made.name = made.name or node.name
                    at(node)(graph_rows.leaf, self._writer, made, node.op)
                    if node.op == "read":
                        node.attributes["holder"][0].first_row = made.first_row
            elif made.row >= self._writer.base:
                continue  # a value that was handed on, or that a body made
            elif node.op in ("vjp", "deferred_vjp") and rule >= 0:
                made.row = rule | node.attributes["wanted"][slot] << SLOT_SHIFT
                slots.watch(made)
            else:
                inputs = [values[each] for each in node.values]
                given = [each for each in inputs if isinstance(each, Tensor) and each.row >= self._writer.base]
                at(node)(graph_rows.op, self._writer, node, made, given, here().context)

    def _tell(self, part: Part) -> None:
        """Write the rows of gradients that have arrived, of values that are there."""
        waiting = []
        for cotangent, arrival in part.ready:
            if arrival.of in part.values:
                self._arrived(part, cotangent, arrival)
            else:
                waiting.append((cotangent, arrival))
        part.ready = waiting

    def _arrived(self, part: Part, cotangent: Value, arrival: Arrival) -> None:
        """The row that says that the gradient of a value is there."""
        of, sources = arrival
        node, tensor, gradient = of.node, part.values[of], part.values[cotangent]
        for source, _ in sources:
            gradient = part.edited.get(source, {}).get(cotangent, gradient)
        if not isinstance(tensor, Tensor) or not isinstance(gradient, Tensor) or tensor.row < self._writer.base:
            return
        origin = gradient.row  # of a sum
        if len(sources) == 1 and sources[0][0] in self._rules:
            source, place = sources[0]
            origin = self._rules[source] | place << SLOT_SHIFT
        rows = [origin] if origin >= self._writer.base else []
        forward = tensor.row & ROW_MASK
        if node.op in LEAVES:
            if self._depth > 1:  # a body gives it, and where it goes is told there
                gradient.row = origin
                slots.watch(gradient)
            else:
                self._write(part, Kind.ACCUMULATE, node, {of.slot: (cotangent, gradient)}, forward, rows)
        elif node.bodies:
            if gradient is not part.values[cotangent]:
                part.edited.setdefault(node, {})[cotangent] = gradient
        elif node in part.ruled:
            slot_rows, cotangents = part.slots.setdefault(node, ([], {}))
            cotangents[of.slot] = cotangent, gradient
            if len(node.outputs) > 1:
                give = (self._writer, Kind.ACCUMULATE, node, [gradient.array], forward, rows, of.slot)
                slot_rows.append(at(node)(graph_rows.gradient, *give)[0])
                rows = slot_rows
            if len(cotangents) == part.expected[node]:
                del part.slots[node]
                self._rules[node] = self._newest = self._write(part, Kind.GRAD, node, cotangents, forward, rows)

    def _write(self, part: Part, kind: Kind, node: Node, cotangents: Cotangents, forward: int, rows: list[int]) -> int:
        """A row of the cotangents of a node, by slot; a person may put another in the place of the first."""
        arrays = [gradient.array for _, gradient in cotangents.values()]
        if kind == Kind.GRAD and len(node.outputs) > 1:
            arrays = [
                cotangents[slot][1].array if slot in cotangents else _zeros(part.values[value])
                for slot, value in enumerate(node.outputs)
            ]
        row, edit = at(node)(graph_rows.gradient, self._writer, kind, node, arrays, forward, rows, -1)
        first = min(cotangents)
        if edit is not None:
            changed = Tensor(edit)
            changed.row = cotangents[first][1].row
            cotangents[first] = cotangents[first][0], changed
        given = {value: gradient for value, gradient in cotangents.values() if gradient is not part.values[value]}
        if given and kind == Kind.GRAD:
            part.edited[node] = given
        elif given:
            part.values.update(given)
        return int(row)

    def _row_of(self, node: Node, values: dict[Value, Any]) -> int:
        """The row of what a node gave."""
        found = next((values[each] for each in node.outputs if isinstance(values.get(each), Tensor)), None)
        return self._writer.base if found is None else max(found.row & ROW_MASK, self._writer.base)


@contextmanager
def apart() -> Iterator[None]:
    """Graphs that run inside have runs of their own: a function of Python calls them."""
    before = getattr(_thread, "run", None)
    _thread.run = None
    try:
        yield
    finally:
        _thread.run = before


def tell(writer: Writer, values: dict[Value, Any], began: int) -> None:
    """The leaves of what was fed to a run that began with this row."""
    for value, made in values.items():
        if isinstance(made, Tensor) and made.row < (writer.base if _is_made(made) else began):
            made.name = made.name or value.node.name
            at(value.node)(graph_rows.leaf, writer, made, value.node.op if value.node.op in LEAVES else "input")


def _is_made(tensor: Tensor) -> bool:
    """Whether an op made a tensor: the log knows it by that."""
    return tensor.node is not None or (tensor.row >= 0 and tensor.first_row < 0)


def _zeros(out: Any) -> np.ndarray:
    """What stands for the cotangent of an output for which none arrives."""
    return np.zeros(out.array.shape if out.array.dtype.kind in "fc" else 0, out.array.dtype)


def _spelled(path: ScopePath) -> str:
    return "/".join(each.name for each in path.line())
