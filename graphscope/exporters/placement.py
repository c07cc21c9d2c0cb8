"""Where things lie in a picture: which backward node goes beside which forward node."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from graphscope.exporters.heights import consistent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from graphscope.graph.view import GraphView, ViewEdge, ViewNode

__all__ = ["Place", "beside", "both_passes", "closes_cycle", "ranked"]


class Place(NamedTuple):
    """Where a backward node goes."""

    forward: str
    """Beside this node."""
    same_rank: bool
    """At its height: not across the border of a frame, which that would tear apart, nor against an arrow."""


def both_passes(view: GraphView) -> bool:
    """Whether forward and backward are in one picture."""
    passes = {node.graph_pass for node in view.nodes}
    return "both" in passes or {"forward", "backward"} <= passes


def closes_cycle(view: GraphView, placed: Mapping[str, Place]) -> Callable[[ViewEdge], bool]:
    """A test for arrows that layout must not rank by: those from one iteration of a folded loop to the next.

    A gradient goes by the arrow of the forward pass that it runs beside: the two passes of a loop may have been cut
    into iterations at different places.
    """
    carried = {(edge.source, edge.target): edge.carried for edge in view.edges if edge.kind == "data"}

    def closes(edge: ViewEdge) -> bool:
        source, target = placed.get(edge.source), placed.get(edge.target)
        if edge.kind != "gradient" or source is None or target is None:
            return edge.carried
        return carried.get((target.forward, source.forward), edge.carried)

    return closes


def beside(view: GraphView) -> dict[str, Place]:
    """The forward node next to which each backward node is drawn.

    A contribution to a leaf goes beside that copy of the leaf whose use it comes from. Left out are the ops that a
    person saw inside a rule, contributions on the way to a cotangent, and what a gradient flows to from the very node
    that it would lie beside: they lie between what is placed.
    """
    nodes = view.by_id()
    placed = {
        node.id: node.forward
        for node in view.nodes
        if node.kind in ("grad", "scope", "gradient") and node.forward is not None and node.forward in nodes
    }
    taken = {(edge.target, nodes[edge.source].rows): edge.source for edge in view.edges if edge.kind == "data"}
    gradients = [edge for edge in view.edges if edge.kind == "gradient"]
    summed = {edge.source for edge in gradients}
    for edge in gradients:
        target = nodes[edge.target]
        owner = nodes.get(target.forward or "")
        if target.kind == "accumulate" and target.id not in summed and owner is not None:
            leaf = taken.get((undone(edge.source, nodes), owner.rows))
            if leaf is not None and nodes[leaf].kind == "leaf":
                placed[target.id] = leaf
    joined = {(edge.source, edge.target) for edge in gradients}
    places = {
        id: Place(forward, same_rank=nodes[id].cluster == nodes[forward].cluster)
        for id, forward in placed.items()
        if (forward, id) not in joined
    }
    wanted = [(id, place.forward) for id, place in places.items() if place.same_rank]
    level = {id for id, _ in consistent(ranked(view, places), wanted)}
    return {id: place._replace(same_rank=id in level) for id, place in places.items()}


def undone(id: str, nodes: Mapping[str, ViewNode]) -> str:
    """The forward node that a node of a rule belongs to, which may be a part of another one's."""
    seen: set[str] = set()
    while id not in seen and (forward := nodes[id].forward) in nodes and nodes[id].graph_pass == "backward":
        seen.add(id)
        id = forward or id
    return id


def ranked(view: GraphView, placed: Mapping[str, Place]) -> Iterator[tuple[str, str]]:
    """For each arrow that layout ranks by, the node that is to be above and the one below it."""
    both = both_passes(view)
    closing = closes_cycle(view, placed)
    for edge in view.edges:
        if edge.kind != "link" and not closing(edge):
            yield (edge.target, edge.source) if both and edge.kind == "gradient" else (edge.source, edge.target)
