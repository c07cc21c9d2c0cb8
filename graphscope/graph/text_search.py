"""Search as people know it: a text anywhere in names, ops, modules, lines of the program and shapes, or a SPEC.

Of several words (`layers.3 softmax backward`), each may stand in a place of its own. What stands in tables is looked at
once, not for each row that names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.errors import SelectorError
from graphscope.graph.descriptions import BLOCK
from graphscope.graph.search import TESTS, Search, Told, means
from graphscope.graph.select import Selector, Term, parse

if TYPE_CHECKING:
    from graphscope.graph.graph import Graph

_MOST_LINES: Final = 8
_EXACT: Final = frozenset({"#", "op", "name", "scope", "line"})
_WORD: Final = re.compile(r"[\w.×]+")
_SHAPE: Final = re.compile(r"x?\d+(?:x\d+)*x?")


@dataclass(frozen=True, slots=True)
class Part(Term):
    """A text that may stand anywhere in another; small letters stand for capitals as well."""

    def means(self, text: str) -> bool:
        """Whether it stands in a text."""
        pattern = self.pattern
        return pattern in (text.lower() if pattern == pattern.lower() else text)


class TextSearch:
    """A search for one text.

    Args:
        graph: The graph, at the last row that is looked at.
        text: What a person typed: a SPEC where it names an op, a name, a module, a line or a row as one; else a text.
    """

    def __init__(self, graph: Graph, text: str) -> None:
        self._graph = graph
        self._part = Part("word", text.strip())
        self._selector = _selector(text)
        self._is_spec = self._selector is not None and any(map(_is_exact, self._selector.terms))
        self._is_word = _WORD.fullmatch(self._part.pattern) is not None
        self._sizes = _sizes(text)
        words = text.split()
        are_words = len(words) > 1 and not self._is_spec and all(map(_WORD.fullmatch, words))
        self._words = [TextSearch(graph, word) for word in words] if are_words else []
        self._search = Search(graph, self._means, self._selector)

    def stretches(self, now: int, direction: int = 1) -> Iterator[tuple[int, int]]:
        """First row and the row behind the last of each stretch: from `now` on in a direction, and round the end.

        The nearest of the rows that is found first is the next match; `now` itself comes last.
        """
        first, stop = self._graph.log.first, self._graph.now + 1
        middle = min(max(now + (direction > 0), first), stop)
        halves = [_parts(middle, stop), _parts(first, middle)]
        if direction > 0:
            yield from (part for half in halves for part in half)
        else:
            yield from (part for half in reversed(halves) for part in reversed(half))

    def rows(self, start: int, stop: int) -> np.ndarray:
        """The rows of a stretch that hold it, ascending."""
        return self._search.rows(start, stop)

    def nearest(self, now: int, direction: int) -> int | None:
        """The next row that holds it in a direction, round the end; None where none does."""
        found = (self.rows(*stretch) for stretch in self.stretches(now, direction))
        return next((int(rows[0 if direction > 0 else -1]) for rows in found if len(rows)), None)

    def _means(self, told: Told) -> np.ndarray:
        """Which descriptions hold it."""
        found = np.zeros(len(told.numbers("kind")), bool)
        if self._selector is not None:
            found = means(self._selector, told)
        if not self._is_spec:
            found = found | self._holds(told)
        if self._words:
            found = found | np.logical_and.reduce([word._means(told) for word in self._words])
        return np.asarray(found)

    def _holds(self, told: Told) -> np.ndarray:
        log, part, pattern = told.log, self._part, self._sizes
        found: np.ndarray = TESTS["word"](told, part)
        found |= told.each("scope", lambda number: part.means(log.scope_title(number)))
        found |= told.each("site", lambda number: part.means(self._source(number)))
        if pattern is not None:
            found |= told.each("shape", lambda number: bool(pattern.search("x".join(map(str, log.shape(number))))))
        return found

    def _source(self, number: int) -> str:
        """The line of a place in the program, and what the place is called; for a word, what is called there."""
        site = self._graph.log.site(number)
        if site is None:
            return ""
        lines = (self._graph.log.source(site.file) or "").splitlines()[site.line - 1 : max(site.end_line, site.line)]
        if not self._is_word:
            return "\n".join([*(line.strip() for line in lines[:_MOST_LINES]), f"{site.file}:{site.line}"])
        text = "\n".join(lines).encode()
        behind = len(lines[-1].encode()) - site.end_column if lines else 0
        return _without_arguments(text[site.column : len(text) - max(behind, 0)].decode(errors="replace"))


class Matches:
    """The rows that a search has found up to now."""

    def __init__(self) -> None:
        self._parts: list[np.ndarray] = []
        self.is_whole = False
        """These are all."""

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def add(self, found: np.ndarray) -> None:
        """Take over what a stretch holds."""
        if len(found):
            self._parts.append(found)

    @property
    def rows(self) -> np.ndarray:
        """All of them, ascending."""
        if len(self._parts) > 1:
            self._parts = [np.concatenate(sorted(self._parts, key=lambda part: int(part[0])))]
        return self._parts[0] if self._parts else np.zeros(0, np.int64)

    def place(self, row: int) -> int | None:
        """Which of them a row is, counted from 0; None of one that is none, and until all are found."""
        if not self.is_whole:
            return None
        holding = next((part for part in self._parts if part[0] <= row <= part[-1]), None)
        if holding is None:
            return None
        at = int(np.searchsorted(holding, row))  # to put millions together for one number would hold up a key
        ahead = sum(len(part) for part in self._parts if part[-1] < row)
        return ahead + at if int(holding[at]) == row else None

    def beside(self, row: int, by: int) -> int | None:
        """The next of them behind a row, or the last ahead of it, round the end; None where there is none."""
        rows = self.rows
        place = int(np.searchsorted(rows, row, side="right" if by > 0 else "left")) - (by < 0)
        return int(rows[place % len(rows)]) if len(rows) else None


def rows_with(graph: Graph, text: str) -> np.ndarray:
    """The rows of the nodes of a graph that hold a text, or that a SPEC means, ascending."""
    search = TextSearch(graph, text)
    found = [search.rows(*stretch) for stretch in search.stretches(graph.log.first - 1)]
    return np.concatenate([np.zeros(0, np.int64), *found])


def _parts(start: int, stop: int) -> list[tuple[int, int]]:
    """Rows in stretches that end where blocks do."""
    bounds = [start, *range((start // BLOCK + 1) * BLOCK, stop, BLOCK), stop]
    return list(pairwise(bounds)) if start < stop else []


def _without_arguments(expression: str) -> str:
    """`self.linear().relu()` of `self.linear(x + 1).relu()`: what stands in brackets has places of its own."""
    depth, kept = 0, []
    for sign in expression:
        depth -= sign == ")"
        if depth <= 0:
            kept.append(sign)
        depth += sign == "("
    return "".join(kept)


def _selector(text: str) -> Selector | None:
    try:
        return parse(text)
    except SelectorError:
        return None


def _is_exact(term: Term) -> bool:
    """Whether a term says by its form that it is no mere text."""
    return term.form in _EXACT or any(sign in term.pattern for sign in "*?")


def _sizes(text: str) -> re.Pattern[str] | None:
    """What finds sizes that are written as `8x12`, `8×12` or `(8, 12)` in those of a shape."""
    plain = re.sub(r"\s*,\s*", "x", text.strip().strip("()[]")).replace("×", "x").replace(" ", "")
    return re.compile(rf"(?<!\d(?=\d)){plain}(?!(?<=\d)\d)") if _SHAPE.fullmatch(plain) else None
