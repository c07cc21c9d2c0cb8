"""The selector language: which nodes a SPEC means. `op:mm backward`, `name:fc1.* and forward`, `#12`."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING, Final, Literal, Protocol

from graphscope.errors import SelectorError

if TYPE_CHECKING:
    from graphscope.eventlog.names import Site


class Selectable(Protocol):
    """What a selector asks of a node."""

    @property
    def row(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def op(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def scope(self) -> str: ...
    @property
    def site(self) -> Site | None: ...
    @property
    def graph_pass(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Term:
    """One condition of a SPEC: `op:tanh` is the form `op` with the pattern `tanh`."""

    form: str
    pattern: str = ""

    def matches(self, node: Selectable) -> bool:
        """Whether a node answers to it."""
        return FORMS[self.form].test(node, self.pattern)

    def means(self, text: str) -> bool:
        """Whether a text is what it names."""
        return matches_text(text, self.pattern)

    @property
    def line(self) -> Line | None:
        """The line that it names, if it names one."""
        if self.form != "line":
            return None
        file, _, number = self.pattern.rpartition(":")
        return Line(file, int(number))


@dataclass(frozen=True, slots=True)
class Line:
    """A line that a SPEC names: the file may be the end of a path, or lead there by links."""

    file: str
    number: int

    def is_at(self, file: str, line: int) -> bool:
        """Whether a place is meant."""
        return line == self.number and self.is_in(file)

    def is_in(self, file: str) -> bool:
        """Whether a file is the one that is meant."""
        parts, whole = _parts(self.file), _parts(file)
        return whole[-len(parts) :] == parts or ((real := _real(self.file)) is not None and real == _real(file))


@dataclass(frozen=True, slots=True)
class Selector:
    """A SPEC that was understood: all its terms must hold."""

    spec: str
    terms: tuple[Term, ...]

    def matches(self, node: Selectable) -> bool:
        """Whether a node answers to every term."""
        return all(term.matches(node) for term in self.terms)

    @property
    def graph_pass(self) -> Literal["forward", "backward"] | None:
        """The pass that the SPEC names; None means both."""
        forms = {term.form for term in self.terms}
        return "forward" if "forward" in forms else "backward" if "backward" in forms else None

    @property
    def row(self) -> int | None:
        """The row that the SPEC names, if it does."""
        return next((int(term.pattern) for term in self.terms if term.form == "#"), None)

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines that the SPEC names."""
        return tuple(term.line for term in self.terms if term.line is not None)


@dataclass(frozen=True, slots=True)
class Form:
    """A way to name nodes: how it is written, and how a node is tested."""

    example: str
    doc: str
    test: Callable[[Selectable, str], bool]


def matches_text(text: str, pattern: str) -> bool:
    """Whether a text is the pattern, or is of its form when it is a glob; no pattern means what has no name."""
    return bool(text) and (text == pattern or fnmatchcase(text, pattern))


def _word(node: Selectable, pattern: str) -> bool:
    return matches_text(node.op, pattern) or matches_text(node.name, pattern) or _label(node, pattern)


def _label(node: Selectable, pattern: str) -> bool:
    return node.kind == "grad" and matches_text(node.label, pattern.rstrip("0"))  # PyTorch prints MulBackward0


def _line(node: Selectable, pattern: str) -> bool:
    line = Term("line", pattern).line
    return line is not None and node.site is not None and line.is_at(node.site.file, node.site.line)


@lru_cache(maxsize=1024)
def _parts(path: str) -> tuple[str, ...]:
    return PurePath(path.replace("\\", "/")).parts


@lru_cache(maxsize=1024)
def _real(path: str) -> str | None:
    """A path behind its links; None for a part of one."""
    return os.path.realpath(path) if PurePath(path).is_absolute() else None


FORMS: Final[dict[str, Form]] = {
    "#": Form("#12", "the node of that row", lambda node, pattern: node.row == int(pattern)),
    "word": Form("mul", "op or name", _word),
    "op": Form("op:mul", "op; globs", lambda node, pattern: matches_text(node.op, pattern)),
    "name": Form("name:fc1.*", "name in the program; globs", lambda node, pattern: matches_text(node.name, pattern)),
    "scope": Form("scope:encoder.*", "module scope; globs", lambda node, pattern: matches_text(node.scope, pattern)),
    "line": Form("line:model.py:31", "line of the program", _line),
    "forward": Form("forward", "nodes of the forward pass", lambda node, _: node.graph_pass == "forward"),
    "backward": Form("backward", "nodes of the backward pass", lambda node, _: node.graph_pass == "backward"),
    "leaf": Form("leaf", "nodes that no recorded op made", lambda node, _: node.kind == "leaf"),
    "grad": Form("grad", "backward rules that are due", lambda node, _: node.kind == "grad"),
    "accumulate": Form("accumulate", "contributions to gradients", lambda node, _: node.kind == "accumulate"),
}
"""The forms of a term."""

PREFIXES: Final = ("op", "name", "scope", "line")
WORDS: Final = ("forward", "backward", "leaf", "grad", "accumulate")

_TOKEN = re.compile(r'(?:"[^"]*"|[^\s"])+')
_PREFIXED = re.compile(r"(\w+):(.*)", re.DOTALL)


def parse(spec: str) -> Selector:
    """Read a SPEC.

    Raises:
        SelectorError: It is not understood; the message says where, the hint what is possible.
    """
    words = _TOKEN.findall(spec)
    if not words:
        raise SelectorError("the SPEC is empty", hint=_possible())
    if spec.count('"') % 2:
        raise SelectorError(f'a quote is not closed in "{spec}"', hint='close it: name:"two words"')
    if words[0] == "and" or words[-1] == "and" or ("and", "and") in pairwise(words):
        raise SelectorError(f"'and' joins two terms, and one is missing in '{spec}'", hint="op:tanh and backward")
    terms = tuple(_term(word, spec) for word in words if word != "and")
    forms = [term.form for term in terms]
    if "forward" in forms and "backward" in forms:
        raise SelectorError(f"no node is of both passes, as '{spec}' wants", hint="name one pass, or none for both")
    return Selector(spec.strip(), terms)


def _term(word: str, spec: str) -> Term:
    if word in ("or", "not", "&", "|", "&&", "||"):
        raise SelectorError(f"'{word}' in '{spec}' is not part of a SPEC", hint="terms are joined with 'and' alone")
    if word.startswith("#"):
        if not re.fullmatch(r"#[0-9]{1,15}", word):
            raise SelectorError(f"'{word}' names no row", hint="a row is written #12")
        return Term("#", word[1:])
    if word.isdigit():
        raise SelectorError(f"'{word}' is no op or name", hint=f"a row is written #{word}, a line line:FILE:{word}")
    prefixed = _PREFIXED.fullmatch(word)
    if prefixed is None:
        bare = word.replace('"', "")
        return Term(bare) if word in WORDS else Term("word", bare)
    prefix, pattern = prefixed[1], prefixed[2].replace('"', "")
    if prefix not in PREFIXES:
        close = difflib.get_close_matches(prefix, PREFIXES, 1, 0.5)
        suggestion = f"did you mean {close[0]}:{pattern}?" if close else _possible()
        raise SelectorError(f"nodes can't be selected by '{prefix}:'", hint=suggestion)
    if not pattern:
        raise SelectorError(f"nothing follows '{prefix}:' in '{spec}'", hint=f"for instance {FORMS[prefix].example}")
    if prefix == "line" and not re.fullmatch(r".+:[0-9]{1,9}", pattern):
        raise SelectorError(f"'{word}' names no line", hint="a line is written line:FILE:NUMBER, as line:model.py:31")
    return Term(prefix, pattern)


def _possible() -> str:
    return "a SPEC is " + ", ".join(form.example for form in FORMS.values()) + ", joined with 'and'"
