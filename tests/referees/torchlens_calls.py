"""The calls of a model's forward pass and what each is given, as torchlens tells them and as our log does."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

import graphscope as gs
from graphscope.graph import Graph, Node

SOURCE = "source"
"""What makes a tensor of none: a row of no op, in our log."""


class Call(NamedTuple):
    """A call of a function of torch."""

    name: str
    """Without what tells a method from a function, or a write from a result: `add` of `__iadd__`."""
    shapes: tuple[tuple[int, ...], ...]
    """Of the tensors that it returns."""
    sources: tuple[int, ...]
    """The calls, by their places, whose results it is given."""


def traced(model: nn.Module, given: Any, keywords: Mapping[str, Any]) -> list[Call]:
    """What torchlens tells."""
    import torchlens

    log = torchlens.trace(model, given, dict(keywords) or None)
    calls: dict[int, list[Any]] = {}
    for each in sorted(log.layer_list, key=lambda op: op.raw_index):
        if each.is_compute_op:
            calls.setdefault(each.func_call_id, []).append(each)
    places = {label: place for place, results in enumerate(calls.values()) for op in results for label in _labels(op)}
    return [
        Call(
            SOURCE if results[0].is_internal_source and not results[0].parents else _plain(results[0].func_name),
            tuple(tuple(op.shape or ()) for op in results),
            tuple(sorted({places[source] for op in results for source in op.parents if source in places})),
        )
        for results in calls.values()
    ]


def recorded(model: nn.Module, given: Any, keywords: Mapping[str, Any]) -> list[Call]:
    """What our log tells."""
    with tempfile.TemporaryDirectory() as folder:
        with gs.record(Path(folder) / "run.gscope", values="none"), torch.enable_grad():
            model(*given if isinstance(given, (list, tuple)) else (given,), **keywords)
        graph = Graph(gs.load(Path(folder) / "run.gscope"))
        nodes = [node for node in graph.nodes if node.graph_pass == "forward"]
        places = {node.row: place for place, node in enumerate(nodes)}
        return [
            Call(SOURCE if node.kind == "leaf" else _plain(node.op), _shapes(node), _sources(graph, node, places))
            for node in nodes
        ]


def differences(theirs: Sequence[Call], ours: Sequence[Call]) -> list[str]:
    """What torchlens tells that our log does not tell so: calls, and what they are given.

    What only one of them tells of is passed through: we tell of tensors that are written by way of a view, torchlens
    looks into functions of torch that call others.
    """
    matcher = SequenceMatcher(None, [_known_by(call) for call in theirs], [_known_by(call) for call in ours], False)
    same = {
        block.a + offset: block.b + offset for block in matcher.get_matching_blocks() for offset in range(block.size)
    }
    found = [f"call {place}, {call.name}, is missing" for place, call in enumerate(theirs) if place not in same]
    expected, told = _reached(theirs, set(same)), _reached(ours, set(same.values()))
    for place, other in same.items():
        wanted = {same[source] for source in expected[place]}
        if lost := wanted - told[other]:
            names = ", ".join(ours[source].name for source in sorted(lost))
            found.append(f"call {place}, {theirs[place].name}, has no edge from {names}")
        if invented := told[other] - wanted:
            names = ", ".join(ours[source].name for source in sorted(invented))
            found.append(f"call {place}, {theirs[place].name}, has an edge from {names}")
    return found


def _reached(calls: Sequence[Call], known: set[int]) -> list[set[int]]:
    """The known calls from which each call gets what it is given, by way of others."""
    found: list[set[int]] = []
    for call in calls:
        found.append(set().union(*({source} if source in known else found[source] for source in call.sources)))
    return found


def _known_by(call: Call) -> tuple[str, object]:
    return call.name, call.shapes[:1]


def _labels(op: Any) -> tuple[str, ...]:
    return op.label, op.layer_label


def _plain(name: str) -> str:
    plain = name.strip("_").lower()
    plain = plain[1:] if name.startswith("__") and plain[1:] in _REFLECTED else plain
    return _SAME.get(plain, plain)


_REFLECTED = frozenset({"add", "sub", "mul", "div", "truediv", "pow", "matmul", "and", "or", "xor", "floordiv", "mod"})
_SAME = {
    "truediv": "div",
    "true_divide": "div",
    "divide": "div",
    "multiply": "mul",
    "subtract": "sub",
    "negative": "neg",
}


def _shapes(node: Node) -> tuple[tuple[int, ...], ...]:
    return tuple(shape for shape, _ in node.outputs) or (node.shape,)


def _sources(graph: Graph, node: Node, places: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(sorted({places[edge.source.row] for edge in graph.inputs(node) if edge.source.row in places}))
