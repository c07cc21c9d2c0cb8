"""Other leaves of the same loss that a backward pass has left without a gradient, or with one of zeros."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from graphscope.diagnose.flow import share_of_zeros
from graphscope.diagnose.paths import Ways, leaf_of
from graphscope.diagnose.subject import Subject
from graphscope.eventlog.schema import Flag, Kind

if TYPE_CHECKING:
    from graphscope.graph import Graph, Node

_MOST: Final = 500
"""Of a loss of more leaves none is looked at: this is said beside an answer that should come at once."""

_ELEMENTS: Final = 1 << 20
"""So many elements of one gradient are looked through for zeros."""

_NAMED: Final = 4


def astray(node: Node) -> list[str]:
    """What is to be said of leaves that require grad, beside the one that was asked about; a sentence each."""
    graph = node.graph
    ended = _newest(graph)
    if ended is None:
        return []
    begin, root = ended
    leaves = Ways(graph, root).leaves
    asked = Subject(node).rows
    missing, zero = [], []
    for row in leaves if len(leaves) <= _MOST else ():
        leaf = leaf_of(graph, graph.index.event(row))
        if leaf is None or not leaf.flags & Flag.REQUIRES_GRAD:
            continue
        subject = Subject(graph.node(row))
        if subject.title == "leaf" or not subject.rows.isdisjoint(asked):
            continue
        arrived = [each for each in subject.arrivals if each.row > begin]
        if not arrived:
            missing.append(subject.title)
        elif all(math.prod(each.shape) <= _ELEMENTS and share_of_zeros(each) == 1 for each in arrived):
            zero.append(subject.title)
    told = ((missing, "No gradient has reached"), (zero, "Only zeros have reached"))
    return [f"{what} {_list(names)}: why {names[0]}" for names, what in told if names]


def _newest(graph: Graph) -> tuple[int, int] | None:
    """The row where the newest backward pass began that has ended, and the node that it came from."""
    ended = False
    for row in graph.log.rare()[::-1].tolist():
        if row > graph.now + 1:  # the end of a pass stands behind its last node
            continue
        event = graph.log.event(row)
        ended = ended or event.kind == Kind.BACKWARD_END
        if event.kind == Kind.BACKWARD_BEGIN:
            return (row, event.inputs[0][0]) if ended and event.inputs else None
    return None


def _list(names: list[str]) -> str:
    names = list(dict.fromkeys(names))
    shown = ", ".join(names[:_NAMED])
    return f"{shown} and {len(names) - _NAMED} more" if names[_NAMED:] else shown
