"""What shows a picture in a terminal.

It is written to the terminal behind the screen's own painting, and again whenever that has painted over it: within a
line of the screen it would be cut as text is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from PIL.Image import Image
    from textual.color import Color


@dataclass(frozen=True)
class TerminalPicture:
    """A picture in the words of a protocol."""

    lines: tuple[str, ...]
    """What is told where each of its lines begins."""
    ahead: str = ""
    """What is told once, before."""
    behind: str = ""
    """What is told when it is not shown any more."""

    def at(self, x: int, y: int) -> str:
        """What shows it at a cell of the terminal, and leaves the cursor where it was."""
        return "\x1b7" + "".join(f"\x1b[{y + row};{x + 1}H{line}" for row, line in enumerate(self.lines, 1)) + "\x1b8"


class Show(Protocol):
    """Put a picture into the words of a protocol."""

    def __call__(self, picture: Image, columns: int, rows: int, colours: int, paper: Color) -> TerminalPicture:
        """For so many characters, of so many colours, on a paper."""
        ...
