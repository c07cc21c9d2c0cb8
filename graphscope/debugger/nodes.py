"""Nodes as the debugger speaks of them: described for screens, and standing in for one that is not computed yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from graphscope.debugger.results import NodeInfo, PassName, Place
from graphscope.eventlog.schema import NODES, Kind
from graphscope.graph.outline.origins import origins
from graphscope.graph.select import Selectable

if TYPE_CHECKING:
    from graphscope.eventlog.names import Site
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node as GraphNode

_BLOCK = 1 << 14
_OF_NODES = (Kind.EXCEPTION, Kind.EDIT, Kind.BACKWARD_BEGIN)
"""Marks whose input is the node that failed, that was changed, or that the pass begins with."""


class Node(Selectable, Protocol):
    """What stepping and breakpoints ask of a node; `graphscope.graph.Node` and `Pending` answer."""

    @property
    def scope_title(self) -> str: ...
    @property
    def graph_pass(self) -> PassName: ...
    @property
    def source_line(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> str: ...


@dataclass(frozen=True)
class Pending:
    """A forward node ahead of its computation: its row is not written, its value does not exist."""

    row: int
    op: str
    name: str
    site: Site | None
    source_line: str
    scope: str
    scope_title: str
    scope_number: int
    input_rows: tuple[int, ...]
    kind: str = "op"
    graph_pass: PassName = "forward"
    shape: tuple[int, ...] = ()
    dtype: str = ""
    value: None = None
    grad: None = None

    @property
    def label(self) -> str:
        """Its op."""
        return self.op


def describe(node: Node) -> NodeInfo:
    """A node as data."""
    site = node.site
    place = None if site is None else Place(site.file, site.line, site.function, node.source_line)
    return NodeInfo(
        node.row,
        node.kind,
        node.op,
        node.label,
        node.name or "",
        tuple(node.shape or ()),
        node.dtype or "",
        node.graph_pass,
        node.scope_title,
        place,
    )


def spot(node: Node | None) -> tuple[str, int] | None:
    """File and line of a node, if there is one and they are known."""
    site = None if node is None else node.site
    return None if site is None or not site.file else (site.file, site.line)


def rule_around(node: GraphNode | Pending | None) -> tuple[str, ...]:
    """What to say of an op that is part of a backward rule."""
    if node is None or isinstance(node, Pending) or node.graph_pass == "forward" or node.kind not in ("op", "leaf"):
        return ()
    rule = node.forward
    return () if rule is None else (f"(in the rule of #{rule.row} {rule.label})",)


def forward(log: Log, start: int, stop: int) -> Iterator[int]:
    """Rows of nodes with `start <= row < stop`, in order; leaves that a later segment repeats are left out."""
    for low in range(max(start, log.first), min(stop, log.end), _BLOCK):
        yield from rows_of(log, low, min(low + _BLOCK, stop)).tolist()


def backward(log: Log, start: int, stop: int) -> Iterator[int]:
    """Rows of nodes with `start <= row < stop`, the newest first."""
    high = min(stop, log.end)
    while high > max(start, log.first):
        low = max(high - _BLOCK, start, log.first)
        yield from rows_of(log, low, high)[::-1].tolist()
        high = low


def nearest(log: Log, row: int) -> int | None:
    """Where one stands to look at a row: of a mark at the node that it is of, else at the last one before it."""
    if len(rows_of(log, row, row + 1)):
        return row
    event = log.event(row)
    of_mark = [source for source, _ in event.inputs if log.holds(source)] if event.kind in _OF_NODES else []
    return of_mark[0] if of_mark else next(backward(log, log.first, row), None)


def entry(log: Log) -> int | None:
    """Where one begins to look: the first node that a line of the program computes; None where there is no node.

    What makes modules and fills their parameters is not what one has come for.
    """
    makes = origins(log).makes
    for low in range(log.first, log.end, _BLOCK):
        rows = rows_of(log, low, min(low + _BLOCK, log.end))
        computing = rows[~makes[np.minimum(log.column("site", low, low + _BLOCK)[rows - low], len(makes) - 1)]]
        if len(computing):
            return int(computing[0])
    return next(forward(log, log.first, log.end), None)


def count(log: Log, stop: int) -> int:
    """So many nodes have rows before `stop`; leaves that a later segment repeats are left out."""
    blocks = range(log.first, min(stop, log.end), _BLOCK)
    return sum(len(rows_of(log, low, min(low + _BLOCK, stop))) for low in blocks)


def rows_of(log: Log, start: int, stop: int) -> np.ndarray:
    """Rows of nodes with `start <= row < stop`, at once; leaves that a later segment repeats are left out."""
    kinds = log.column("kind", start, stop)
    tensors = log.column("tensor", start, stop)
    rows = np.arange(start, start + len(kinds))
    again = (kinds == Kind.LEAF) & (tensors != rows)
    found: np.ndarray = rows[np.isin(kinds, NODES) & ~again]
    return found
