"""Finding the nodes that a selector means, column by column: rows that can't be one are not read."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.errors import SelectorError
from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.graph.node import KIND_NAMES, OF_BACKWARD, Node, backward_label
from graphscope.graph.select import Selector, Term, parse

if TYPE_CHECKING:
    from graphscope.graph.graph import Graph

STRETCH: Final = 1 << 18
"""Rows that are looked at together: their columns stay in the cache, and a search of a long log needs little memory."""


def find(graph: Graph, selector: Selector) -> list[Node]:
    """The nodes of a graph that a selector means, in the order of the log."""
    return [graph.node(row) for row in rows_of(graph, selector).tolist()]


def rows_of(graph: Graph, selector: Selector) -> np.ndarray:
    """The rows of the nodes that a selector means, ascending: their columns tell, no node is looked at."""
    first, stop = graph.log.first, graph.now + 1
    if selector.row is not None:
        first, stop = max(first, selector.row), min(stop, selector.row + 1)
    found = [np.zeros(0, np.int64)]
    for low in range(first, stop, STRETCH):
        columns = Columns(graph, graph.index.nodes(min(low + STRETCH, stop), low))
        matching = np.ones(len(columns.rows), bool)
        for term in selector.terms:
            matching &= MASKS[term.form](columns, term)
        found.append(columns.rows[matching])
    return np.concatenate(found)


def nothing_answers(graph: Graph, spec: str) -> SelectorError:
    """The error for a SPEC that was understood but means no node, with the nearest words that would."""
    wanted = [term.pattern for term in parse(spec).terms if term.form in ("word", "op", "name", "scope")]
    known = [word for word in vocabulary(graph) if word not in wanted] if wanted else []
    close = [match for word in wanted for match in difflib.get_close_matches(word, known, 3)]
    hint = f"did you mean {', '.join(close)}?" if close else f"here are {', '.join(known[:12])}" if known else None
    return SelectorError(f"no node answers to '{spec}'", hint=hint)


def vocabulary(graph: Graph) -> list[str]:
    """The ops, names and scopes of a log, for completion and for suggestions."""
    log = graph.log
    words = {log.op(number).name for number in range(1, len(log.table("ops")) + 1)}
    words |= {log.scope_path(number) for number in range(1, len(log.table("scopes")) + 1)}
    words |= {graph.names.variable(number) for number in range(1, len(log.table("sites")) + 1)}
    words |= {str(attrs.get("name", "")) for attrs in log.table("attrs") if isinstance(attrs, dict)}
    return sorted(words - {""})


class Columns:
    """The fields of some nodes as arrays; what a backward node has not of its own is its forward node's."""

    def __init__(self, graph: Graph, rows: np.ndarray) -> None:
        self.graph = graph
        self.rows = rows
        self.kind = self.of("kind", self.rows)
        self.backward = np.isin(self.kind, [int(kind) for kind in OF_BACKWARD])

    def of(self, field: str, rows: np.ndarray) -> np.ndarray:
        """A field at these rows; 0 at those that the log does not hold."""
        return self.graph.log.pick(field, rows)

    @cached_property
    def owner(self) -> np.ndarray:
        """The row itself, or the forward row of a backward one."""
        forward = self.of("forward", self.rows).astype(np.int64)
        return np.where(self.backward & (forward >= 0) & (forward < self.rows), forward, self.rows)

    def shared(self, field: str) -> np.ndarray:
        """A field, taken from the forward node where a backward one has 0."""
        own = self.of(field, self.rows)
        return np.where(own == 0, self.of(field, self.owner), own)


def asked_once(numbers: np.ndarray, test: Callable[[int], bool]) -> np.ndarray:
    """Ask once for each number that occurs."""
    if len(numbers) == 0:
        return np.zeros(0, bool)
    if int(numbers.max()) > 4 * len(numbers) + 1024:  # many more are known than occur; a damaged log may name any
        present, which = np.unique(numbers, return_inverse=True)
        return np.array([test(number) for number in present.tolist()], bool)[which]
    answers = np.zeros(int(numbers.max()) + 1, bool)
    for number in np.flatnonzero(np.bincount(numbers)):
        answers[number] = test(int(number))
    found: np.ndarray = answers[numbers]
    return found


def _row(columns: Columns, term: Term) -> np.ndarray:
    found: np.ndarray = columns.rows == int(term.pattern)
    return found


def _op(columns: Columns, term: Term) -> np.ndarray:
    log = columns.graph.log
    named = asked_once(columns.of("op", columns.rows), lambda number: term.means(log.op(number).name))
    made = asked_once(
        columns.of("attrs", columns.rows),
        lambda number: term.means(str(log.attrs(number).get("function", "leaf"))),
    )
    added = term.means("accumulate")
    return np.select(
        [columns.kind == Kind.LEAF, columns.kind == Kind.ACCUMULATE], [made, np.full(len(named), added)], named
    )


def _name(columns: Columns, term: Term) -> np.ndarray:
    owned, nameless = _called(columns, columns.owner, term)
    # What was written in place bears the name of its tensor's first version, unless the line says another.
    first = columns.of("tensor", columns.owner).astype(np.int64)
    later = (columns.of("version", columns.owner) > 0) & (first < columns.owner)
    owned[nameless & later] = _called(columns, first[nameless & later], term)[0]
    _give_names(columns, np.where(later, first, columns.owner), owned, nameless & ~later, term)
    lost = columns.backward & (columns.owner == columns.rows)  # the forward node is in a segment that is gone
    found: np.ndarray = owned & ~lost
    return found


def _give_names(columns: Columns, first: np.ndarray, owned: np.ndarray, nameless: np.ndarray, term: Term) -> None:
    """Put right what bears a name that its own row does not tell: parameters named later, and losses."""
    graph = columns.graph
    trained = (columns.of("flags", first) & int(Flag.PARAMETER)) != 0
    for row in np.unique(first[trained & (columns.of("kind", first) == Kind.LEAF)]).tolist():
        name = graph.names.given_later(graph.index.event(row))
        if name:
            owned[first == row] = term.means(name)
    if len(columns.rows):
        for row, name in graph.names.roots(int(columns.rows[0]), int(columns.rows[-1]) + 1).items():
            owned[nameless & (columns.owner == row)] = bool(name) and term.means(name)


def _called(columns: Columns, rows: np.ndarray, term: Term) -> tuple[np.ndarray, np.ndarray]:
    """Which rows bear the name, given or of the variable of their line, and which have none."""
    graph = columns.graph
    attrs, kinds, sites = (columns.of(field, rows) for field in ("attrs", "kind", "site"))
    given = asked_once(attrs, lambda number: "name" in graph.log.attrs(number))
    called = asked_once(attrs, lambda number: term.means(str(graph.log.attrs(number).get("name") or "")))
    made = asked_once(attrs, lambda number: "function" in graph.log.attrs(number))
    assigned = (
        ~given & (made | (kinds != Kind.LEAF)) & asked_once(sites, lambda number: bool(graph.names.variable(number)))
    )
    ops = np.flatnonzero(assigned & (kinds == Kind.OP))
    assigned[ops] = graph.names.finishing(rows[ops])
    wanted = asked_once(sites, lambda number: term.means(graph.names.variable(number)))
    return (given & called) | (assigned & wanted), ~given & ~assigned


def _word(columns: Columns, term: Term) -> np.ndarray:
    log = columns.graph.log
    is_op = _op(columns, term)
    rule = replace(term, pattern=term.pattern.rstrip("0"))
    label = asked_once(columns.of("op", columns.rows), lambda number: rule.means(backward_label(log.op(number).name)))
    found: np.ndarray = is_op | (label & (columns.kind == Kind.GRAD)) | _name(columns, term)
    return found


def _scope(columns: Columns, term: Term) -> np.ndarray:
    log = columns.graph.log
    return asked_once(columns.shared("scope"), lambda number: term.means(log.scope_path(number)))


def _line(columns: Columns, term: Term) -> np.ndarray:
    line = term.line

    def is_there(number: int) -> bool:
        site = columns.graph.log.site(number)
        return site is not None and line is not None and line.is_at(site.file, site.line)

    return asked_once(columns.shared("site"), is_there)


def _pass(columns: Columns, term: Term) -> np.ndarray:
    backward: np.ndarray = columns.of("graph_pass", columns.rows) == Pass.BACKWARD
    return backward if term.form == "backward" else ~backward


def _kind(columns: Columns, term: Term) -> np.ndarray:
    numbers = [int(kind) for kind, name in KIND_NAMES.items() if name == term.form]
    return np.isin(columns.kind, numbers)


MASKS: Final[dict[str, Callable[[Columns, Term], np.ndarray]]] = {
    "#": _row,
    "word": _word,
    "op": _op,
    "name": _name,
    "scope": _scope,
    "line": _line,
    "forward": _pass,
    "backward": _pass,
    "leaf": _kind,
    "grad": _kind,
    "accumulate": _kind,
}
"""How each form of a selector's term is looked for."""
