"""Which nodes of a picture can lie at one height: layout fails where an arrow leads from a height back to it."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["consistent"]

Pair = tuple[str, str]
Below = dict[str, set[str]]
"""For each node, those that an arrow leads down to."""


def consistent(arrows: Iterable[Pair], wanted: Sequence[Pair]) -> list[Pair]:
    """Those of the wanted pairs that can be at one height together, where each arrow leads down.

    Args:
        arrows: Pairs of a node and another that is to be below it.
        wanted: Pairs of nodes that are to be at one height; of two that exclude each other the first one stays.
    """
    arrows = list(arrows)
    joined = Heights(wanted)
    left = core((joined.of(above), joined.of(node)) for above, node in arrows)
    suspects = [pair for pair in wanted if joined.of(pair[0]) in left]
    if not suspects:
        return list(wanted)
    doubtful = set(suspects)
    kept = [pair for pair in wanted if pair not in doubtful]
    heights = Heights(kept)
    below: Below = defaultdict(set)
    for above, node in arrows:
        if joined.of(above) in left and joined.of(node) in left:
            below[above].add(node)
    for pair in suspects:
        if not (heights.leads(below, *pair) or heights.leads(below, *reversed(pair))):
            heights.join(*pair)
            kept.append(pair)
    return kept


class Heights:
    """Nodes joined into heights; each height is named by one of its nodes."""

    def __init__(self, pairs: Iterable[Pair]) -> None:
        self._joined: dict[str, str] = {}
        self._nodes: dict[str, list[str]] = {}
        for pair in pairs:
            self.join(*pair)

    def join(self, one: str, other: str) -> None:
        """Let two nodes, and all that are at their heights, be at one."""
        one, other = self.of(one), self.of(other)
        if one != other:
            self._joined[one] = other
            self._nodes[other] = [*self._nodes.get(other, [other]), *self._nodes.pop(one, [one])]

    def of(self, node: str) -> str:
        """The height of a node."""
        path = [node]
        while path[-1] in self._joined:
            path.append(self._joined[path[-1]])
        for each in path[:-1]:
            self._joined[each] = path[-1]
        return path[-1]

    def leads(self, below: Below, start: str, end: str) -> bool:
        """Whether arrows, one at least, lead from the height of a node down to that of another."""
        start, end = self.of(start), self.of(end)
        waiting, seen = [start], set()
        while waiting:
            for node in self._nodes.get(height := waiting.pop(), [height]):
                for each in map(self.of, below.get(node, ())):
                    if each == end:
                        return True
                    if each not in seen:
                        seen.add(each)
                        waiting.append(each)
        return False


def core(arrows: Iterable[Pair]) -> set[str]:
    """What lies on a cycle, or between two: all that is left when ends are taken off until there are none."""
    below: Below = defaultdict(set)
    above: Below = defaultdict(set)
    for one, other in arrows:
        below[one].add(other)
        above[other].add(one)
    nodes = {*below, *above}
    for into, out in ((above, below), (below, above)):
        nodes -= set(_ends(nodes, into, out))
    return nodes


def _ends(nodes: set[str], into: Below, out: Below) -> Iterator[str]:
    """Nodes that nothing leads into, once those before them are gone."""
    count = {node: len(into[node] & nodes) for node in nodes}
    waiting = [node for node, arrows in count.items() if not arrows]
    while waiting:
        node = waiting.pop()
        yield node
        for each in out[node] & nodes:
            count[each] -= 1
            if not count[each]:
                waiting.append(each)
