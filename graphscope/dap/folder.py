"""A folder for a log that nobody named: it outlives the program, however that ends, and goes with the adapter.

An adapter that is killed can't remove its own, so the next one does. A lock on a folder, held by adapter and program
alike, says that it is in use.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Final

PREFIX: Final = "graphscope-run-"

_YOUNG: Final = 60.0
"""Seconds in which a folder may not be locked yet."""


class Folder:
    """A folder that is there until it is removed.

    Attributes:
        path: Where it is.
        lock: The number of the open file that keeps it in use, for the program to inherit.
    """

    def __init__(self) -> None:
        remove_forgotten()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        self.lock = os.open(self.path, os.O_RDONLY)
        _locked(self.lock, shared=True)

    def remove(self) -> None:
        """Remove it, with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        with contextlib.suppress(OSError):  # removed before
            os.close(self.lock)
        self.lock = -1


def remove_forgotten() -> None:
    """Remove the folders of adapters and programs that are no more."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):  # somebody else's, or gone meanwhile
            if time.time() - path.stat().st_mtime < _YOUNG:
                continue
            found = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
            try:
                if _locked(found, shared=False):
                    shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(found)


def _locked(number: int, *, shared: bool) -> bool:
    """Lock an open file, if nobody else has; where there are no locks, nobody can tell."""
    try:
        fcntl = import_module("fcntl")
        fcntl.flock(number, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True
