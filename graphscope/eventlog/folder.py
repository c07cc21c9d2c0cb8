"""A folder for a log that nobody named, which goes when nobody needs it any more.

A process that is killed can't remove its own, so the next one does. A lock on a folder, held by all that use it, says
that it is in use: by a program that records in memory; by the debug adapter and the program that it runs, alike.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Final

from graphscope.eventlog.descriptors import Descriptor

PREFIX: Final = "graphscope-run-"

_YOUNG: Final = 60.0
"""Seconds in which a folder may not be locked yet."""


class Folder:
    """A folder that is there until it is removed.

    Attributes:
        path: Where it is.
        lock: The open file that keeps it in use, for the program to inherit; None where there is none.
    """

    def __init__(self) -> None:
        _look_once()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        self.lock: Descriptor | None = None
        with contextlib.suppress(OSError):  # not every system opens folders
            self.lock = Descriptor(os.open(self.path, os.O_RDONLY))
            _locked(self.lock.number, shared=True)

    def remove(self) -> None:
        """Remove it, with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self.lock is not None:
            self.lock.close()


def remove_forgotten() -> None:
    """Remove the folders of processes that are no more."""
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


@cache
def _look_once() -> None:
    remove_forgotten()  # a program may record in memory ten thousand times


def _locked(number: int, *, shared: bool) -> bool:
    """Lock an open file, if nobody else has; where there are no locks, nobody can tell."""
    try:
        fcntl = import_module("fcntl")
        fcntl.flock(number, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True
