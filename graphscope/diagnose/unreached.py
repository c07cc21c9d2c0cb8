"""Leaves that a backward pass should have brought a gradient, and did not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.explain import explain_node
from graphscope.diagnose.explanation import title
from graphscope.diagnose.paths import leaf_of
from graphscope.eventlog.schema import NODES, Flag, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphscope.eventlog.reader import Event, Log
    from graphscope.graph import Graph, Node


def unreached(last: Node) -> str:
    """What the pass that ends with a node has left without a gradient, and why; empty where nothing is.

    Looked at are the leaves that require grad and took part in a forward pass since the last backward. A pass that
    fills no leaf at all (`autograd.grad`) leaves none out.
    """
    graph = last.graph
    bounds = _bounds(graph.log, last.row)
    if bounds is None:
        return ""
    since, begin, end = bounds
    filled = set(_filled(graph, begin, end))
    if not filled:
        return ""
    left_out = [leaf for tensor, leaf in sorted(_used(graph, since, begin).items()) if tensor not in filled]
    whole = graph.at(end)
    alike: dict[str, list[str]] = {}
    for leaf in (whole.node(leaf.row) for leaf in left_out):
        named = re.compile(rf"(?<![\w.]){re.escape(title(leaf))}(?!\w)")
        sentence = named.sub(_NAME, explain_node(leaf).verdict, count=1)
        alike.setdefault(sentence, []).append(title(leaf))
    return "; ".join(sentence.replace(_NAME, _listed(names)) for sentence, names in alike.items())


_NAME: Final = "\0"
"""Stands for the name in a sentence that is the same of several."""


def _listed(names: list[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def last_rows(log: Log) -> Iterator[int]:
    """The last node of each backward pass."""
    for mark in log.rare().tolist():
        if log.event(mark).kind == Kind.BACKWARD_END:
            kinds = log.column("kind", max(mark - _NEAR, log.first), mark)
            nodes = np.flatnonzero(np.isin(kinds, NODES))
            if len(nodes):
                yield mark - len(kinds) + int(nodes[-1])


_NEAR = 64
"""A pass ends within so many rows behind its last node."""


def _bounds(log: Log, last: int) -> tuple[int, int, int] | None:
    """Where the pass before the last one ended, and where this one began and ended; None if no pass ends here."""
    kinds = log.column("kind", last + 1, min(last + 1 + _NEAR, log.end))
    found = np.flatnonzero((kinds == Kind.BACKWARD_END) | np.isin(kinds, NODES))
    if len(found) == 0 or kinds[found[0]] != Kind.BACKWARD_END:
        return None
    end = last + 1 + int(found[0])
    since, begin = log.first, None
    for mark in log.rare()[::-1].tolist():
        if mark < end:
            kind = log.event(mark).kind
            if kind == Kind.BACKWARD_BEGIN and begin is None:
                begin = mark
            elif kind == Kind.BACKWARD_END:
                since = mark
                break
    return None if begin is None else (since, begin, end)


def _filled(graph: Graph, begin: int, end: int) -> Iterator[int]:
    """The leaves, by their tensors, whose gradients have grown."""
    kinds = graph.log.column("kind", begin, end)
    owners = graph.log.column("forward", begin, end)
    for row in np.unique(owners[kinds == Kind.ACCUMULATE]).tolist():
        leaf = leaf_of(graph, graph.index.event(row)) if graph.log.first <= row < end else None
        if leaf is not None:
            yield leaf.tensor


def _used(graph: Graph, since: int, begin: int) -> dict[int, Event]:
    """The leaves that require grad and that ops took in, by their tensors."""
    log = graph.log
    kinds, flags = log.column("kind", since, begin), log.column("flags", since, begin)
    off = (flags & int(Flag.NO_GRAD)) != 0
    rows = since + np.flatnonzero((kinds == Kind.OP) & ~off)
    sources = {source for row in rows.tolist() for source, _ in log.inputs(row)}
    found = (leaf_of(graph, graph.index.event(row)) for row in sources if log.first <= row < begin)
    return {leaf.tensor: leaf for leaf in found if leaf is not None and leaf.flags & Flag.REQUIRES_GRAD}
