"""The step of an optimizer as one box: what it did to each parameter is the same."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from graphscope.graph.outline.facts import parameters_of
from graphscope.graph.outline.optimizing import optimized
from graphscope.graph.outline.steps import steps
from graphscope.graph.passes.cut import without_empty_frames
from graphscope.graph.passes.merge import facts
from graphscope.graph.training import training
from graphscope.graph.view import GraphView, ViewNode

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


def fold_updates(view: GraphView) -> GraphView:
    """Draw each step of an optimizer as one box that says how many parameters it changes.

    That it takes all gradients and changes all weights needs no arrows, which would lead through the whole picture.
    """
    if view.graph is None:
        return view
    log = view.graph.log
    become = _updates(view, log)
    members: dict[str, list[ViewNode]] = {}
    for node in view.nodes:
        if node.id in become:
            members.setdefault(become[node.id], []).append(node)
    made = {id: _box(id, nodes, log) for id, nodes in members.items()}
    given = {edge.source for edge in view.edges if edge.target in become}
    edges = tuple(edge for edge in view.edges if edge.target not in become and edge.source not in become)
    used = {edge.source for edge in edges}
    idle = {node.id for node in view.nodes if node.kind == "leaf" and node.id in given - used}
    nodes = [node for node in view.nodes if node.id not in become and node.id not in idle]
    return without_empty_frames(replace(view, nodes=(*nodes, *made.values()), edges=edges))


def _updates(view: GraphView, log: Log) -> dict[str, str]:
    """The box of each node that is of an optimizer's step."""
    rows = [node.rows[-1] for node in view.nodes if node.rows]
    if not rows:
        return {}
    first = min(rows)
    ends, _ = optimized(log, steps(log), first, max(rows) + 1)
    ops = [node for node in view.nodes if node.rows and node.kind != "leaf"]
    ends_of = {node.id: int(ends[node.rows[-1] - first]) for node in ops}
    return {id: f"u{end - 1}" for id, end in ends_of.items() if end}


def _box(id: str, nodes: list[ViewNode], log: Log) -> ViewNode:
    rows = tuple(sorted(row for node in nodes for row in node.rows))
    count, _ = parameters_of(log, rows[0], rows[-1])
    return ViewNode(
        id,
        rows,
        "scope",
        _type(log, rows[-1]) or "optimizer",
        op=f"{count} parameter{'s' if count != 1 else ''}",
        site=nodes[0].site,
        **{**facts(nodes), "parameter": False, "in_place": False, "requires_grad": False},
    )


def _type(log: Log, row: int) -> str:
    """The class of the optimizer whose step a row is of."""
    known = training(log)
    marks = known.rows("step")
    following = marks[marks >= row][:1]
    if len(following) == 0:
        return ""
    found = known.optimizers.get(known.call(int(following[0])).owner)
    return "" if found is None else found.type
