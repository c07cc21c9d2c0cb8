"""Results that one training step hands on to the next with their graphs: chains that grow by a link a step."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.gradients.ancestry import ancestry
from graphscope.diagnose.gradients.paths import leaf_of, made_of
from graphscope.diagnose.subject import has_graph
from graphscope.eventlog.grouping import grouped
from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.graph import walk
from graphscope.graph.words import edges

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph

LINKS: Final = 4
"""So many steps in a row must each take over from the one before."""
_STEPS: Final = 3
"""A run of fewer steps has no chains."""

_MOST_PLACES: Final = 32
_MOST_BEHIND: Final = 64


class Chain(NamedTuple):
    """Ops of one line, each in a later step, that are each computed from the one before."""

    users: list[int]
    """The newest of them, ascending."""
    source: int
    """What the last of them took over from an earlier step."""
    links: int
    """How many steps do so."""


def chains(graph: Graph, shortest: int = LINKS) -> Iterator[Chain]:
    """The chains of a run; of one with few steps also those of fewer links than `LINKS` that go on through all of it.

    Args:
        graph: The view.
        shortest: So many links the shortest has.
    """
    log, stop = graph.log, graph.now + 1
    bounds = _bounds(graph)
    least = max(shortest, min(LINKS, len(bounds) - 1))
    if len(bounds) < max(_STEPS, least):
        return
    users, sources = _across(log, bounds, stop)
    places = grouped([log.pick("site", users), log.pick("op", users)]).which
    for place in np.flatnonzero(np.bincount(places) >= least)[:_MOST_PLACES].tolist():
        here = np.flatnonzero(places == place)
        regions = np.searchsorted(bounds, users[here])
        _, first = np.unique(regions, return_index=True)
        newest = here[first][-least:]
        if len(newest) == least and _is_chain(graph, users[newest].tolist(), sources[newest].tolist()):
            yield Chain(users[newest].tolist(), int(sources[newest[-1]]), len(first))


def taken_over(graph: Graph, root: int, since: int) -> tuple[int, int] | None:
    """The first op behind a root that runs after a row and takes what ran before it, with a graph; and what that is."""
    for row in ancestry(graph.log, root).rows.tolist():
        if row <= since or graph.index.event(row).kind != Kind.OP:
            continue
        for source in made_of(graph, row):
            older = source < since and graph.index.event(source).kind == Kind.OP
            if not older or leaf_of(graph, graph.index.event(source)) is not None:
                continue
            if _is_made_again(graph, source, since, root) and is_freed(graph, source, since + 1):
                return row, source
    return None


def _is_made_again(graph: Graph, row: int, start: int, stop: int) -> bool:
    """Whether the op of a row runs once more in a stretch: what each step makes anew."""
    log, own = graph.log, graph.index.event(row)
    sites, ops = log.column("site", start, stop), log.column("op", start, stop)
    return bool(((sites == own.site) & (ops == own.op)).any())


def is_freed(graph: Graph, row: int, stop: int) -> bool:
    """Whether the backward rule of an op, or of one that it was made of, has run."""
    behind = islice(walk.reach(row, partial(made_of, graph)), _MOST_BEHIND)
    return any(has_rule_run(graph, each, stop) for each in (row, *behind))


def has_rule_run(graph: Graph, row: int, stop: int, start: int = 0) -> bool:
    """Whether the backward rule of an op has run between two rows."""
    return any(graph.index.event(each).kind == Kind.GRAD for each in graph.index.backward(row, stop, start))


def _bounds(graph: Graph) -> np.ndarray:
    """Where training steps end; where there are none, where backward passes do that leave no graph behind them."""
    steps = graph.index.marks(Kind.STEP)
    if not len(steps):
        again = graph.log.where(lambda rows: (rows["flags"] & int(Flag.CREATE_GRAPH)) != 0)
        steps = graph.index.marks(Kind.BACKWARD_END)[: 0 if len(again) else None]
    return steps[steps <= graph.now]


def _across(log: Log, bounds: np.ndarray, stop: int) -> tuple[np.ndarray, np.ndarray]:
    """The edges that lead from an op of one step to an op of a later one."""
    users, sources = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for takers, taken in _forward_edges(log, stop):
        later = np.searchsorted(bounds, takers) > np.searchsorted(bounds, taken)
        takers, taken = takers[later], taken[later]
        flags = log.pick("flags", taken)
        ran = (log.pick("kind", taken) == Kind.OP) & (log.pick("graph_pass", taken) == Pass.FORWARD)
        ran &= ((flags & int(Flag.NO_GRAD)) == 0) & ~_are_learned(log, taken)
        users.append(takers[ran])
        sources.append(taken[ran])
    found = np.concatenate(users), np.concatenate(sources)
    order = np.argsort(found[0], kind="stable")
    return found[0][order], found[1][order]


def _are_learned(log: Log, rows: np.ndarray) -> np.ndarray:
    """Whether rows wrote into leaves that want gradients: those never have a graph."""
    tensors = log.pick("tensor", rows).astype(np.int64)
    known = (tensors >= log.first) & (tensors < rows)
    made = np.where(known, tensors, rows)
    wants = (log.pick("flags", made) & int(Flag.REQUIRES_GRAD)) != 0
    return np.asarray(known & wants & (log.pick("kind", made) == Kind.LEAF))


def _forward_edges(log: Log, stop: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The forward ops for which gradients were on, and the rows that they take in, or write over."""

    def taking(rows: np.ndarray) -> np.ndarray:
        ops = (rows["kind"] == Kind.OP) & ((rows["flags"] & int(Flag.NO_GRAD)) == 0)
        return np.asarray(ops & (rows["graph_pass"] == Pass.FORWARD))

    return edges(log, taking, stop=stop)


def _is_chain(graph: Graph, users: list[int], sources: list[int]) -> bool:
    step = partial(made_of, graph)
    linked = (
        walk.nearest(source, step, {before}) == before or source == before
        for before, source in zip(users[:-1], sources[1:], strict=True)
    )
    return all(linked) and all(has_graph(graph, row) for row in (*users, *sources))
