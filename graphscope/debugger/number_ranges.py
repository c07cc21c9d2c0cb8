"""Ranges of numbers, as `pt -r` takes them, and arrays printed with the elements marked that lie in one."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from graphscope.errors import CommandError

Range = tuple[float, float]

_MARKED: Final = "«{}»"
_SHOWN: Final = 1000
"""Arrays of more elements are printed in part."""


def read(text: str) -> list[Range]:
    """The ranges of a text: `[0, 1]`, or several in a list; `inf` and `-inf` are their own words.

    Raises:
        CommandError: It says something else.
    """
    if not text:
        return []
    try:
        found = ast.literal_eval(text.replace("inf", "1e999"))
        pairs = [found] if found and not isinstance(found[0], list | tuple) else found
        return [(float(low), float(high)) for low, high in pairs]
    except (ValueError, TypeError, SyntaxError, IndexError):
        raise CommandError(f"{text!r} is no range", "-r [0,1], or several: -r [[-inf,-1],[1,inf]]") from None


def marked(array: np.ndarray, ranges: Sequence[Range], *, whole: bool = False) -> str:
    """An array as text, the elements of the ranges marked, and how many those are."""
    threshold = array.size + 1 if whole else _SHOWN

    def element(value: Any) -> str:
        text = np.format_float_positional(value, precision=8, trim="0") if array.dtype.kind == "f" else str(value)
        return _MARKED.format(text) if any(low <= value <= high for low, high in ranges) else text

    formatted = np.array2string(array, separator=", ", threshold=threshold, formatter={"all": element})
    if not ranges:
        return formatted
    inside = np.zeros(array.shape, bool)
    for low, high in ranges:
        inside |= (array >= low) & (array <= high)
    return f"{formatted}\n{np.count_nonzero(inside)} of {array.size} elements are marked"
