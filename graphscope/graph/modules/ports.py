"""Where a call is joined to what lies outside: what comes into it, and where what it makes goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.errors import LogError
from graphscope.eventlog.schema import Kind
from graphscope.graph.modules.parameters import Parameters
from graphscope.graph.modules.parts import Parts
from graphscope.graph.modules.step_rows import StepRows

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph.graph import Graph

_MOST: Final = 6
"""So many inputs are drawn."""


@dataclass(frozen=True, slots=True)
class Port:
    """Something that comes into a call from outside."""

    name: str
    """The module that made it, or the name that the program has for it."""
    row: int
    shape: tuple[int, ...]
    rows: tuple[int, ...]
    """The rows that stand for it."""


@dataclass(frozen=True, slots=True)
class Leaving:
    """What goes out of a call."""

    name: str
    """The module that takes it, where that is one."""
    shapes: tuple[tuple[int, ...], ...]
    parts: tuple[int, ...]
    """The parts that it is of."""


def incoming(graph: Graph, rows: StepRows, parts: Parts, known: Parameters) -> list[Port]:
    """What comes in, the first use first; what ops alone use that have no other input is theirs."""
    log = graph.log
    users, sources = parts.edges
    inside = sources >= rows.start
    owner = np.full(len(sources), -1)
    owner[inside] = parts.owners[sources[inside] - rows.start]
    open_ones = (owner < 0) & ~known.are
    found: dict[int, list[int]] = {}
    takers: dict[int, set[int]] = {}
    for row, tensor, part in zip(
        sources[open_ones].tolist(),
        log.pick("tensor", sources[open_ones]).tolist(),
        parts.owners[users[open_ones] - rows.start].tolist(),
        strict=True,
    ):
        is_leaf = log.first <= row and log.event(row).kind == Kind.LEAF
        key = tensor if is_leaf else row
        found.setdefault(key, []).append(row)
        takers.setdefault(key, set()).add(part)
    ports = []
    for key, named in found.items():
        first = named[0]
        of_ops = all(parts.calls[part] is None for part in takers[key]) and len(takers[key]) == 1
        if of_ops and log.first <= first and log.event(first).kind == Kind.LEAF:
            continue
        try:
            node = graph.node(first)
        except LogError:
            continue
        ports.append(Port(_origin(log, node.scope_number, node.name or node.op), first, node.shape, tuple(named)))
    return ports[:_MOST]


def outgoing(log: Log, rows: StepRows, parts: Parts) -> Leaving | None:
    """What goes out; None where nobody outside takes anything."""
    users, sources = rows.edges
    inside = sources >= rows.start
    users, sources = users[inside], sources[inside]
    owner = parts.owners[sources - rows.start]
    out = (owner >= 0) & (parts.owners[users - rows.start] < 0)
    if not out.any():
        return None
    taken = list(dict.fromkeys(sources[out].tolist()))
    first = log.event(int(users[out][0]))
    name = _origin(log, first.scope, log.op(first.op).name)
    shapes = tuple(log.event(row).shape for row in taken[:4])
    return Leaving(name, shapes, tuple(np.unique(owner[out]).tolist()))


def _origin(log: Log, scope: int, name: str) -> str:
    return log.scope_path(scope) if scope else name
