"""Who records into a folder: one live process at a time, told by a lock that dies with its holder."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

from graphscope.errors import LogError

_NAME = "owner.lock"

try:
    fcntl: Any = importlib.import_module("fcntl")
except ImportError:  # Windows: a folder whose files are open can't be renamed there, which is guard enough
    fcntl = None


class Owner:
    """A held lock; released when the recording is closed, or by the system when the process dies."""

    def __init__(self, file: int) -> None:
        self._file = file

    def release(self) -> None:
        """Let others record here. In a forked child: leave the lock to the parent."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)


def claim(path: Path) -> Owner:
    """Take the lock of a log's folder.

    Raises:
        LogError: Another process records into it.
    """
    file = os.open(path / _NAME, os.O_RDWR | os.O_CREAT, 0o644)
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            raise LogError(f"{path} is being recorded by another process", hint="record to another --log") from None
        except OSError:  # a file system without locks: nothing guards the log there
            pass
    return Owner(file)


def is_live(path: Path) -> bool:
    """Whether some process is recording into the folder now."""
    if fcntl is None:
        return False
    try:
        file = os.open(path / _NAME, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(file)
    return False
