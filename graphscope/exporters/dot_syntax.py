"""The syntax of DOT: quoting, escaping and statements as pure functions from text to text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = [
    "Attributes",
    "block",
    "defaults",
    "edge",
    "html",
    "html_label",
    "indented",
    "node",
    "printable",
    "quoted",
    "shortened",
]

Attributes: TypeAlias = "Mapping[str, str]"
"""Names and values of attributes; a value that `html_label` made is written as HTML, all others are quoted."""

LONGEST: Final = 48
"""So many characters of a program's text are shown; the middle of a longer one is left out."""

HTML: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
ESCAPE: Final = re.compile(r"\\(?=[NGETHL])")
"""A backslash that Graphviz would read as its own, in HTML too: as the name of the node, the graph, the edge."""

DEEPEST: Final = 8


class html_label(str):  # noqa: N801 - a kind of text, used like a function
    """HTML-like text whose parts are escaped already; it is written between < and > instead of quotes."""


def shortened(text: str, longest: int = LONGEST) -> str:
    """The text, or its beginning and end around an ellipsis when it is too long to be drawn."""
    if len(text) <= longest:
        return text
    head = (longest - 1) * 2 // 3
    return f"{text[:head]}…{text[len(text) - (longest - 1 - head) :]}"


def printable(text: str) -> str:
    """The text with all that can't be seen (controls, direction marks, lone surrogates) spelled as an escape."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def html(text: str) -> str:
    """A program's text for an HTML-like label: shortened, made visible, and without markup of its own."""
    # A letter in an element of its own is not what the backslash before it escapes.
    return ESCAPE.sub(r"<FONT>\\</FONT>", "".join(HTML.get(letter, letter) for letter in printable(shortened(text))))


def quoted(text: str) -> str:
    """A DOT string that says this text and nothing else.

    A line feed becomes the escape for a centred line; every other backslash is doubled and every ampersand spelled
    out, so that no escape and no entity of Graphviz is ever read out of a program's text.
    """
    lines = (printable(line).replace("\\", "\\\\").replace('"', '\\"') for line in text.split("\n"))
    return '"' + "\\n".join(lines).replace("&", "&amp;") + '"'


def value(text: str) -> str:
    """An attribute's value as it is written: HTML between angle brackets, else quoted."""
    return f"<{text}>" if isinstance(text, html_label) else quoted(text)


def attribute_list(attributes: Attributes) -> str:
    """` [name=value, ...]`, in the order given; nothing when there are none."""
    return f" [{', '.join(f'{name}={value(text)}' for name, text in attributes.items())}]" if attributes else ""


def defaults(kind: Literal["graph", "node", "edge"], attributes: Attributes) -> str:
    """The statement that sets what every following node, edge or graph has."""
    return f"{kind}{attribute_list(attributes)};"


def node(name: str, attributes: Attributes) -> str:
    """The statement of a node."""
    return f"{quoted(name)}{attribute_list(attributes)};"


def edge(source: str, target: str, attributes: Attributes) -> str:
    """The statement of an edge."""
    return f"{quoted(source)} -> {quoted(target)}{attribute_list(attributes)};"


def block(head: str, lines: Iterable[str]) -> list[str]:
    """The lines in braces after a head: a graph, a subgraph."""
    return [f"{head} {{", *lines, "}"]


def indented(lines: Iterable[str]) -> Iterator[str]:
    """The lines of a graph, those in braces further in, but never so far that deep frames fill a file with spaces."""
    depth = 0
    for line in lines:
        depth -= line == "}"
        yield "  " * min(depth, DEEPEST) + line
        depth += line.endswith("{")
