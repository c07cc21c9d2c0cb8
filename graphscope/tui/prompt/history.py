"""Lines typed before, newest last: those of this session and of earlier ones."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Final

FILE: Final = ".graphscope_history"
_KEPT: Final = 1000


class History:
    """Walks up and down what was typed; a line that is being typed is kept at the end.

    Args:
        path: The file of earlier sessions; None keeps nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lines: list[str] = []
        self._place = 0
        self._typed = ""
        if path is not None:
            with contextlib.suppress(OSError, UnicodeDecodeError):
                self._lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line][-_KEPT:]
        self._place = len(self._lines)

    def add(self, line: str) -> None:
        """Remember a line."""
        if line and (not self._lines or self._lines[-1] != line):
            self._lines.append(line)
            if self._path is not None:
                with contextlib.suppress(OSError), self._path.open("a", encoding="utf-8") as file:
                    file.write(f"{line}\n")
        self._place = len(self._lines)
        self._typed = ""

    @property
    def last(self) -> str:
        """The newest line."""
        return self._lines[-1] if self._lines else ""

    def walk(self, by: int, typed: str) -> str:
        """The line so far away from where one is."""
        if self._place == len(self._lines):
            self._typed = typed
        self._place = max(0, min(self._place + by, len(self._lines)))
        return self._lines[self._place] if self._place < len(self._lines) else self._typed
