"""Graphviz source of a view. Forward runs down the page; the backward pass runs up beside it, node next to node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from graphscope.exporters import style
from graphscope.exporters.dotsyntax import block, defaults, edge, html, html_label, node, quoted
from graphscope.exporters.labels import edge_label, node_label, tooltip
from graphscope.exporters.placement import beside, both_passes, upward
from graphscope.exporters.registry import exporter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from graphscope.graph.view import Cluster, GraphView, ViewEdge

__all__ = ["Direction", "dot"]

Direction: TypeAlias = Literal["TB", "LR", "BT", "RL"]
"""Where forward runs: from top to bottom, from left to right, or the other way."""


@exporter("dot", suffix=".dot")
def dot(view: GraphView, *, rankdir: Direction = "TB", overlay: bool = False) -> str:
    """Graphviz source: one box per node, one arrow per edge, one frame per module scope.

    Args:
        rankdir: Where forward runs: TB (down the page), LR, BT or RL.
        overlay: Write on each node what its values and gradients are like.
    """
    large = len(view.edges) > style.LARGE
    graph = {**style.GRAPH, "rankdir": rankdir, **(style.LARGE_GRAPH if large else {})}
    placed = beside(view)
    lines = [
        defaults("graph", graph),
        defaults("node", style.TEXT["node"]),
        defaults("edge", style.TEXT["edge"]),
        *boxes(view, placed, overlay=overlay),
        *arrows(view, "taillabel" if large else "label"),
        *(edge(forward, backward, style.EDGES["link"]) for backward, forward in placed.items()),
    ]
    return "\n".join(block("digraph", lines)) + "\n"


def boxes(view: GraphView, placed: dict[str, str], *, overlay: bool) -> list[str]:
    """The statements of the nodes, each inside the frame of its cluster, frames inside frames."""
    inside: dict[str | None, list[str]] = {None: [], **{cluster.id: [] for cluster in view.clusters}}
    frame_of = {each.id: each.cluster for each in view.nodes}
    for each in view.nodes:
        label = node_label(each, view, overlay=overlay)
        inside[each.cluster].append(node(each.id, {"label": label, "tooltip": tooltip(each), **style.look(each)}))
    for backward, forward in placed.items():
        # A rank that crosses the border of a frame would tear the frame apart.
        if frame_of[backward] == frame_of[forward]:
            inside[frame_of[forward]].append(f"{{ rank=same; {quoted(forward)}; {quoted(backward)}; }}")
    frames: dict[str | None, list[list[str]]] = {}
    # Parents come first in the list; read backwards, every frame is complete when its parent asks for it.
    for cluster in reversed(view.clusters):
        content = [*frame_look(cluster), *inside[cluster.id], *in_order(frames.get(cluster.id, []))]
        frames.setdefault(cluster.parent, []).append(block(f"subgraph {quoted(f'cluster_{cluster.id}')}", content))
    return [*inside[None], *in_order(frames.get(None, []))]


def frame_look(cluster: Cluster) -> list[str]:
    """The statements that say how a frame looks."""
    text = {"label": html_label(f"<B>{html(cluster.label)}</B>"), "tooltip": cluster.path or cluster.label}
    return [defaults("graph", {**text, **style.CLUSTER[cluster.kind]})]


def in_order(frames: list[list[str]]) -> Iterable[str]:
    """Lines of frames that were collected last one first."""
    return (line for frame in reversed(frames) for line in frame)


def arrows(view: GraphView, label: str) -> Iterable[str]:
    """The statements of the edges; links are drawn from the placement instead."""
    both = both_passes(view)
    for each in view.edges:
        if each.kind != "link":
            yield arrow(each, label, up=upward(each, both=both))


def arrow(each: ViewEdge, label: str, *, up: bool) -> str:
    """The statement of one edge.

    One that runs up is written from its target to its source and drawn the other way round: the ranks of the picture
    are those of the forward pass, and layout has no cycle to break.
    """
    text = edge_label(each)
    look = {
        **({label: html_label(f" {html(text)} ")} if text else {}),
        **style.EDGES["carried" if each.carried else each.kind],
    }
    return edge(each.target, each.source, {**look, "dir": "back"}) if up else edge(each.source, each.target, look)
