"""What a program prints, kept beside its log."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Final

from graphscope.debugger.printed_text import FILE, MOST

_CUT: Final = "\n(more was printed, and is not kept)\n"


class Transcript:
    """Appends to a file in the folder of a log, up to a size."""

    def __init__(self, log: Path) -> None:
        self._file = log / FILE
        self._room = MOST

    def add(self, text: str) -> None:
        """Keep what was printed."""
        if self._room <= 0:
            return
        kept = text[: self._room]
        self._room -= len(kept)
        with contextlib.suppress(OSError), self._file.open("a", encoding="utf-8", newline="") as file:
            file.write(kept if self._room > 0 else kept + _CUT)
