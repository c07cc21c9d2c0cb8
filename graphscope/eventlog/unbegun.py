"""A log of which there is no more than its folder: whoever made it was killed, or has not come farther yet."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from graphscope.eventlog import ownership

_ABOUT: Final = "log.json"
PARTS: Final = frozenset((ownership.NAME, "tables", "segments", f"{_ABOUT}.new"))
"""What is made ahead of `log.json`."""


def is_unbegun(folder: Path) -> bool:
    """Whether a folder is that of a log that has no row yet, and no word about itself."""
    return (folder / ownership.NAME).is_file() and not (folder / _ABOUT).exists()


def what_it_is(folder: Path) -> str:
    """What to call such a log in a sentence."""
    if ownership.is_live(folder):
        return f"{folder} is a recording that is beginning just now: it has no row yet"
    return f"{folder} is a recording that was killed before its first row was written"
