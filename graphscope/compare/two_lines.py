"""The lines of two programs, one above the other, and what of them differs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

from graphscope.diagnose.text_lines import Line, path_from_here

if TYPE_CHECKING:
    from graphscope.compare.difference import Side

_LEAST: Final = 40
"""A line of source is given so many columns at least; where its place leaves less, it stands beneath that."""
_ALIKE: Final = 0.6
"""Of two lines that share so many of their words, what differs is marked."""
_NOTHING: Final = "(nothing belongs to it)"
_UNKNOWN: Final = "(the source is not known)"


def two_lines(a: Side | None, b: Side | None, width: int, indent: str) -> Iterator[Line]:
    """Both lines with their places, for so many columns."""
    sides = (a, b)
    places = ["" if side is None or not side.file else path_from_here(side.file, side.line) for side in sides]
    texts = [_NOTHING if side is None else " ".join(side.source.split()) or _UNKNOWN for side in sides]
    ahead = max(map(len, places))
    beneath = width - len(indent) - ahead - len("a   | ") < _LEAST
    marks = _marks(*texts) if None not in sides else ["", ""]
    for name, place, text, mark in zip("ab", places, texts, marks, strict=True):
        if beneath and place:
            yield Line(f"{indent}{name}  {place}")
            yield from _folded(f"{indent}   ", text, mark, width)
        else:
            yield from _folded(f"{indent}{name}  {place:{0 if beneath else ahead}} | ", text, mark, width)


def _marks(a: str, b: str) -> list[str]:
    """Beneath one of two lines that are much alike, what it has of its own: beneath `b`, unless it has nothing."""
    words: list[list[str]] = [re.findall(r"\w+", text) for text in (a, b)]
    if a == b or SequenceMatcher(None, words[0], words[1], autojunk=False).ratio() < _ALIKE:
        return ["", ""]
    pieces: list[list[str]] = [re.findall(r"\w+|\s+|.", text) for text in (a, b)]
    marks = ["", ""]
    for tag, *bounds in SequenceMatcher(None, pieces[0], pieces[1], autojunk=False).get_opcodes():
        for side, (begin, end) in enumerate((bounds[:2], bounds[2:])):
            marks[side] += (" " if tag == "equal" else "^") * len("".join(pieces[side][begin:end]))
    return ["", marks[1]] if "^" in marks[1] else [marks[0], ""]


def _folded(ahead: str, text: str, mark: str, width: int) -> Iterator[Line]:
    """A line in as many as it needs, folded at blanks where there are some."""
    room = max(width - len(ahead), 10)
    begin = 0
    while begin < len(text):
        end = begin + room
        if end < len(text):
            blank = text.rfind(" ", begin + room // 2, end)
            end = blank + 1 if blank >= 0 else end
        yield Line((ahead + text[begin:end]).rstrip(), "source")
        ahead = " " * len(ahead)
        if "^" in (beneath := mark[begin:end]):
            yield Line(ahead + beneath.rstrip(), "source")
        begin = end
