"""Folding the iterations of a loop into one, drawn with their count; loops inside loops fold from the inside out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from graphscope.graph.modules.repeats import without_numbers
from graphscope.graph.passes.cut import without_empty_frames
from graphscope.graph.passes.loops import Loop, find_loops
from graphscope.graph.passes.merge import merge_edges, merge_nodes
from graphscope.graph.view import Cluster, GraphView, ViewEdge, ViewNode


def fold_repeats(view: GraphView) -> GraphView:
    """Draw a loop as its body and "x 100".

    Boxes are of one loop when the same places of the program made them, in the same order and wired alike, each
    iteration fed by the one before. What flows from one iteration to the next becomes a `carried` arrow. A backward
    loop is drawn in the frame of the forward loop that it undoes.
    """
    while loops := find_loops(view):
        view = _fold(view, loops)
    return view


def _fold(view: GraphView, loops: list[Loop]) -> GraphView:
    become = {node.id: same[0].id for loop in loops for same in loop.places() for node in same}
    iteration = {
        node.id: (number, place // loop.period)
        for number, loop in enumerate(loops)
        for place, node in enumerate(loop.boxes)
    }
    alike = _rules_alike(view, become, {id: number for id, (_, number) in iteration.items()})
    undoes = {node.id: node.forward or "" for node in view.nodes if node.id in alike}
    iteration |= {id: iteration[undoes[id]] for id in alike.keys() - iteration.keys()}
    become |= alike
    become |= _leaves_alike(view, become)
    become = _named_by_first(view, become)
    groups: dict[str, list[ViewNode]] = {}
    for node in view.nodes:
        groups.setdefault(become.get(node.id, node.id), []).append(node)
    merged = {id: merge_nodes(nodes) if len(nodes) > 1 else nodes[0] for id, nodes in groups.items()}
    clusters, inside = _frames(view, loops, merged, become)
    edges = merge_edges(view.edges, become, carries=lambda edge: _is_carried(edge, iteration))
    inside |= {
        id: inside[become[undoes[each]]]
        for each, id in alike.items()
        if id not in inside and become[undoes[each]] in inside
    }
    inside |= _beside_users(merged, edges, inside)
    nodes = tuple(
        replace(node, forward=become.get(node.forward or "", node.forward), cluster=inside.get(node.id, node.cluster))
        for node in merged.values()
    )
    return without_empty_frames(replace(view, nodes=nodes, edges=edges, clusters=clusters))


def _named_by_first(view: GraphView, become: Mapping[str, str]) -> dict[str, str]:
    """The same boxes in one, which has the id of the first: a rule that came ahead of its loop may have joined it."""
    firsts: dict[str, str] = {}
    for node in view.nodes:
        if node.id in become:
            firsts.setdefault(become[node.id], node.id)
    return {id: firsts[into] for id, into in become.items()}


def _is_carried(edge: ViewEdge, iteration: Mapping[str, tuple[int, int]]) -> bool:
    source, target = iteration.get(edge.source), iteration.get(edge.target)
    if edge.kind == "link" or source is None or target is None:
        return False
    return source[0] == target[0] and source[1] != target[1]


def _rules_alike(view: GraphView, become: Mapping[str, str], iterations: Mapping[str, int]) -> dict[str, str]:
    """Backward nodes that undo the same place of each iteration of a loop, though not all of them kept the beat."""
    groups: dict[object, dict[int, str]] = {}
    doubtful: set[object] = set()
    for node in view.nodes:
        forward = node.forward or ""
        if node.kind in ("grad", "accumulate") and forward in iterations:
            place = (become[forward], node.kind, node.op, node.shape, node.dtype)
            if groups.setdefault(place, {}).setdefault(iterations[forward], node.id) != node.id:
                doubtful.add(place)
    found: dict[str, str] = {}
    for undone, same in groups.items():
        into = {become[id] for id in same.values() if id in become}
        if len(same) > 1 and len(into) < 2 and undone not in doubtful:
            found |= dict.fromkeys(same.values(), next(iter(into), next(iter(same.values()))))
    return found


def _leaves_alike(view: GraphView, become: Mapping[str, str]) -> dict[str, str]:
    """Leaves of one place of the program that each feed the same box of another iteration: one in place of them all."""
    feeds: dict[str, set[tuple[str, str, int]]] = {}
    for edge in view.edges:
        feeds.setdefault(edge.source, set()).add((become.get(edge.target, ""), edge.kind, edge.argument))
    found: dict[object, str] = {}
    alike: dict[str, str] = {}
    for node in view.nodes:
        fed = feeds.get(node.id, set())
        if node.kind != "leaf" or not fed or node.site is None or any(target == "" for target, _, _ in fed):
            continue
        signature = (
            node.site,
            node.op,
            without_numbers(node.name),
            node.shape,
            node.dtype,
            node.requires_grad,
            without_numbers(node.scope),
            frozenset(fed),
        )
        alike[node.id] = found.setdefault(signature, node.id)
    several = {first for id, first in alike.items() if id != first}
    return {id: first for id, first in alike.items() if first in several}


def _beside_users(
    merged: Mapping[str, ViewNode], edges: Iterable[ViewEdge], inside: Mapping[str, str]
) -> dict[str, str]:
    """Folded leaves lie in the frame of the loop that uses them."""
    return {
        edge.source: inside[edge.target]
        for edge in edges
        if edge.kind == "data" and edge.target in inside
        if merged[edge.source].kind == "leaf" and merged[edge.source].count > 1
    }


def _frames(
    view: GraphView, loops: list[Loop], merged: Mapping[str, ViewNode], become: Mapping[str, str]
) -> tuple[tuple[Cluster, ...], dict[str, str]]:
    """The clusters with one more for each loop, and the cluster of each folded box."""
    clusters = {cluster.id: cluster for cluster in view.clusters}
    inside: dict[str, str] = {}

    def undone(body: ViewNode) -> str | None:
        """The cluster of the forward box that a backward one belongs to."""
        forward = become.get(body.forward or "", body.forward or "")
        return inside.get(forward, merged[forward].cluster if forward in merged else None)

    for loop in sorted(loops, key=lambda loop: loop.boxes[0].rows[0]):
        bodies = [merged[become[node.id]] for node in loop.boxes[: loop.period]]
        loops_undone = {_innermost_loop(undone(body), clusters) for body in bodies if body.kind == "grad"}
        frame = loops_undone.pop() if len(loops_undone) == 1 else None
        if frame is not None:
            for body in bodies:
                inside[body.id] = (undone(body) if body.kind == "grad" else None) or frame
            continue
        around = _shared_frame([box.cluster for box in loop.boxes], clusters)
        frame = f"r{loop.boxes[0].rows[0]}_{loop.period}"
        clusters[frame] = Cluster(frame, "repeat", f"x {loop.count}", around, count=loop.count)
        for body, same in zip(bodies, loop.places(), strict=True):
            inside[body.id] = _copied(body.cluster, around, frame, clusters)
            _say_counts(inside[body.id], {node.cluster for node in same}, clusters)
            _say_names([node.cluster for node in same], inside[body.id], clusters)
    return _parents_first(clusters), inside


def _say_counts(cluster: str, alike: Iterable[str | None], clusters: dict[str, Cluster]) -> None:
    """A loop inside a loop may run more often in one iteration than in another."""
    counts = {clusters[id].count for id in alike if id is not None and clusters[id].kind == "repeat"}
    if clusters[cluster].kind == "repeat" and len(counts) > 1:
        label = f"x {min(counts)} to {max(counts)}"
        clusters[cluster] = replace(clusters[cluster], label=label, count=max(counts))


def _say_names(alike: Iterable[str | None], copied: str, clusters: dict[str, Cluster]) -> None:
    """The frames of a layer that stands for equal ones bear the names of all of them."""
    chains = [_chain(cluster, clusters) for cluster in alike]
    for own, *same in zip(reversed(_chain(copied, clusters)), *map(reversed, chains), strict=False):
        names = list(dict.fromkeys(clusters[each].label.partition(": ")[0] for each in same))
        if len(names) > 1 and clusters[own].kind == "scope":
            kind = clusters[own].label.partition(": ")[1:]
            clusters[own] = replace(clusters[own], label="".join((f"{names[0]} … {names[-1]}", *kind)))


def _innermost_loop(cluster: str | None, clusters: Mapping[str, Cluster]) -> str | None:
    """The innermost frame of a loop around a cluster, itself included."""
    return next((id for id in reversed(_chain(cluster, clusters)) if clusters[id].kind == "repeat"), None)


def _chain(cluster: str | None, clusters: Mapping[str, Cluster]) -> list[str]:
    """A cluster and those around it, outermost first."""
    found = []
    while cluster is not None:
        found.append(cluster)
        cluster = clusters[cluster].parent
    return found[::-1]


def _shared_frame(members: list[str | None], clusters: Mapping[str, Cluster]) -> str | None:
    """The innermost cluster that holds all of these."""
    shared = _chain(members[0], clusters)
    for member in members[1:]:
        other = _chain(member, clusters)
        shared = [own_name for own_name, other_name in zip(shared, other, strict=False) if own_name == other_name]
    return shared[-1] if shared else None


def _copied(cluster: str | None, around: str | None, frame: str, clusters: dict[str, Cluster]) -> str:
    """The clusters between `around` and a box, made once more inside the frame of a loop: the box's cluster there."""
    chain = _chain(cluster, clusters)
    between = chain[chain.index(around) + 1 :] if around is not None else chain
    parent = frame
    for each in between:
        copied = f"{frame}_{each}"
        clusters.setdefault(copied, replace(clusters[each], id=copied, parent=parent))
        parent = copied
    return parent


def _parents_first(clusters: Mapping[str, Cluster]) -> tuple[Cluster, ...]:
    ordered = sorted(clusters.values(), key=lambda cluster: len(_chain(cluster.id, clusters)))
    return tuple(replace(cluster, depth=len(_chain(cluster.id, clusters)) - 1) for cluster in ordered)
