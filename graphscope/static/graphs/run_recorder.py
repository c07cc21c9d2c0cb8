"""The rows that a graph writes into a log when it runs: its nodes, and its gradients as a backward pass."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, Final

import numpy as np

from graphscope.engine.core import slots, tracing
from graphscope.engine.core.modes import Context, here
from graphscope.engine.core.module_scopes import ROOT, mark
from graphscope.engine.core.op import OPS
from graphscope.engine.core.tensor import Tensor
from graphscope.eventlog import record
from graphscope.eventlog.gate import Replace
from graphscope.eventlog.places import site_number
from graphscope.eventlog.schema import ROW_MASK, SLOT_SHIFT, Flag, Kind, Pass
from graphscope.eventlog.scopes import ScopePath
from graphscope.eventlog.writer import Writer
from graphscope.static.graphs.graph import Arrival, Node, Value
from graphscope.static.graphs.node_kinds import KINDS

# A node that computes gradients stands in the rule of the node that it differentiates, as an op does that a person
# steps into; ahead of the rule comes the GRAD row with the cotangent, as in a program that runs without a graph.

_LEAVES: Final = {"input": "placeholder", "constant": "constant", "variable": "", "read": ""}
"""Kinds of nodes that are leaves of a log, and the function that it names for them."""

_thread = threading.local()
"""`run`: the run of a graph that is going on in this thread."""

Execute = Callable[[Node, dict[Value, Any]], None]
AtPlace = Callable[..., Any]


class Run:
    """One run of a graph, the bodies of its loops and branches included, as the log is told of it.

    Args:
        writer: The log.
        at: Gives, for a node, a function that calls another at the node's place of the program.
        began: The row that the run began with: what was made since is known to the log as long as the run goes on.
    """

    def __init__(self, writer: Writer, at: Callable[[Node], AtPlace], began: int) -> None:
        self._writer = writer
        self._at = at
        self._began = began
        self._cotangents: dict[Value, list[Arrival]] = {}
        self._rules: dict[Node, int] = {}
        """The GRAD row of each node whose cotangent has arrived."""
        self._newest = 0
        self._path = ROOT
        self._depth = 0
        self._backward: Node | None = None
        """The node with which the backward pass began."""

    @classmethod
    def here(cls, writer: Writer, at: Callable[[Node], AtPlace], began: int | None) -> Run:
        """The run that is going on in this thread, or a new one."""
        going: Run | None = getattr(_thread, "run", None)
        return going or cls(writer, at, writer.end if began is None else began)

    def nodes(
        self, nodes: Sequence[Node], values: dict[Value, Any], execute: Execute, cotangents: dict[Value, list[Arrival]]
    ) -> None:
        """Run nodes of the graph, or of a body, in the order given; what they compute is added to `values`."""
        mode = here()
        outer, since, going = mode.context, mode.since, getattr(_thread, "run", None)
        ruled: set[Node | None] = {node.rule for node in nodes}
        ruled.update(each.source for node in nodes for value in node.outputs for each in cotangents.get(value, ()))
        ready = [(value, each) for value in values for each in cotangents.get(value, ())]
        """Cotangents that are there and have not been told of."""
        ruled.update(each.source for _, each in ready)
        begins: tuple[Node, int] | None = None
        if going is None:
            self._newest, self._path = outer.backward_row, outer.scope or ROOT
            _thread.run, mode.since = self, self._began
        self._depth += 1
        try:
            for node in nodes:
                self._enter(node.scope, outer.grad_enabled)
                if node.rule is not None:
                    if self._backward is None:
                        begins = node, self._row_of(node.rule, values)
                        self._backward = node
                        self._at(node)(_edge, self._writer, Kind.BACKWARD_BEGIN, begins[1])
                    ready = [each for each in ready if not self._arrived(*each, values, ruled)]
                row = outer.backward_row if node.rule is None else self._rules.get(node.rule, self._newest)
                scope = None if self._path is ROOT else self._path
                mode.context = Context(scope, row, mode.grad_enabled, node.name)
                execute(node, values)
                if node.op in KINDS:
                    self._append(node, values)
                made = [(value, each) for value in node.outputs for each in cotangents.get(value, ())]
                ready += [each for each in made if not self._arrived(*each, values, ruled)]
            if self._backward is not None:
                for value, each in ready:
                    self._arrived(value, each, values, ruled)
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
                self._at(begins[0])(_edge, self._writer, Kind.BACKWARD_END, begins[1])

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
            if node.op in _LEAVES:
                if made.row < (self._began if node.op == "read" else self._writer.low):
                    made.name = made.name or node.name
                    self._at(node)(_leaf, self._writer, made, node.op)
                    if node.op == "read":
                        node.attributes["holder"][0].first_row = made.first_row
            elif made.row >= self._writer.base:
                continue  # a value that was handed on, or that a body made
            elif node.op in ("vjp", "late_vjp") and rule >= 0:
                made.row = rule | node.attributes["wanted"][slot] << SLOT_SHIFT
                slots.watch(made)
            else:
                inputs = [values[each] for each in node.values]
                given = [each for each in inputs if isinstance(each, Tensor) and each.row >= self._writer.base]
                self._at(node)(_op, self._writer, (node, made, given), here().context)

    def _arrived(self, cotangent: Value, arrival: Arrival, values: dict[Value, Any], ruled: set[Node | None]) -> bool:
        """The row that says that the gradient of a value is there; False where the value itself is not there yet."""
        of, source, place = arrival
        if of not in values:
            return False
        tensor, gradient = values[of], values[cotangent]
        leaf = of.node.op in _LEAVES
        if not isinstance(tensor, Tensor) or not isinstance(gradient, Tensor) or tensor.row < self._writer.base:
            return True
        known = self._rules[source] | place << SLOT_SHIFT if source in self._rules else gradient.row
        rows = [known] if known >= self._writer.base else []
        if leaf and self._depth > 1:  # a body gives it, and where it goes is told there
            gradient.row = known
            slots.watch(gradient)
        elif leaf or (of.node in ruled and not of.node.bodies):
            given = (of.node, gradient.array, tensor.row & ROW_MASK, rows)
            row, edited = self._at(of.node)(_gradient, self._writer, given, leaf)
            if edited is not None:
                values[cotangent] = changed = Tensor(edited)
                changed.row = gradient.row
            if not leaf:
                self._rules[of.node] = self._newest = row
        return True

    def _row_of(self, node: Node, values: dict[Value, Any]) -> int:
        """The row of what a node gave."""
        found = next((values[each] for each in node.outputs if isinstance(values.get(each), Tensor)), None)
        return self._writer.base if found is None else max(found.row & ROW_MASK, self._writer.base)


def _leaf(writer: Writer, made: Tensor, function: str, depth: int) -> None:
    attrs: dict[str, Any] = {"function": _LEAVES[function]} if _LEAVES[function] else {}
    tracing.leaf(writer, made, _frame(depth + 1), **attrs)


def tell(writer: Writer, values: dict[Value, Any], at: Callable[[Node], AtPlace], began: int) -> None:
    """The leaves of what was fed to a run that began with this row."""
    for value, made in values.items():
        if isinstance(made, Tensor) and made.row < (writer.base if _is_made(made) else began):
            made.name = made.name or value.node.name
            at(value.node)(_leaf, writer, made, value.node.op if value.node.op in _LEAVES else "input")


def _is_made(tensor: Tensor) -> bool:
    """Whether an op made a tensor: the log knows it by that."""
    return tensor.node is not None or (tensor.row >= 0 and tensor.first_row < 0)


def _op(writer: Writer, given: tuple[Node, Tensor, list[Tensor]], context: Context, depth: int) -> None:
    node, made, inputs = given
    frame = _frame(depth + 1)
    backward = node.rule is not None
    described = {"name": node.name, **{key: value for key, value in node.attributes.items() if _is_plain(value)}}
    flags = Flag.CREATE_GRAPH if backward else Flag(0)
    identity = made.first_row if made.first_row >= writer.base else None
    if identity is not None:
        flags |= Flag.IN_PLACE
    template = writer.template(
        Kind.OP,
        op=_op_number(writer, node.op),
        site=site_number(writer, frame),
        scope=tracing.scope_number(writer),
        shape=made.array.shape,
        dtype=made.array.dtype,
        attrs=writer.attributes(described),
        input_count=len(inputs),
        flags=flags,
        version=made.version,
        graph_pass=Pass.BACKWARD if backward else Pass.FORWARD,
    )
    edges = [tracing.edge(tensor) for tensor in inputs]
    keep = [(made.array, template.keep)]
    made.row = writer.append_wide(template, keep, edges, writer.clock(), 0, context.backward_row, identity)
    _paused(writer, made, frame)


def _gradient(
    writer: Writer, given: tuple[Node, np.ndarray, int, list[int]], leaf: bool, depth: int
) -> tuple[int, np.ndarray | None]:
    node, array, forward, rows = given
    frame = _frame(depth + 1)
    template = writer.template(
        Kind.ACCUMULATE if leaf else Kind.GRAD,
        op=0 if leaf else _op_number(writer, node.op),
        site=site_number(writer, frame),
        scope=0 if leaf else tracing.scope_number(writer),
        shape=array.shape,
        dtype=array.dtype,
        input_count=len(rows),
        flags=Flag.FRESH if leaf else Flag(0),
        graph_pass=Pass.BACKWARD,
    )
    edges = [(row & ROW_MASK, row >> SLOT_SHIFT) for row in rows]
    row = writer.append_wide(template, [(array, template.keep)], edges, writer.clock(), 0, forward)
    answer = tracing.pause(writer, row, array, frame)
    return row, answer.value if isinstance(answer, Replace) else None


def _edge(writer: Writer, kind: Kind, row: int, depth: int) -> None:
    site = site_number(writer, _frame(depth + 1))
    template = writer.template(kind, site=site, graph_pass=Pass.BACKWARD, input_count=1)
    writer.append(template, None, writer.clock(), 0, 0, row)


def _paused(writer: Writer, made: Tensor, frame: FrameType) -> None:
    answer = tracing.pause(writer, made.row, made.array, frame)
    if isinstance(answer, Replace):
        made.array = answer.value


def _op_number(writer: Writer, name: str) -> int:
    if name in OPS:
        return tracing.op_number(writer, OPS[name])
    entry = {"name": name, "formula": "", "doc": KINDS[name].doc, "vjp": [], "inputs": []}
    return writer.intern("ops", name, entry)


def _frame(depth: int) -> FrameType:
    """The frame at a node's place; of a node that has none, that of the program that runs it."""
    frame = sys._getframe(depth)
    return (record.user_frame(depth) or frame) if record.is_internal(frame.f_code.co_filename) else frame


def _is_plain(value: Any) -> bool:
    return isinstance(value, bool | int | float | str | tuple | np.dtype)


def _spelled(path: ScopePath) -> str:
    return "/".join(each.name for each in path.line())
