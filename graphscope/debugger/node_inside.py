"""What a node computes inside, as a table: the graph that a compiler generated for it, or the parts of a fused op."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphscope.compare.expansions import ahead_of_dropout, expand
from graphscope.debugger import value_results
from graphscope.debugger.commands.graph import shape_text
from graphscope.debugger.results import Cell, TableResult
from graphscope.errors import CommandError
from graphscope.eventlog.generated import GeneratedGraph
from graphscope.eventlog.names import place_of, short_place
from graphscope.eventlog.reader import Log
from graphscope.graph import Node

_NOT_TOLD = "this version of PyTorch does not tell it, or took it from its cache of compiled code"
_NO_PARTS = (
    "parts are those of fused ops (attention, recurrent layers, norms, losses) whose inputs were kept; with dropout "
    "those of attention are known up to its weights, and none of others"
)


def inside_table(node: Node, heading: str) -> TableResult:
    """What a node computes inside.

    Raises:
        CommandError: It is not known, or there is nothing.
    """
    log = node.graph.log
    generated = log.generated(_owner(node).event.op)
    if generated is None:
        return _parts_table(node, heading)
    graph = generated.backward if node.kind == "grad" else generated.forward
    if graph is None:
        raise CommandError(f"What was generated for {heading} is not in the log", _NOT_TOLD)
    return _graph_table(log, graph, f"{heading}: generated in compilation {generated.compilation}")


def parts_of(node: Node, heading: str) -> dict[str, tuple[np.ndarray, Mapping[str, Any]]]:
    """The parts of a fused op by name, recomputed from its recorded inputs, each with the constants that come in there.

    What a recurrent op computes at each turn are arrays of one shape: they are stacked, in the order of the turns.

    Raises:
        CommandError: They are not known.
    """
    found = expand(_owner(node)) or ahead_of_dropout(_owner(node))
    if found is None:
        raise CommandError(f"{heading} has no parts that are known here, or they can't be recomputed", _NO_PARTS)
    turns: dict[str, list[np.ndarray]] = {}
    constants: dict[str, Mapping[str, Any]] = {}
    for each in found:
        known = turns.get(each.label)
        label = each.label if known is None or known[0].shape == each.value.shape else f"{each.label}, deeper"
        turns.setdefault(label, []).append(each.value)
        constants.setdefault(label, each.constants)
    values = {label: each[0] if len(each) == 1 else np.stack(each) for label, each in turns.items()}
    return {label: (value, constants[label]) for label, value in values.items()}


def _owner(node: Node) -> Node:
    return node if node.forward is None else node.forward


def _graph_table(log: Log, graph: GeneratedGraph, heading: str) -> TableResult:
    rows: list[tuple[Cell, ...]] = []
    for place, node in enumerate(graph.nodes):
        sizes = "" if node.shape is None else shape_text(node.shape)
        line = short_place(*place_of(log.site(node.site)))
        mark = "out" if place in graph.outputs else "" if node.op else "in"
        rows.append((mark, node.name, graph.text(node), sizes, node.dtype, line if node.op else ""))
    return TableResult(("", "name", "call", "shape", "dtype", "line"), tuple(rows), title=heading)


def _parts_table(node: Node, heading: str) -> TableResult:
    rows = tuple(
        (label, shape_text(value.shape), str(value.dtype), _told(constants),
         value_results.brief(value))
        for label, (value, constants) in parts_of(node, heading).items()
    )  # fmt: skip
    title = f"{heading}: recomputed from its recorded inputs"
    return TableResult(("part", "shape", "dtype", "with", "value"), rows, title=title)


def _told(constants: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in constants.items())
