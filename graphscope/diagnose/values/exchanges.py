"""What went from rank to rank through collectives, as far as the logs of the others lie beside one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.gradients.flow import op_of
from graphscope.errors import LogError
from graphscope.eventlog.numbering import is_numbered
from graphscope.eventlog.reader import Log, load
from graphscope.eventlog.schema import Kind
from graphscope.eventlog.siblings import siblings, title
from graphscope.graph import Graph
from graphscope.graph.begun_with import begun_with
from graphscope.graph.faults import is_finite
from graphscope.graph.numbered_rows import numbered_rows

if TYPE_CHECKING:
    from graphscope.graph import Node

Exchange = tuple[tuple[str, tuple[int, ...]], int]
"""A collective, as all ranks know it: the group, and its number in that."""

_MOST: Final = 16
"""So many logs of other ranks are looked at: `graphscope ranks` reads those of thousands at once."""
_MOST_NODES: Final = 2000


def of_collective(node: Node) -> bool:
    """Whether a collective wrote a value."""
    return is_numbered(node.graph.log.entry(node.event.attrs))


def is_received(node: Node) -> bool:
    """Whether a collective wrote a value that is not finite, though what this rank gave to it was."""
    return of_collective(node) and not is_finite(node) and not _sick_inputs(node)


def exchange_of(log: Log, row: int) -> Exchange:
    """The collective that wrote a row."""
    met = numbered_rows(log)
    place = int(np.searchsorted(met.rows, row))
    return met.groups[met.which[place]], int(met.numbers[place])


def row_of(log: Log, exchange: Exchange) -> int:
    """The row that a collective wrote in a log; its end where the log does not hold that."""
    met, (group, number) = numbered_rows(log), exchange
    if group not in met.groups:
        return log.end
    is_it = (met.which == met.groups.index(group)) & (met.numbers == number)
    rows = met.rows[is_it]
    written = rows[log.pick("kind", rows) != Kind.WAIT]
    return int(written[0]) if len(written) else log.end


def given_to(log: Log, exchange: Exchange) -> list[Node]:
    """What a rank gave to a collective that was not finite."""
    row = row_of(log, exchange)
    return _sick_inputs(Graph(log).node(row)) if row < log.end else []


def other_ranks(log: Log) -> Iterator[tuple[Path, Log]]:
    """The logs of other ranks that lie beside one and can be read, the first ones."""
    for path in islice((path for path in siblings(log.path) if title(path).startswith("rank ")), _MOST):
        try:
            yield path, load(path)
        except LogError:
            continue


def given_here(node: Node) -> Iterator[Node]:
    """What a node was computed from in its own rank; of a backward one, also what the op of the rule was given.

    Of the first of a backward pass it is the gradient that the program gave.
    """
    rules = [edge.source for edge in node.inputs if edge.source.kind == "grad"]
    yield from (edge.source for edge in node.inputs)
    begun = begun_with(node)
    if begun is not None:
        yield begun
    for rule in rules if node.kind in ("grad", "accumulate") else [node]:
        yield from (part for part in rule.backward if part.row < node.row)
        owner = op_of(rule)
        if owner is not node:
            yield owner
            yield from (edge.source for edge in owner.inputs)


def returned(node: Node) -> list[Node]:
    """What this rank gave that another one made of, what then came back from there with a collective."""
    if not is_received(node):
        return []
    log = node.graph.log
    kept = log.readings.get((returned, node.row))
    if kept is None or kept[0] != log.end:
        rows = sorted({each.row for each in _returned(node)})
        kept = log.readings[returned, node.row] = log.end, rows
    return [node.graph.node(row) for row in kept[1]]


def _returned(node: Node) -> Iterator[Node]:
    log = node.graph.log
    exchange = exchange_of(log, node.row)
    for _, other in other_ranks(log):
        try:
            for gave in given_to(other, exchange):
                for received in _received_behind(gave):
                    before = exchange_of(other, received.row)
                    if row_of(log, before) < node.row:
                        yield from given_to(log, before)
        except LogError:
            continue


def _received_behind(gave: Node) -> Iterator[Node]:
    """What a rank had received that was not finite, among what it computed a value from."""
    waiting, seen = [gave], {gave.row}
    while waiting and len(seen) < _MOST_NODES:
        node = waiting.pop()
        if is_received(node):
            yield node
        worse = [each for each in given_here(node) if each.row < node.row and not is_finite(each)]
        waiting += [each for each in worse if each.row not in seen]
        seen.update(each.row for each in worse)


def _sick_inputs(node: Node) -> list[Node]:
    return [edge.source for edge in node.inputs if not is_finite(edge.source)]
