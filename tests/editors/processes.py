"""The processes that a window of the editor has started, and that have started others: those of Python."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

MARK: Final = "GRAPHSCOPE_TEST_WINDOW"
"""Bears, in the environment of all that a window starts, which window it was."""

SHORT: Final = 15.0
"""Seconds in which all that belongs to a session has to be gone with it."""


def running(window: str) -> list[str]:
    """What each Python runs that a window has started, whoever is its parent now."""
    mark, found = f"{MARK}={window}".encode(), []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (place / "environ").read_bytes().split(b"\0") and "python" in (place / "exe").readlink().name:
                found.append((place / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:  # it has ended, or is of somebody else
            continue
    return found


def check_none_left(window: str) -> None:
    """Fail unless all that a window has started ends in a short while."""
    end = time.monotonic() + SHORT
    while left := running(window):
        assert time.monotonic() < end, f"left behind: {left}"
        time.sleep(0.1)
