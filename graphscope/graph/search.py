"""Finding the nodes that a selector means, column by column: no look at a row that can't be one."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.errors import SelectorError
from graphscope.eventlog.schema import Kind, Pass
from graphscope.graph.node import KIND_NAMES, OF_BACKWARD, Node, backward_label
from graphscope.graph.select import Selector, Term, at_line, matches_text, parse

if TYPE_CHECKING:
    from graphscope.graph.graph import Graph

Masks = tuple[np.ndarray, np.ndarray]
"""For each node: surely meant, and perhaps meant (then the node itself is asked)."""


def find(graph: Graph, selector: Selector) -> list[Node]:
    """The nodes of a graph that a selector means, in the order of the log."""
    return [graph.node(row) for row in rows_of(graph, selector).tolist()]


def rows_of(graph: Graph, selector: Selector) -> np.ndarray:
    """The rows of the nodes that a selector means, ascending; no node is looked at that its columns tell enough of."""
    columns = _Columns(graph, selector.row)
    sure = np.ones(len(columns.rows), bool)
    possible = sure.copy()
    for term in selector.terms:
        certain, perhaps = MASKS[term.form](columns, term)
        sure &= certain
        possible &= certain | perhaps
    for place in np.flatnonzero(possible & ~sure).tolist():
        possible[place] = selector.matches(graph.node(int(columns.rows[place])))
    found: np.ndarray = columns.rows[possible]
    return found


def nothing_answers(graph: Graph, spec: str) -> SelectorError:
    """The error for a SPEC that was understood but means no node, with the nearest words that would."""
    wanted = [term.pattern for term in parse(spec).terms if term.form in ("word", "op", "name", "scope")]
    known = vocabulary(graph) if wanted else []
    close = [near for word in wanted for near in difflib.get_close_matches(word, known, 3)]
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


class _Columns:
    """The fields of all nodes as arrays; what a backward node has not of its own is its forward node's."""

    def __init__(self, graph: Graph, only: int | None = None) -> None:
        self.graph = graph
        self.rows = graph.index.nodes(graph.now + 1)
        if only is not None:
            self.rows = self.rows[self.rows == only]
        self.kind = self.of("kind", self.rows)
        self.backward = np.isin(self.kind, [int(kind) for kind in OF_BACKWARD])
        self.none = np.zeros(len(self.rows), bool)

    def of(self, field: str, rows: np.ndarray) -> np.ndarray:
        """A field at these rows; 0 at those that the log does not hold."""
        log = self.graph.log
        column = log.column(field, log.first, self.graph.now + 1)
        places = rows - log.first
        known = (places >= 0) & (places < len(column))
        return np.where(known, column[np.where(known, places, 0)], column.dtype.type(0)) if len(column) else rows * 0

    @cached_property
    def owner(self) -> np.ndarray:
        """The row itself, or the forward row of a backward one."""
        forward = self.of("forward", self.rows).astype(np.int64)
        return np.where(self.backward & (forward >= 0) & (forward < self.rows), forward, self.rows)

    def shared(self, field: str) -> np.ndarray:
        """A field, taken from the forward node where a backward one has 0."""
        own = self.of(field, self.rows)
        return np.where(own == 0, self.of(field, self.owner), own)


def _table(numbers: np.ndarray, test: Callable[[int], bool]) -> np.ndarray:
    """Ask once for each number that occurs."""
    if len(numbers) == 0:
        return np.zeros(0, bool)
    if int(numbers.max()) > 4 * len(numbers) + 1024:  # a damaged log may name any entry
        numbers = np.where(numbers > 4 * len(numbers) + 1024, 0, numbers)
    answers = np.zeros(int(numbers.max()) + 1, bool)
    for number in np.flatnonzero(np.bincount(numbers)):
        answers[number] = test(int(number))
    found: np.ndarray = answers[numbers]
    return found


def _row(columns: _Columns, term: Term) -> Masks:
    return columns.rows == int(term.pattern), columns.none


def _op(columns: _Columns, term: Term) -> Masks:
    log = columns.graph.log
    named = _table(columns.of("op", columns.rows), lambda number: matches_text(log.op(number).name, term.pattern))
    made = _table(
        columns.of("attrs", columns.rows),
        lambda number: matches_text(str(log.attrs(number).get("function", "leaf")), term.pattern),
    )
    added = matches_text("accumulate", term.pattern)
    found = np.select(
        [columns.kind == Kind.LEAF, columns.kind == Kind.ACCUMULATE], [made, np.full(len(named), added)], named
    )
    return found, columns.none


def _name(columns: _Columns, term: Term) -> Masks:
    given, assigned = _called(columns, columns.owner, term)
    # A node written in place may bear the name of its tensor's first version; only the node can tell, as it can
    # whether it is the last of those that one expression made, which alone bears the variable's name.
    changed = columns.of("version", columns.owner) > 0
    first = columns.of("tensor", columns.owner).astype(np.int64)
    by_tensor = np.logical_or(*_called(columns, np.where(changed & (first >= 0), first, columns.owner), term))
    return given, (assigned | (changed & by_tensor)) & ~given


def _called(columns: _Columns, rows: np.ndarray, term: Term) -> Masks:
    """Which rows were given the name, and which others may have it from the variable of their line."""
    graph = columns.graph
    attrs = columns.of("attrs", rows)
    named = _table(attrs, lambda number: bool(graph.log.attrs(number).get("name")))
    called = _table(attrs, lambda number: matches_text(str(graph.log.attrs(number).get("name") or ""), term.pattern))
    sites = columns.of("site", rows)
    assigned = _table(sites, lambda number: matches_text(graph.names.variable(number), term.pattern))
    return named & called, ~named & assigned


def _word(columns: _Columns, term: Term) -> Masks:
    log = columns.graph.log
    is_op, _ = _op(columns, term)
    rule = term.pattern.rstrip("0")
    label = _table(
        columns.of("op", columns.rows), lambda number: matches_text(backward_label(log.op(number).name), rule)
    )
    called, perhaps = _name(columns, term)
    return is_op | (label & (columns.kind == Kind.GRAD)) | called, perhaps


def _scope(columns: _Columns, term: Term) -> Masks:
    log = columns.graph.log
    found = _table(columns.shared("scope"), lambda number: matches_text(log.scope_path(number), term.pattern))
    return found, columns.none


def _line(columns: _Columns, term: Term) -> Masks:
    def is_there(number: int) -> bool:
        site = columns.graph.log.site(number)
        return site is not None and at_line(site.file, site.line, term.pattern)

    return _table(columns.shared("site"), is_there), columns.none


def _pass(columns: _Columns, term: Term) -> Masks:
    backward = columns.of("graph_pass", columns.rows) == Pass.BACKWARD
    return backward if term.form == "backward" else ~backward, columns.none


def _kind(columns: _Columns, term: Term) -> Masks:
    numbers = [int(kind) for kind, name in KIND_NAMES.items() if name == term.form]
    return np.isin(columns.kind, numbers), columns.none


MASKS: Final[dict[str, Callable[[_Columns, Term], Masks]]] = {
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
