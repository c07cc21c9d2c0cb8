"""Graphviz source of a view. Forward runs down the page; the backward pass runs up beside it, node next to node."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from graphscope.exporters import box_styles
from graphscope.exporters.dot_syntax import block, defaults, edge, html, html_label, indented, node, quoted, shortened
from graphscope.exporters.halves import PORTS, halves, has_halves
from graphscope.exporters.heading import above
from graphscope.exporters.labels import cluster_label, edge_label, iterations, node_label, tooltip
from graphscope.exporters.placement import beside, both_passes, closes_cycle
from graphscope.exporters.registry import exporter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from graphscope.exporters.placement import Place
    from graphscope.graph.view import Cluster, GraphView, ViewEdge

__all__ = ["Direction", "dot", "source"]

Direction: TypeAlias = Literal["TB", "LR", "BT", "RL"]
"""Where forward runs: from top to bottom, from left to right, or the other way."""


@exporter("dot", suffix=".dot")
def dot(view: GraphView, *, rankdir: Direction = "TB", overlay: bool = False) -> str:
    """Graphviz source: one box per node, one arrow per edge, one frame per module scope.

    Args:
        rankdir: Where forward runs: TB (down the page), LR, BT or RL.
        overlay: Write on each node what its values and gradients are like.
    """
    return source(view, rankdir, overlay=overlay)


def source(view: GraphView, rankdir: Direction, *, overlay: bool, is_level: bool = True) -> str:
    """Graphviz source.

    Args:
        view: What is drawn.
        rankdir: Where forward runs.
        overlay: Write on each node what its values and gradients are like.
        is_level: Ask for a backward node at the height of its forward node, which looks best.
    """
    large = len(view.edges) > box_styles.LARGE
    graph = {**box_styles.GRAPH, "rankdir": rankdir, **(box_styles.LARGE_GRAPH if large else {})}
    placed = beside(view)
    if not is_level:
        placed = {id: place._replace(same_rank=False) for id, place in placed.items()}
    links = {each.target for each in view.edges if each.kind == "link" and each.highlighted}
    lines = [
        defaults("graph", {**graph, **above(view)}),
        defaults("node", box_styles.TEXT["node"]),
        defaults("edge", box_styles.TEXT["edge"]),
        *boxes(view, placed, rankdir, overlay=overlay),
        *arrows(view, placed, "xlabel" if large else "label"),
        *(link(backward, place, highlighted=backward in links) for backward, place in placed.items()),
    ]
    return "\n".join(indented(block("digraph", lines))) + "\n"


def boxes(view: GraphView, placed: dict[str, Place], rankdir: Direction, *, overlay: bool) -> list[str]:
    """The statements of the nodes, each inside the frame of its cluster, frames inside frames."""
    inside: dict[str | None, list[str]] = {None: [], **{cluster.id: [] for cluster in view.clusters}}
    said = iterations(view.clusters)
    for each in view.nodes:
        # What the frame says already is not said again in each box.
        each = replace(each, count=1) if each.count == said[each.cluster] else each
        lines = node_label(each, view, overlay=overlay, placed=each.id in placed)
        look = box_styles.look(each, len(lines))
        text = {"label": html_label("<BR/>".join(lines)), "tooltip": tooltip(each)}
        inside[each.cluster].append(
            node(each.id, {**text, **(halves(lines, look, rankdir) if has_halves(each) else look)})
        )
        if each.id in placed and placed[each.id].same_rank:
            inside[each.cluster].append(f"{{ rank=same; {quoted(placed[each.id].forward)}; {quoted(each.id)}; }}")
    frames: dict[str | None, list[list[str]]] = {}
    # Parents come first in the list; read backwards, every frame is complete when its parent asks for it.
    for cluster in reversed(view.clusters):
        content = [*frame_look(cluster), *inside[cluster.id], *in_order(frames.get(cluster.id, []))]
        frames.setdefault(cluster.parent, []).append(block(f"subgraph {quoted(f'cluster_{cluster.id}')}", content))
    return [*inside[None], *in_order(frames.get(None, []))]


def frame_look(cluster: Cluster) -> list[str]:
    """The statements that say how a frame looks."""
    text = {
        "label": html_label(f"<B>{html(cluster_label(cluster))}</B>"),
        "tooltip": shortened(cluster.path or cluster.label),
    }
    return [defaults("graph", {**text, **box_styles.CLUSTER[cluster.kind]})]


def in_order(frames: list[list[str]]) -> Iterable[str]:
    """Lines of frames that were collected last one first."""
    return (line for frame in reversed(frames) for line in frame)


def link(backward: str, place: Place, *, highlighted: bool) -> str:
    """The line from a forward node to the backward node beside it."""
    free = {} if place.same_rank else {"constraint": "false"}
    return edge(
        place.forward, backward, {**box_styles.EDGES["link"], **(box_styles.HIGHLIGHTED if highlighted else {}), **free}
    )


def arrows(view: GraphView, placed: dict[str, Place], label: str) -> Iterable[str]:
    """The statements of the edges; links are drawn from the placement instead."""
    both = both_passes(view)
    closing = closes_cycle(view, placed)
    nodes = view.by_id()
    for each in view.edges:
        if each.kind != "link":
            ends = (has_halves(nodes[each.source]), has_halves(nodes[each.target]))
            yield arrow(each, label, ends, up=both and each.kind == "gradient", free=closing(each))


def arrow(each: ViewEdge, label: str, in_halves: tuple[bool, bool], *, up: bool, free: bool) -> str:
    """The statement of one edge.

    Args:
        each: The edge.
        label: The attribute that bears its label.
        in_halves: Whether its source and its target have halves, to one of which it leads.
        up: It runs against the ranks, which are those of the forward pass. It is written from its target to its source
            and drawn the other way round, so that layout has no cycle to break.
        free: It closes a cycle, and no rank follows from it.
    """
    text = edge_label(each)
    look = {
        **({label: html_label("<BR/>".join(f" {html(line)} " for line in text.splitlines()))} if text else {}),
        **box_styles.EDGES["carried" if each.carried else each.kind],
        **(box_styles.COMPARED_EDGES[each.compared] if each.compared else {}),
        **(box_styles.CHANGED_EDGES.get(each.changed, {}) if each.changed else {}),
        **({"class": f"pass-{each.changed}"} if each.changed else {}),
        **(box_styles.HIGHLIGHTED if each.highlighted else {}),
        **({"constraint": "false"} if free else {"weight": "4"} if all(in_halves) and each.kind == "data" else {}),
    }
    ports = dict(zip(("headport", "tailport") if up else ("tailport", "headport"), in_halves, strict=True))
    look |= {name: PORTS[each.kind] for name, has_port in ports.items() if has_port}
    return edge(each.target, each.source, {**look, "dir": "back"}) if up else edge(each.source, each.target, look)
