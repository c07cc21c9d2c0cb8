"""How large gradients are on their way through one backward pass, and where most of the change comes about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.gradients.paths import leaf_of
from graphscope.eventlog.schema import ROW_MASK, Flag, Kind
from graphscope.graph.sizes import counts_of, norms_of

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Event
    from graphscope.graph import Graph, Node

_MOST: Final = 4096
"""So many rows of a pass are measured."""


class Place(NamedTuple):
    """Where a gradient changes most on its way."""

    node: Node
    """The op whose rule changes it first, of those on the line that changes it most."""
    line: float
    """The factor that the rules of this line come to."""
    whole: float
    """The factor of the whole way."""


def chain(graph: Graph, gradient: int) -> list[int]:
    """The GRAD rows that led to a row of a backward pass, from where the pass began: of several the largest each."""
    found: list[int] = []
    row = gradient
    while len(found) < _MOST:
        rules = _rules(graph, row)
        if not rules:
            break
        sizes = norms_of(graph.log, np.array(rules)) if len(rules) > 1 else np.zeros(1)
        row = rules[int(np.argmax(np.nan_to_num(sizes, nan=-1.0)))]
        found.append(row)
    return found[::-1]


def _rules(graph: Graph, row: int) -> list[int]:
    """The GRAD rows that a row of a backward pass takes; a sum inside of a rule stands for those that it adds."""
    event = graph.index.event(row)
    inputs = [source for source, _ in event.inputs if graph.log.first <= source < row]
    kinds = [graph.index.event(source).kind for source in inputs]
    found = [source for source, kind in zip(inputs, kinds, strict=True) if kind == Kind.GRAD]
    if event.kind == Kind.GRAD and _is_inside(graph, event):
        for source, kind in zip(inputs, kinds, strict=True):
            found += _rules(graph, source) if kind == Kind.ACCUMULATE else []
    return found


def _is_inside(graph: Graph, event: Event) -> bool:
    """Whether a GRAD row is that of a step inside of another rule, as of a layer that runs over a sequence."""
    owner = event.forward & ROW_MASK
    return graph.log.first <= owner < event.row and graph.index.event(owner).kind == Kind.GRAD


def place_of_change(graph: Graph, gradient: int) -> Place | None:
    """Where on the way to a gradient it grew, or shrank, most; None where that is not known."""
    rows = np.array(chain(graph, gradient), np.int64)
    if len(rows) < 3:
        return None
    counts = counts_of(graph.log, rows)
    with np.errstate(all="ignore"):
        sizes = np.log(norms_of(graph.log, rows) / np.sqrt(counts))
    first = next((place for place, row in enumerate(rows.tolist()) if _is_layer(graph, row)), len(rows))
    known = np.isfinite(sizes) & (counts > 1) & (np.arange(len(rows)) >= first)  # ahead of it is the loss alone
    rows, sizes = rows[known], sizes[known]
    if len(rows) < 3:
        return None
    whole = float(sizes[-1] - sizes[0])
    factors: dict[int, float] = {}
    firsts: dict[int, tuple[float, int]] = {}
    for row, factor in zip(rows[:-1].tolist(), np.diff(sizes).tolist(), strict=True):
        owner = graph.node(row).forward
        if owner is None or not owner.event.site:
            continue
        site = owner.event.site
        factors[site] = factors.get(site, 0.0) + factor
        if factor * whole > 0:
            firsts.setdefault(site, (factor, owner.row))
    if not factors:
        return None
    worst = max(factors, key=lambda site: factors[site] * np.sign(whole))
    if worst not in firsts:
        return None
    return Place(graph.node(firsts[worst][1]), float(np.exp(factors[worst])), float(np.exp(whole)))


def _is_layer(graph: Graph, row: int) -> bool:
    """Whether a GRAD row is that of an op that takes a parameter."""
    owner = graph.node(row).forward
    sources = [] if owner is None else [source for source, _ in owner.event.inputs if source >= graph.log.first]
    leaves = [leaf_of(graph, graph.index.event(source)) for source in sources]
    return any(leaf is not None and leaf.flags & Flag.REQUIRES_GRAD for leaf in leaves)


def source_rule(graph: Graph, row: int) -> int:
    """The row whose chain is to be followed for the gradient of a leaf: what was added, of a write what was written."""
    event = graph.index.event(row)
    while event.kind == Kind.OP and event.inputs and graph.log.first <= event.inputs[0][0] < event.row:
        event = graph.index.event(event.inputs[0][0])
    return event.row
