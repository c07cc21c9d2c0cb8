"""What a recorded program has printed, as far as a debugger has kept it beside the log."""

from __future__ import annotations

from pathlib import Path
from typing import Final

FILE: Final = "output.txt"
"""In the folder of the log."""

MOST: Final = 1 << 24
"""So many characters are kept."""


def printed_text(log: Path) -> str:
    """All of it; nothing where none was kept."""
    try:
        with (log / FILE).open(encoding="utf-8", errors="replace", newline="") as file:
            return file.read(2 * MOST)
    except OSError:
        return ""
