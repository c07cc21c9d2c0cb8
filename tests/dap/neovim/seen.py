"""What a person sees in the course of a job, whoever shows it: an editor, or what the adapter says to one."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

Values = dict[str, dict[str, str]]
"""Variables by their names, by the names of their scopes."""


@dataclass
class Stop:
    """Where one stands, and what is shown there."""

    file: str
    line: int
    values: Values
    diagnostics: list[str] = field(default_factory=list)

    @property
    def gradient(self) -> list[float]:
        """The gradient at the line."""
        return numbers(self.values["Gradient"]["grad"])

    def local(self, name: str) -> list[float]:
        """What stands in the text behind a variable."""
        return numbers(self.values["Locals"][name])


@dataclass
class Seen:
    """What is seen from the beginning to the end."""

    stops: list[Stop] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    """What was told when one asked: under the mouse, or at the console."""
    printed: str = ""
    complaints: list[str] = field(default_factory=list)
    """What the editor held to be wrong."""

    @property
    def lines(self) -> list[int]:
        """Where one stood, in order."""
        return [stop.line for stop in self.stops]


def numbers(text: str) -> list[float]:
    """The elements of a tensor in its text: `float32 2 [1., nan]`, or the number that it is."""
    found = re.search(r"\[([^\[\]]*)\]", text)
    return [float(word) for word in re.split(r"[,\s]+", text if found is None else found[1])]
