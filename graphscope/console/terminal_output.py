"""Text for a terminal: control characters of programs and logs made visible, colour, and lines cut to the width."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TextIO

STYLES: Final[Mapping[str, str]] = {
    "": "",
    "stop": "1",
    "source": "36",
    "current": "1;33",
    "error": "31",
    "dim": "2",
}
"""Colours by what they are for, as parameters of the escape sequence SGR."""

_TAB = 4
_LEAST = 20


@dataclass(frozen=True, slots=True)
class Line:
    """One line of output, in one style. A line that may be cut ends in `…` where the terminal does."""

    text: str
    style: str = ""
    cut: bool = False


def escape(text: str) -> str:
    """Text in which every character that does not print is written as its escape sequence; tabs become blanks."""
    spread = text.expandtabs(_TAB)
    if spread.isprintable():
        return spread
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in spread)


def lines(text: str, style: str = "") -> list[Line]:
    """The lines of a text."""
    return [Line(line, style) for line in text.split("\n")]


class Output:
    """Writes lines to a stream: with colour on a terminal (unless NO_COLOR is set), cut to its width if they may be.

    Args:
        stream: Where to write.
        width: Columns; None asks the terminal, and a stream that is none has no end.
    """

    def __init__(self, stream: TextIO, width: int | None = None) -> None:
        self._stream = stream
        self._terminal = stream.isatty()
        self._width = width
        self._colour = self._terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    @property
    def width(self) -> int | None:
        """Columns, or None where lines may be as long as they like."""
        if self._width is not None:
            return self._width
        return max(shutil.get_terminal_size().columns, _LEAST) if self._terminal else None

    def abandon(self) -> None:
        """Nobody reads any more: what is still in the buffer must not raise again, here or when Python ends."""
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)

    def write(self, found: Iterable[Line]) -> None:
        """Write lines."""
        width = self.width
        for line in found:
            text = escape(line.text)
            if line.cut and width is not None and len(text) > width:
                text = text[: width - 1] + "…"
            encoding = self._stream.encoding or "utf-8"
            text = text.encode(encoding, "backslashreplace").decode(encoding)
            code = STYLES[line.style] if self._colour else ""
            self._stream.write(f"\x1b[{code}m{text}\x1b[0m\n" if code else f"{text}\n")
        self._stream.flush()
