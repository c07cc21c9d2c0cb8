"""Lines of text with a meaning, of which reports are made: terminal, console and notebook dress them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal, NamedTuple

Meaning = Literal["text", "error", "warning", "source", "remark"]

WIDTH: Final = 80
"""So many columns, where nobody says how many there are."""

_STYLES: Final = {
    "error": "color: #c62828; font-weight: bold",
    "warning": "color: #a15c00; font-weight: bold",
    "source": "color: #1565c0",
    "remark": "opacity: 0.7",
}


class Line(NamedTuple):
    """One line; texts of programs in it are as they are."""

    text: str
    meaning: Meaning = "text"


def html_of(lines: Iterable[Line]) -> str:
    """Lines as a notebook shows them."""
    from html import escape  # it brings a table of all entities

    spans = (f'<span style="{_STYLES.get(line.meaning, "")}">{escape(line.text)}</span>' for line in lines)
    return "<pre>" + "\n".join(spans) + "</pre>"


def wrapped(text: str, width: int, indent: str) -> list[str]:
    """A text as lines of so many columns; those behind the first are indented by two more."""
    return textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False)


def counted(number: int, word: str) -> str:
    """`1 event`, `2,000 events`."""
    return f"{number:,} {word}{'s' * (number != 1)}"


def path_from_here(path: str, line: int) -> str:
    """A file and line, as one opens them from the current folder."""
    file = Path(path)
    here = Path.cwd()
    return f"{file.relative_to(here)}:{line}" if file.is_relative_to(here) else f"{file}:{line}"
