"""Text of programs and logs made fit for terminals: what does not print is written as its escape."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_TAB = 4


def escape(text: str) -> str:
    """Text in which every character that does not print is written as its escape sequence; tabs become blanks."""
    spread = text.expandtabs(_TAB)
    if spread.isprintable():
        return spread
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in spread)


def width_of(text: str) -> int:
    """So many cells of a terminal a text takes."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def fit(text: str, width: int) -> str:
    """A text, cut with an ellipsis where it takes more cells."""
    if width_of(text) <= width:
        return text
    kept, room = [], width - 1
    for one in text:
        room -= _cells(one)
        if room < 0:
            break
        kept.append(one)
    return "".join(kept) + "…" if width > 0 else ""


def fill(text: str, width: int) -> str:
    """A text in exactly so many cells: cut, or filled up with blanks."""
    shown = fit(text, width)
    return shown + " " * (width - width_of(shown))


@lru_cache(maxsize=1 << 12)
def _cells(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
