"""Blocks of source text by their indentation: a function, or a statement of a module."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_DEF: Final = re.compile(r"(async\s+)?def\b")
_GOES_ON: Final = re.compile(r"[#)\]}]|(else|elif|except|finally)\b")
"""How lines begin that no statement begins with."""


def function_block(lines: Sequence[str], first: int) -> Sequence[str] | None:
    """The lines of a function.

    Args:
        lines: Those of its file.
        first: The number of its first one, that of a decorator if there is one.

    Returns:
        As far as can be told by indentation, which strings of several lines may mislead; None where none begins there.
    """
    head = lines[first - 1].strip() if 0 < first <= len(lines) else ""
    if not head.startswith("@") and not _DEF.match(head):
        return None
    found = lines[first - 1 : first - 1 + _MANY]
    stop = _stop_of_function(found)
    if stop == _MANY:
        found = lines[first - 1 :]
        stop = _stop_of_function(found)
    return found[:stop]


def _stop_of_function(lines: Sequence[str]) -> int:
    """How many of the lines from its first one on are of a function; all where none behind it is there."""
    depth, begun = _depth(lines[0]), False
    for place, line in enumerate(lines):
        text = line.strip()
        if begun and text and text[0] not in "#)]}" and _depth(line) <= depth:
            return place
        begun = begun or _DEF.match(text) is not None
    return len(lines)


_MANY: Final = 64
"""So many lines are looked at before all of a file are."""


def statement_block(lines: Sequence[str], line: int) -> tuple[int, Sequence[str]]:
    """The lines of the statement of a module around a line, and the number of the first; told in the same way."""
    first = next((place for place in range(min(line, len(lines)) - 1, -1, -1) if _begins(lines[place])), 0)
    stop = next((place for place in range(first + 1, len(lines)) if _begins(lines[place])), len(lines))
    return first + 1, lines[first:stop]


def _begins(line: str) -> bool:
    return bool(line.strip()) and _depth(line) == 0 and _GOES_ON.match(line) is None


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())
