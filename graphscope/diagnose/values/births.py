"""Births of values that are not finite: the first that came to spoil a loss, a gradient or a parameter."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.gradients.flow import op_of
from graphscope.diagnose.subject import has_graph
from graphscope.diagnose.values.exchanges import given_here, returned
from graphscope.diagnose.values.nonfinite_causes import is_singular
from graphscope.eventlog.names import place_of
from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.faults import excuse, is_fault, is_finite, is_put_right, nonfinite_rows
from graphscope.graph.words import sources

if TYPE_CHECKING:
    from graphscope.graph import Graph, Node

_BLOCK: Final = 4096
_MOST_HARMS: Final = 500
_MOST_NODES: Final = 20_000
"""So many harms are looked at, and so many values behind one of them, before the search is given up."""

_UPDATE: Final = int(Flag.IN_PLACE | Flag.NO_GRAD)
_TESTS: Final = frozenset({"isnan", "isinf", "isfinite", "item", "detach", "data", "nan_to_num", "numpy", "tolist"})
"""Who only looks at a value does nothing with it."""


def first_birth(graph: Graph) -> Node | None:
    """Where the first value arose that is not finite and came to do harm; None where none has done any.

    An infinity that a mask hides, or a NaN that a program only prints, does none. Harm is done to what a backward pass
    begins with, to the gradient of a leaf, and to a parameter; where no pass has run (yet), to what nobody uses.
    """
    for row in itertools.islice(_harmed(graph), _MOST_HARMS):
        harmed = graph.node(row)
        is_step = harmed.kind == "op" and _are_leaves(graph, np.array([harmed.tensor]))[0]
        found = _first_behind(harmed, _is_spoilt if is_step else is_fault)
        if found is not None:
            return found
    return None


def further_births(graph: Graph, first: Node) -> Iterator[Node]:
    """Other values that came to be not finite by themselves, and did harm, before any parameter was spoilt.

    One of each line: what is born of finite numbers is no consequence of the first.
    """
    lines = {_line(first)}
    for row in itertools.islice(_harmed(graph), _MOST_FURTHER):
        harmed = graph.node(row)
        if harmed.kind == "op" and _are_leaves(graph, np.array([harmed.tensor]))[0]:
            return
        for birth in sorted(_births_behind(harmed, is_fault)) if is_fault(harmed) else ():
            node = graph.node(birth)
            if _line(node) not in lines:
                lines.add(_line(node))
                yield node


_MOST_FURTHER: Final = 48


def _line(node: Node) -> tuple[str, int]:
    owner = node if node.kind not in ("grad", "accumulate") or node.forward is None else node.forward
    return place_of(owner.site)


def given(node: Node) -> Iterator[Node]:
    """What a node was computed from; of a backward one, also what the op of the rule was computed from.

    Of what came from another rank, that is what this one had given there before, if it came back with it.
    """
    yield from given_here(node)
    yield from returned(node)


def birth_behind(node: Node) -> Node:
    """The oldest value that is not finite though nothing that it was computed from is, of those behind such a one."""
    return node.graph.node(min(_births_behind(node, lambda each: not is_finite(each)), default=node.row))


def _is_spoilt(node: Node) -> bool:
    """Whether a value is not finite, though a scaled loss may be why: of a step that nobody left out."""
    return not is_finite(node) and excuse(node) in (None, "scaled")


def _first_behind(harmed: Node, is_sick: Callable[[Node], bool]) -> Node | None:
    """The oldest node of those behind it that are sick though nothing that they were given is."""
    if not is_sick(harmed):
        return _singular_behind(harmed)
    births = _births_behind(harmed, is_sick)
    return harmed.graph.node(min(births)) if births else None


def _births_behind(harmed: Node, is_sick: Callable[[Node], bool]) -> list[int]:
    """Those that are sick though nothing that they were given is."""
    waiting, seen, births = [harmed], {harmed.row}, list[int]()
    while waiting and len(seen) < _MOST_NODES:
        node = waiting.pop()
        worse = [each for each in given(node) if each.row < node.row and is_sick(each)]
        births += [] if worse else [node.row]
        waiting += [each for each in worse if each.row not in seen]
        seen.update(each.row for each in worse)
    return births


def _singular_behind(harmed: Node) -> Node | None:
    """The same of a gradient that a scaled loss excuses: a rule without a slope gives no finite one at any scale."""
    if harmed.kind != "accumulate" or not _is_spoilt(harmed):
        return None
    found = _first_behind(harmed, _is_spoilt)
    if found is None:
        return None
    rules = [edge.source.forward for edge in found.inputs if edge.source.kind == "grad"]
    return found if len(rules) == 1 and rules[0] is not None and is_singular(op_of(rules[0])) else None


def _harmed(graph: Graph) -> Iterator[int]:
    """Rows that a value that is not finite has spoilt, in order."""
    log, stop = graph.log, graph.now + 1
    begins = graph.index.marks(Kind.BACKWARD_BEGIN)
    begins = begins[begins < stop]
    last = int(begins[-1]) if len(begins) else -1
    rows = nonfinite_rows(log, None, stop)
    while block := list(itertools.islice(rows, _BLOCK)):
        found = np.array(block)
        kinds, flags = log.pick("kind", found), log.pick("flags", found)
        added = _are_leaves(graph, log.pick("forward", found)) & (kinds == Kind.ACCUMULATE)
        written = (kinds == Kind.OP) & ((flags & _UPDATE) == _UPDATE)
        written &= _are_leaves(graph, log.pick("tensor", found))
        loose = (kinds == Kind.OP) & (found > last)
        later = begins[np.searchsorted(begins, found[0]) :]  # a pass begins behind its root
        certain = added | written | np.isin(found, sources(log, later))
        for place in np.flatnonzero(certain | loose).tolist():
            if written[place] and is_put_right(graph.node(block[place]), graph.now + 1):
                continue
            if certain[place] or (_is_unused(graph, block[place]) and (last < 0 or has_graph(graph, block[place]))):
                yield block[place]


def _are_leaves(graph: Graph, rows: np.ndarray) -> np.ndarray:
    """Whether rows are leaves that learn."""
    log, rows = graph.log, rows.astype(np.int64)
    known = (rows >= log.first) & (rows < log.end)
    rows = np.where(known, rows, log.first)
    learns = (log.pick("flags", rows) & int(Flag.REQUIRES_GRAD)) != 0
    found: np.ndarray = known & learns & (log.pick("kind", rows) == Kind.LEAF)
    return found


def _is_unused(graph: Graph, row: int) -> bool:
    users = graph.index.using(row, graph.now + 1)
    return all(graph.log.op(graph.index.event(user).op).name in _TESTS for user in users)
