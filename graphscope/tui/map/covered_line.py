"""Lines that tell when they are painted: what lies over them is gone then."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rich.console import Console
from textual.strip import Strip


class CoveredLine(Strip):
    """A line with something over it. Of a screen that is painted as a whole nobody is told here."""

    def __init__(self, line: Strip, painted: Callable[[], None]) -> None:
        super().__init__(list(line), line.cell_length)
        self._painted = painted

    def divide(self, cuts: Iterable[int]) -> Sequence[Strip]:
        """Parts of it between columns."""
        return [CoveredLine(part, self._painted) for part in super().divide(cuts)]

    def crop(self, start: int, end: int | None = None) -> Strip:
        """The part of it between two columns."""
        return CoveredLine(super().crop(start, end), self._painted)

    def render(self, console: Console) -> str:
        """Paint it."""
        if self.cell_length:
            self._painted()
        return super().render(console)
