"""The texts of a page, each written once and named by its number."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from graphscope.exporters.dot_syntax import printable, shortened

__all__ = ["Strings"]


LONGEST: Final = 400
"""Of a longer text of a program the beginning and the end are told."""


class Strings:
    """A table that grows as texts are asked for; number 0 is the empty text. What can't be seen is spelled out."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {"": 0}

    def number(self, text: str) -> int:
        """The number of a text."""
        return self._numbers.setdefault(printable(shortened(text, LONGEST)), len(self._numbers))

    def numbers(self, texts: Iterable[str]) -> list[int]:
        """The numbers of some texts."""
        return [self.number(text) for text in texts]

    def all(self) -> list[str]:
        """Every text, in the order of the numbers."""
        return [*self._numbers]
