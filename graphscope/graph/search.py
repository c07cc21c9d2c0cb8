"""Finding the nodes that a selector means: what is said of them is tested once, however many it is said of."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.errors import LogError, SelectorError
from graphscope.eventlog.schema import Kind, Pass
from graphscope.graph.descriptions import Descriptions, descriptions_of
from graphscope.graph.node import KIND_NAMES, Node, backward_label
from graphscope.graph.select import Selector, Term, parse

if TYPE_CHECKING:
    from graphscope.graph.graph import Graph


def find(graph: Graph, selector: Selector) -> list[Node]:
    """The nodes of a graph that a selector means, in the order of the log."""
    return [graph.node(row) for row in rows_of(graph, selector).tolist()]


def rows_of(graph: Graph, selector: Selector) -> np.ndarray:
    """The rows of the nodes that a selector means, ascending: no node is looked at."""
    return Search(graph, lambda told: means(selector, told), selector).rows(graph.log.first, graph.now + 1)


def means(selector: Selector, told: Told) -> np.ndarray:
    """Which descriptions a selector means, but for the rows that it names."""
    return np.asarray(np.logical_and.reduce([TESTS[term.form](told, term) for term in selector.terms]))


class Search:
    """A search for the nodes whose descriptions pass a test.

    Args:
        graph: The graph.
        test: Which descriptions are meant.
        selector: The SPEC that it is for, if it is: it may name rows.
    """

    def __init__(self, graph: Graph, test: Callable[[Told], np.ndarray], selector: Selector | None = None) -> None:
        self._graph = graph
        self._test = test
        self._named = [int(term.pattern) for term in (selector.terms if selector else ()) if term.form == "#"]
        self._made = descriptions_of(graph.log)
        self._passed = np.zeros(0, bool)
        """By the numbers of descriptions, as far as they were made."""

    def rows(self, start: int, stop: int) -> np.ndarray:
        """The rows of a stretch that are meant, ascending."""
        start, stop = max([start, *self._named]), min([stop, *(row + 1 for row in self._named)])
        found = [np.zeros(0, np.int64)]
        for first, numbers in self._made.between(start, stop):
            table = self._made.table
            if len(self._passed) < len(table):
                told = Told(self._graph, self._made, table[len(self._passed) :])
                self._passed = np.append(self._passed, self._test(told) & (told.numbers("kind") != 0))
            found.append(first + np.flatnonzero(self._passed[numbers]))
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
    return sorted((words | names_of(graph)) - {""})


def names_of(graph: Graph) -> set[str]:
    """What the tensors of a log are called."""
    log = graph.log
    names = {graph.names.variable(number) for number in range(1, len(log.table("sites")) + 1)}
    names |= {str(log.attrs(number).get("name", "")) for number in range(1, len(log.table("attrs")) + 1)}
    return names - {""}


class Told:
    """What some descriptions tell, to be tested."""

    def __init__(self, graph: Graph, made: Descriptions, descriptions: np.ndarray) -> None:
        self.log = graph.log
        self._made = made
        self._descriptions = descriptions

    def numbers(self, field: str) -> np.ndarray:
        """A field of each description."""
        return np.asarray(self._descriptions[field])

    def each(self, field: str, test: Callable[[int], bool]) -> np.ndarray:
        """What a test says of a field of each description; it is asked once for each number."""
        known, which = np.unique(self._descriptions[field], return_inverse=True)
        return np.array([test(number) for number in known.tolist()], bool)[which]

    def ops(self, test: Callable[[str], bool]) -> np.ndarray:
        """What a test says of the op of each."""
        return self.each("op", lambda place: test(self._made.words[place]))

    def names(self, test: Callable[[str], bool]) -> np.ndarray:
        """What a test says of the name of each; parameters may be named later."""
        later = {row: self._named_later(row - 1) for row in np.unique(self._descriptions["parameter"]).tolist() if row}
        found = self.each("name", lambda place: test(self._made.words[place]))
        is_later = self.each("parameter", lambda row: bool(later.get(row)))
        return np.where(is_later, self.each("parameter", lambda row: test(later.get(row, ""))), found)

    def _named_later(self, row: int) -> str:
        try:
            return self._made.names.given_later(self.log.event(row))
        except LogError:  # it is not kept any more
            return ""


def _op(told: Told, term: Term) -> np.ndarray:
    return told.ops(term.means)


def _name(told: Told, term: Term) -> np.ndarray:
    return told.names(term.means)


def _word(told: Told, term: Term) -> np.ndarray:
    rule = replace(term, pattern=term.pattern.rstrip("0"))
    is_rule = (told.numbers("kind") == Kind.GRAD) & told.ops(lambda op: rule.means(backward_label(op)))
    return np.asarray(_op(told, term) | is_rule | _name(told, term))


def _scope(told: Told, term: Term) -> np.ndarray:
    return told.each("scope", lambda number: term.means(told.log.scope_path(number)))


def _line(told: Told, term: Term) -> np.ndarray:
    line = term.line

    def is_there(number: int) -> bool:
        site = told.log.site(number)
        return site is not None and line is not None and line.is_at(site.file, site.line)

    return told.each("site", is_there)


def _pass(told: Told, term: Term) -> np.ndarray:
    is_backward: np.ndarray = told.numbers("graph_pass") == Pass.BACKWARD
    return is_backward if term.form == "backward" else ~is_backward


def _kind(told: Told, term: Term) -> np.ndarray:
    numbers = [int(kind) for kind, name in KIND_NAMES.items() if name == term.form]
    return np.isin(told.numbers("kind"), numbers)


def _row(told: Told, term: Term) -> np.ndarray:
    return np.ones(len(told.numbers("kind")), bool)  # of rows a description says nothing


TESTS: Final[dict[str, Callable[[Told, Term], np.ndarray]]] = {
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
"""How each form of a selector's term tests descriptions."""
