"""Who records into a folder: one live process at a time, known by a lock that dies with its holder."""

from __future__ import annotations

import contextlib
import errno
import importlib
import json
import os
import shutil
from pathlib import Path
from typing import Any, Final

from graphscope.eventlog.descriptors import Descriptor

NAME: Final = "owner.lock"

try:
    fcntl: Any = importlib.import_module("fcntl")
except ImportError:  # Windows: a folder whose files are open can't be renamed there, which is guard enough
    fcntl = None

_TAKEN: Final = (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR)


class Owner:
    """A held lock; released when the recording is closed, or by the system when the process dies."""

    def __init__(self, folder: Path, lock: Descriptor) -> None:
        self._folder = folder
        self._lock = lock

    def renew(self) -> None:
        """See that the folder is still ours, and take the lock again if the program has closed it.

        Raises:
            OSError: Another folder, or none, is there now.
        """
        if not self._lock.is_at(self._folder / NAME):
            raise OSError(errno.ESTALE, "another log is in its place")
        if not self._lock.is_unchanged:
            self._lock = _locked(self._folder)

    def release(self) -> None:
        """Let others record here. In a forked child: leave the lock to the parent."""
        self._lock.close()


def found(path: Path) -> Owner:
    """Make the folder of a log. It is locked before it has its name, so that one of several processes has it.

    Raises:
        FileExistsError: Something has that name.
        OSError: It can't be made.
    """
    # Processes of several machines may have one number.
    unnamed = path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}")
    unnamed.mkdir(parents=True)
    lock: Descriptor | None = None
    try:
        if fcntl is not None:  # elsewhere a folder with an open file has its name for good
            lock = _locked(unnamed)
        unnamed.rename(path)
    except BaseException as error:  # Ctrl-C too
        if lock is not None:
            lock.close()
        shutil.rmtree(unnamed, ignore_errors=True)
        if isinstance(error, OSError) and error.errno in _TAKEN:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from error
        raise
    return Owner(path, lock or _locked(path))


def is_live(path: Path) -> bool:
    """Whether some process is recording into the folder now, as far as can be told."""
    return _is_locked(path) is True


def may_be_live(path: Path) -> bool:
    """The same; where a file system has no locks, a recording that is not finished may go on."""
    locked = _is_locked(path)
    return not _is_finished(path) if locked is None else locked


def _is_locked(path: Path) -> bool | None:
    """None: nobody can tell."""
    if fcntl is None:
        return False
    try:
        file = os.open(path / NAME, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return None
    finally:
        os.close(file)
    return False


def _is_finished(path: Path) -> bool:
    with contextlib.suppress(OSError, ValueError):
        about = json.loads((path / "log.json").read_text(encoding="utf-8"))
        return isinstance(about, dict) and about.get("finished") is not None
    return False


def _locked(folder: Path) -> Descriptor:
    lock = Descriptor(os.open(folder / NAME, os.O_RDWR | os.O_CREAT, 0o644))
    if fcntl is not None:
        with contextlib.suppress(OSError):  # a file system without locks: nothing guards the log there
            fcntl.flock(lock.number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return lock
