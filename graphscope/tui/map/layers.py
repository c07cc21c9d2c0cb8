"""A neighbourhood in layers: inputs above, users below; long edges get a place of their own in each layer they pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from graphscope.graph.node import OF_BACKWARD
from graphscope.tui import neighbours

if TYPE_CHECKING:
    from graphscope.graph import Node

MOST: Final = 48
"""A picture of more boxes can't be taken in."""

_FAN: Final = 6
_SWEEPS: Final = 6


@dataclass
class Layers:
    """Spots by layer, and the edges between spots of neighbouring layers."""

    layers: list[list[int]] = field(default_factory=list)
    """The spots of each from left to right: a node's row, or below 0 a place where an edge passes."""
    edges: list[tuple[int, int, str]] = field(default_factory=list)
    """From, to, and `data`, `gradient` or `link`."""
    ends: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Of each place where an edge passes, the rows that the edge joins."""
    nodes: dict[int, Node] = field(default_factory=dict)
    hidden: int = 0
    """So many neighbours were left out."""


def neighbourhood(centre: Node, radius: int) -> Layers:
    """The nodes at most `radius` edges away, in layers."""
    made = Layers()
    made.nodes = {centre.row: centre}
    border = [centre]
    for _ in range(radius):
        beyond: list[Node] = []
        for node in border:
            found = neighbours.beside(node, _FAN)
            for other in found[: 2 * _FAN]:
                if other.row not in made.nodes and len(made.nodes) < MOST:
                    made.nodes[other.row] = other
                    beyond.append(other)
            made.hidden += max(len(found) - 2 * _FAN, 0)
        border = beyond
    _lay(made, sorted(made.nodes), list(_wires(made.nodes)))
    return made


def layered(spots: list[int], wires: list[tuple[int, int, str]]) -> Layers:
    """Spots in layers: each below all that leads to it.

    Args:
        spots: From 0 on, in an order in which wires lead from earlier ones to later ones.
        wires: From, to, and of what kind.
    """
    made = Layers()
    if spots:
        _lay(made, spots, wires)
    return made


def _lay(made: Layers, spots: list[int], wires: list[tuple[int, int, str]]) -> None:
    depth = _depths(spots, wires)
    made.layers = [[] for _ in range(max(depth.values()) + 1)]
    for spot in spots:
        made.layers[depth[spot]].append(spot)
    _through(made, depth, wires)
    _order(made)


def _wires(nodes: dict[int, Node]) -> Iterable[tuple[int, int, str]]:
    for node in nodes.values():
        seen = set()
        for edge in node.inputs:
            if edge.source.row in nodes and edge.source.row not in seen:
                seen.add(edge.source.row)
                yield edge.source.row, node.row, edge.kind
        if node.event.kind in OF_BACKWARD and node.forward is not None and node.forward.row in nodes:
            yield node.forward.row, node.row, "link"


def _depths(rows: list[int], wires: list[tuple[int, int, str]]) -> dict[int, int]:
    """Each node below all its inputs; what has none just above its first user. Edges lead to younger rows."""
    into: dict[int, list[int]] = {row: [] for row in rows}
    out: dict[int, list[int]] = {row: [] for row in rows}
    for source, target, kind in wires:
        if kind != "link":
            into[target].append(source)
            out[source].append(target)
    linked = {target: source for source, target, kind in wires if kind == "link"}
    depth: dict[int, int] = {}
    for row in rows:
        above = [depth[source] + 1 for source in into[row]]
        if not above and row in linked:
            above = [depth[linked[row]] + 1]
        depth[row] = max(above, default=0)
    for row in reversed(rows):
        if not into[row] and out[row] and row not in linked:
            depth[row] = max(min(depth[target] for target in out[row]) - 1, 0)
    least = min(depth.values())
    used = sorted({value - least for value in depth.values()})
    return {row: used.index(value - least) for row, value in depth.items()}


def _through(made: Layers, depth: dict[int, int], wires: list[tuple[int, int, str]]) -> None:
    passing = -1
    for source, target, kind in wires:
        upper, lower = (source, target) if depth[source] <= depth[target] else (target, source)
        if depth[upper] == depth[lower]:
            continue
        before = upper
        for layer in range(depth[upper] + 1, depth[lower]):
            made.layers[layer].append(passing)
            made.ends[passing] = (source, target)
            made.edges.append((before, passing, kind))
            before, passing = passing, passing - 1
        made.edges.append((before, lower, kind))


def _order(made: Layers) -> None:
    """Put each spot near the middle of those that it is joined to, from above and from below by turns."""
    above: dict[int, list[int]] = {}
    below: dict[int, list[int]] = {}
    for upper, lower, _ in made.edges:
        above.setdefault(lower, []).append(upper)
        below.setdefault(upper, []).append(lower)
    for sweep in range(_SWEEPS):
        downward = sweep % 2 == 0
        for layer in range(len(made.layers)) if downward else range(len(made.layers) - 1, -1, -1):
            fixed = layer - 1 if downward else layer + 1
            if not 0 <= fixed < len(made.layers):
                continue
            place = {spot: number for number, spot in enumerate(made.layers[fixed])}
            own = {spot: number for number, spot in enumerate(made.layers[layer])}
            made.layers[layer].sort(key=_middle(above if downward else below, place, own))


def _middle(joined: dict[int, list[int]], place: dict[int, int], own: dict[int, int]) -> Callable[[int], float]:
    def middle(spot: int) -> float:
        found = [place[other] for other in joined.get(spot, ()) if other in place]
        return sum(found) / len(found) if found else own[spot]

    return middle
