"""Who records into a folder: one live process at a time, told by a lock that dies with its holder."""

from __future__ import annotations

import os
from pathlib import Path

from graphscope.errors import LogError

try:
    import fcntl
except ImportError:  # Windows: an open file can't be removed there, which is guard enough
    fcntl = None  # type: ignore[assignment]

_NAME = "owner.lock"


class Owner:
    """A held lock; released when the recording is closed, or by the system when the process dies."""

    def __init__(self, file: int) -> None:
        self._file = file

    def release(self) -> None:
        """Let others record here."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def claim(path: Path) -> Owner:
    """Take the lock of a log's folder.

    Raises:
        LogError: Another process records into it.
    """
    file = os.open(path / _NAME, os.O_RDWR | os.O_CREAT, 0o644)
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
            raise LogError(f"{path} is being recorded by another process", hint="record to another --log") from None
    return Owner(file)


def is_live(path: Path) -> bool:
    """Whether some process is recording into the folder now."""
    if fcntl is None:
        return False
    try:
        file = os.open(path / _NAME, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    except OSError:
        return True
    finally:
        os.close(file)
