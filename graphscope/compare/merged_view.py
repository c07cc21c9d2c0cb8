"""Two runs as one graph to draw: what belongs together is one box, what only one has stands beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING, Final, Literal

from graphscope.compare.difference import PARTED
from graphscope.compare.rounding import distance
from graphscope.compare.steps import step_of
from graphscope.graph import Graph
from graphscope.graph.passes import whole
from graphscope.graph.passes.cut import without_empty_frames
from graphscope.graph.view import GraphView, ViewEdge, ViewNode

if TYPE_CHECKING:
    from graphscope.compare.difference import Difference, Parting, Side
    from graphscope.compare.steps import Step
    from graphscope.graph import Node

OnePass = Literal["forward", "backward"]

_MOST: Final = 40
"""Where no radius is asked for, what surrounds the parting is drawn up to about so many boxes of each run."""


def merged_view(found: Difference, graph_pass: OnePass | None = None, radius: int | None = None) -> GraphView:
    """The surroundings of where two runs part first, or the beginning of runs that do not.

    Args:
        found: The two runs.
        graph_pass: One pass alone; by default the forward pass, and the backward pass where they part in that.
        radius: So many edges away from the parting; by default as far as it makes a picture that can be read.
    """
    first = found.first
    chosen = graph_pass or ("forward" if first is None or first.when == "forward" else None)
    runs = _runs(found)
    rows = {*runs.to_b, *found.alone_a.tolist()}, {*runs.to_a, *found.alone_b.tolist()}
    a = _around(runs.a, None if first is None else first.a, rows[0], chosen, radius)
    b = _around(runs.b, None if first is None else first.b, rows[1], chosen, radius)
    rows_a = a | {runs.to_a[row][0] for row in b if row in runs.to_a}
    rows_b = b | {runs.to_b[row][0] for row in a if row in runs.to_b}
    drawn_a = whole(runs.a, chosen, sorted(rows_a))
    drawn_b = whole(runs.b, chosen, sorted(rows_b))
    return _merged(drawn_a, drawn_b, runs, first)


@dataclass(frozen=True, slots=True)
class _Runs:
    a: Graph
    b: Graph
    to_b: dict[int, tuple[int, int]]
    """For rows of `a`, the row of `b` that belongs to it, and whether they are the same."""
    to_a: dict[int, tuple[int, int]]


def _runs(found: Difference) -> _Runs:
    runs = _Runs(Graph(found.a), Graph(found.b), {}, {})
    for a, b, state in found.pairs.tolist():
        runs.to_b[a], runs.to_a[b] = (b, state), (a, state)
    first = found.first
    if first is not None and first.a is not None and first.b is not None:
        runs.to_b.setdefault(first.a.row, (first.b.row, PARTED))
        runs.to_a.setdefault(first.b.row, (first.a.row, PARTED))
    return runs


def _around(
    graph: Graph, centre: Side | None, rows: set[int], graph_pass: OnePass | None, radius: int | None
) -> set[int]:
    """Those of some rows that lie around a parting, in its step; of a run that has nothing there, the first ones.

    Ways end at leaves: a parameter joins what has nothing else in common.
    """
    if centre is None:
        nodes = (row for row in sorted(rows) if graph_pass in (None, graph.node(row).graph_pass))
        return set(islice(nodes, _MOST))
    step = step_of(graph.log, centre.row)
    seen, border = {centre.row}, [graph.node(centre.row)]
    while border and (len(seen) < _MOST if radius is None else radius > 0):
        ways = (node for node in border if node.kind != "leaf" or node.row == centre.row)
        near = (other for node in ways for other in _beside(node, step, graph_pass))
        beside = {other.row: other for other in near if other.row in rows}
        border = [other for row, other in beside.items() if row not in seen]
        seen.update(beside)
        radius = None if radius is None else radius - 1
    return seen


def _beside(node: Node, step: Step, graph_pass: OnePass | None) -> Iterator[Node]:
    """What a node is joined to in a step."""
    for other in node.graph.neighbours(node, 1):
        if (other.row in step or other.kind == "leaf") and graph_pass in (None, other.graph_pass):
            yield other


def _merged(a: GraphView, b: GraphView, runs: _Runs, first: Parting | None) -> GraphView:
    sides = (None, None) if first is None else (first.a, first.b)
    centres = [None if side is None else side.row for side in sides]
    of_row = {row: node for node in a.nodes for row in node.rows}
    names: dict[str, str] = {}
    labels: dict[str, ViewNode] = {}
    frames: dict[str | None, str | None] = {}
    for node in b.nodes:
        row = runs.to_a.get(node.rows[0], (None,))[0]
        here = None if row is None else of_row.get(row)
        names[node.id] = f"b{node.id}" if here is None else here.id
        if here is not None:
            labels[here.id] = node
            frames.setdefault(node.cluster, here.cluster)
    shared = set(names.values()) & {node.id for node in a.nodes}
    boxes = [_of_a(node, labels.get(node.id), runs, centres[0]) for node in a.nodes]
    boxes += [
        replace(
            node,
            id=names[node.id],
            rows=(),
            compared="b",
            current=node.rows[0] == centres[1],
            cluster=frames.get(node.cluster),
            forward=None if node.forward is None else names.get(node.forward),
        )
        for node in b.nodes
        if names[node.id] not in shared
    ]
    return without_empty_frames(GraphView(tuple(boxes), tuple(_edges(a, b, names)), a.clusters, runs.a))


def _of_a(node: ViewNode, there: ViewNode | None, runs: _Runs, centre: int | None) -> ViewNode:
    """A box of `a`, as one of both runs."""
    row, state = runs.to_b.get(node.rows[0], (None, 0))
    if row is None:
        return replace(node, compared="a", current=node.rows[0] == centre)
    label = node.label if there is None or there.label == node.label else f"{node.label} | {there.label}"
    name = "" if node.name == node.label else node.name
    if state != PARTED:
        return replace(node, label=label, name=name, compared="same")
    values = runs.a.node(node.rows[0]).value, runs.b.node(row).value
    far = None if values[0] is None or values[1] is None else distance(values[0], values[1], node.dtype)
    places = dict.fromkeys(
        f"{PurePath(each.site.file).name}:{each.site.line}" for each in (node, there) if each and each.site
    )
    said = (" | ".join(places), "" if far is None else f"{far.relative:.2g} apart")
    return replace(
        node,
        label=label,
        name=name,
        compared="parted",
        apart=", ".join(filter(None, said)),
        current=node.rows[0] == centre,
    )


def _edges(a: GraphView, b: GraphView, names: Mapping[str, str]) -> Iterator[ViewEdge]:
    """The arrows of both, those that join the same once."""
    there = [replace(each, source=names[each.source], target=names[each.target]) for each in b.edges]
    in_a, in_b = ({(each.source, each.target, each.kind) for each in edges} for edges in (a.edges, there))
    for each in a.edges:
        yield replace(each, compared="same" if (each.source, each.target, each.kind) in in_b else "a")
    for each in there:
        if (each.source, each.target, each.kind) not in in_a:
            yield replace(each, compared="b")
