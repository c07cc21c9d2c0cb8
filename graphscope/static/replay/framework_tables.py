"""What comes of running recorded calls of a framework again, as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphscope.debugger import value_results
from graphscope.debugger.results import Cell, TableResult
from graphscope.errors import CommandError
from graphscope.eventlog.generated import GeneratedGraph
from graphscope.graph import Graph, Node
from graphscope.static.replay import framework_checks, generated_values, what_if


def is_of_framework(node: Node) -> bool:
    """Whether a framework's program computed a node, and not graphscope's own engine."""
    log = node.graph.log
    every = [node, *(edge.source for edge in node.inputs), *(edge.target for edge in node.users[:1])]
    return any(log.op(each.event.op).framework for each in every)


def checked(node: Node) -> TableResult:
    """The gradient of each input against differences."""
    rows: list[tuple[Cell, ...]] = []
    for found in framework_checks.judge(node):
        source = found.edge.source
        size = "" if found.size is None else f"{found.size:.4g}"
        gap = "" if found.gap is None else f"{found.gap:.1e}"
        verdict = "can't be judged" if found.agrees is None else "agrees" if found.agrees else "DIFFERS"
        text = f"{verdict}: {found.remark}" if found.remark else verdict
        rows.append((f"#{source.row}", source.name or source.label, size, gap, text))
    return TableResult(
        ("input", "name", "norm of gradient", "off by", "gradient and differences"),
        tuple(rows),
        title=f"gradients of #{node.row} {node.label}",
    )


def invoked(node: Node, changes: Mapping[str, Any]) -> TableResult:
    """What a call gives with other inputs: by what its formula calls them, or by their places."""
    operands = [operand for operand in node.operands if operand.edge is not None]
    given: dict[int, np.ndarray] = {}
    for word, value in changes.items():
        place = int(word[1:]) if word[:1] == "_" and word[1:].isdigit() else -1
        chosen = next((each for at, each in enumerate(operands) if each.name == word or at == place), None)
        if chosen is None or chosen.edge is None:
            known = ", ".join(each.name for each in operands)
            raise CommandError(f"#{node.row} {node.label} has no input {word!r}", f"it has {known or 'none'}")
        given[chosen.edge.number] = np.asarray(value)
    generated = node.graph.log.generated(node.event.op)
    if generated is not None:
        return _opened(node, generated.forward, given)
    rows = [
        (f"{slot}", *compared(node.output(slot) if slot < len(node.outputs) else None, value))
        for slot, value in enumerate(what_if.invoked(node, given))
    ]
    return TableResult(
        ("output", "recorded", "now", "largest difference"), tuple(rows), title=f"#{node.row} {node.label}"
    )


def _opened(node: Node, graph: GeneratedGraph, given: Mapping[int, np.ndarray]) -> TableResult:
    """What the calls of a compiled region give."""
    found = generated_values.values(node, graph, given)
    slots = len(node.outputs) if len(node.outputs) == len(graph.outputs) else 0
    old = {place: node.output(slot) for slot, place in enumerate(graph.outputs[:slots])}
    rows = [
        (each.name, graph.text(each), *_now(old, place, value))
        for place, (each, value) in enumerate(zip(graph.nodes, found, strict=True))
        if each.op
    ]
    missing = any(value is None for each, value in zip(graph.nodes, found, strict=True) if each.op)
    return TableResult(
        ("name", "call", "recorded", "now", "largest difference"),
        tuple(rows),
        title=f"#{node.row} {node.label}: its generated graph, run again call by call",
        note="What has no value can't be computed by itself" if missing else "",
    )


def _now(old: Mapping[int, Any], place: int, value: np.ndarray | None) -> tuple[Cell, ...]:
    if value is None:
        return "", "", ""
    return compared(old[place], value) if place in old else ("", value_results.brief(value), "")


def replayed(graph: Graph, target: Node, given: Mapping[int, np.ndarray], backward: bool) -> TableResult:
    """What follows from other values up to a node, or from other cotangents back from it."""
    rows: list[tuple[Cell, ...]] = []
    if backward:
        begin = given.get(target.row)
        inner = {row: value for row, value in given.items() if row != target.row}
        for row, gradient in sorted(what_if.backward(graph, target, inner, begin).items()):
            rows.append(_row(graph.node(row), what_if.gradient_recorded(graph.node(row), target.row), gradient))
    else:
        rerun = what_if.forward(graph, target, given)
        rows += [_row(graph.node(row), graph.node(row).computed, value) for row, value in sorted(given.items())]
        if target.row not in given:
            rows.append(_row(target, target.value, rerun.array((target.row, 0))))
    return TableResult(
        ("node", "name", "recorded", "now", "largest difference"),
        tuple(rows),
        title=f"{'gradients' if backward else 'values'} up to #{target.row}",
    )


def compared(old: Any, new: Any) -> tuple[Cell, ...]:
    """A recorded value, that of now, and by how much they differ."""
    gap = ""
    if old is not None and np.shape(old) == np.shape(new):
        with np.errstate(all="ignore"):
            kind = complex if np.iscomplexobj(old) or np.iscomplexobj(new) else float
            differences = np.abs(np.asarray(new, dtype=kind) - np.asarray(old, dtype=kind))
        gap = f"{differences.max():.4g}" if differences.size else "0"
    return value_results.brief(old), value_results.brief(np.asarray(new)), gap


def _row(node: Node, old: Any, new: Any) -> tuple[Cell, ...]:
    return (f"#{node.row}", node.name or node.label, *compared(old, new))
