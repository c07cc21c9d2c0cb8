"""Lines of programs that ran in ranks."""

from __future__ import annotations

from typing import Final

Place = tuple[str, int]
"""File and line; empty and 0 where that is not known."""

NOWHERE: Final[Place] = ("", 0)
