"""Tells a log what each pass makes of a graph, where it was asked for: `graphscope record --passes`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from graphscope.errors import StaticError
from graphscope.eventlog import arguments, compilations, record
from graphscope.eventlog.names import Site
from graphscope.eventlog.places import Line, line_number
from graphscope.eventlog.typed import Input
from graphscope.eventlog.writer import Writer
from graphscope.static.graphs.control_nodes import given_to_bodies
from graphscope.static.graphs.graph import Graph, Node, Value
from graphscope.static.graphs.rewriting import copy
from graphscope.static.passes import ORDERS, PASSES, optimise

_GIVEN: Final = ("input", "variable")
_PLAIN: Final = (bool, int, float, complex, str, slice, np.ndarray, np.generic, np.dtype)


def tell(graph: Graph, backend: str = "numpy") -> None:
    """Let the log that is recorded, if it is to know of passes, have what each makes of a graph: once."""
    writer = record.writer
    if writer is not None and writer.passes:
        _tell_once(writer, (graph, len(graph.nodes)), lambda: graph, backend)


def tell_run(name: str, nodes: Sequence[Node], fed: Sequence[Value], wanted: Sequence[Value]) -> None:
    """The same of the nodes that a session runs.

    Args:
        name: What the run is called.
        nodes: Those that run, in order.
        fed: The values that it is given.
        wanted: The values that it is to give.
    """
    writer = record.writer
    if writer is not None and writer.passes:
        _tell_once(writer, (*fed, None, *wanted), lambda: _part(name, nodes, fed, wanted), "numpy")


def _tell_once(writer: Writer, key: Any, graph: Callable[[], Graph], backend: str) -> None:
    if ("passes", key) not in writer.variants:
        writer.variants["passes", key] = None
        made = graph()
        told = compilations.entry(made.name, "graphscope", _stages(writer, made, backend))
        writer.intern("compilations", len(writer.tables["compilations"].keys()), told)


def _part(name: str, nodes: Sequence[Node], fed: Sequence[Value], wanted: Sequence[Value]) -> Graph:
    """Nodes of a graph as one of their own, in which what is fed is given."""
    part = Graph(name)
    values = {each: part.input(each.node.name, each.shape, each.dtype, each.node.site) for each in fed}
    made: dict[Node, Node] = {}
    for node in nodes:
        if all(output in values for output in node.outputs) and node.outputs:
            continue
        inputs = [values[each] if isinstance(each, Value) else each for each in node.inputs]
        made[node] = copy(part, node, inputs, made)
        values |= zip(node.outputs, made[node].outputs, strict=True)
    part.outputs = [values[each] for each in wanted if each in values]
    return part


def _stages(writer: Writer, graph: Graph, backend: str) -> list[tuple[str, str, dict[str, Any]]]:
    stages = [("before", "The graph as it was traced, scripted or built.", _entry(writer, graph))]
    try:
        for name, after in optimise(graph, ORDERS[backend]):
            stages.append((name, PASSES[name].doc, _entry(writer, after)))
    except Exception as error:  # noqa: BLE001 - the program goes on, whatever a pass can't do with its graph
        told = error.message if isinstance(error, StaticError) else f"{type(error).__name__}: {error}"
        stages.append(("stopped", f"No pass was run: {told}.", stages[-1][2]))
    return stages


def _entry(writer: Writer, graph: Graph) -> dict[str, Any]:
    """A graph as data, the nodes of bodies ahead of the node that runs them."""
    told = _Told(writer)
    told.add(graph.nodes, "")
    return {"nodes": told.nodes, "outputs": [told.places[value] for value in graph.outputs if value in told.places]}


class _Told:
    """Nodes as data, and the places among them at which values are."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.nodes: list[dict[str, Any]] = []
        self.places: dict[Value, int] = {}

    def add(self, nodes: Sequence[Node], block: str) -> None:
        """Tell nodes in a body; "" is the graph itself."""
        for node in nodes:
            given = [self.places[value] for value in node.values if value in self.places]
            if node.op == "input" and node.outputs[0] in self.places:  # of a body: what it is given
                given = [self.places[node.outputs[0]]]
            for body in node.bodies:
                inputs = zip(body.inputs, given_to_bodies(node), strict=False)
                self.places |= {inner: self.places[outer] for inner, outer in inputs if outer in self.places}
                self.add(body.nodes, body.name)
                given += [self.places[value] for value in body.outputs if value in self.places]
            self._node(node, given, block)

    def _node(self, node: Node, given: list[int], block: str) -> None:
        value = node.outputs[0] if node.outputs else None
        after = [self.places[each.outputs[0]] for each in node.after if each.outputs and each.outputs[0] in self.places]
        told: dict[str, Any] = {"name": node.name, "of": [*given, *after], "block": block}
        if node.op not in _GIVEN:
            told["op"] = node.op
        if value is not None and value.shape is not None and value.dtype is not None:
            told |= {"shape": ["?" if size is None else size for size in value.shape], "dtype": value.dtype.name}
        if not node.bodies and len(given) == sum(1 for _ in node.values):
            told |= arguments.entry(_operands(node), _settings(node))
        if node.origins != (node.name,):
            told["origins"] = [*node.origins]
        if node.site is not None:
            told["site"] = line_number(self.writer, _line(node.site))
        self.nodes.append(told)
        self.places |= dict.fromkeys(node.outputs, len(self.nodes) - 1)


def _operands(node: Node) -> list[Any]:
    numbers = iter(range(len(node.inputs)))
    return [Input(next(numbers)) if isinstance(each, Value) else each for each in node.inputs]


def _settings(node: Node) -> dict[str, Any]:
    """The attributes that say what it computes: not the tensors that it holds on to, nor what is its own business."""
    told = {} if node.op in _GIVEN else node.attributes
    return {key: each for key, each in told.items() if key[0] != "_" and _is_plain(each)}


def _is_plain(value: Any) -> bool:
    return all(map(_is_plain, value)) if isinstance(value, tuple | list) else isinstance(value, _PLAIN)


def _line(site: Site) -> Line:
    columns = (site.column, site.end_column) if site.end_line in (0, site.line) else (0, 0)
    return Line(site.file, site.line, site.function, *columns)
