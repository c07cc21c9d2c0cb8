"""Lines on a terminal: with colour where there is one."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable, Mapping
from typing import Final, TextIO

from graphscope.debugger.result_lines import Line, Meaning

STYLES: Final[Mapping[Meaning, str]] = {
    "text": "",
    "position": "1",
    "source": "36",
    "current": "1;33",
    "error": "31",
    "remark": "2",
}
"""Colours by what they are for, as parameters of the escape sequence SGR."""

_LEAST = 20


class Output:
    """Writes lines to a stream: with colour on a terminal, unless NO_COLOR is set.

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
        encoding = self._stream.encoding or "utf-8"
        for line in found:
            text = line.text.encode(encoding, "backslashreplace").decode(encoding)
            code = STYLES[line.meaning] if self._colour else ""
            self._stream.write(f"\x1b[{code}m{text}\x1b[0m\n" if code else f"{text}\n")
        self._stream.flush()
