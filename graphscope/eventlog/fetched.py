"""A file that lies elsewhere, by fsspec: the stretches of it that are looked at are fetched, once, and mapped."""

from __future__ import annotations

import io
import mmap
import os
import tempfile
import threading
import weakref
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np

from graphscope.errors import LogError

BLOCK: Final = 1 << 17
"""So many bytes are fetched at least."""


class FetchedFile:
    """What was fetched lies in a sparse file of this machine that has no name, and goes with the process.

    It is written through the file and read in the map: a disk that gets full is an error of the one, not of the other.

    Attributes:
        path: The URL.
        memory: The file; zero where nothing was asked for yet.
        fetched: So many bytes have come.

    Raises:
        LogError: There is nothing at the URL, it can't be read, or fsspec is not installed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._url = url = str(path)
        try:
            self._store, self._name = import_module("fsspec.core").url_to_fs(url)
            size = self._store.info(self._name)["size"]
        except ImportError as error:
            raise LogError(
                f"{url} can't be read: {error}",
                hint="pip install 'graphscope-debugger[remote]', and what the store needs besides, as s3fs or gcsfs",
            ) from error
        except FileNotFoundError as error:
            cause = error.__cause__
            if isinstance(cause, Exception) and _is_refused(cause):
                raise self._unreadable(cause) from error
            reason = "" if error.__cause__ is None else f" ({type(error.__cause__).__name__}: {error.__cause__})"
            raise LogError(f"there is nothing at {url}{reason}", hint="pack a log, and put the file there") from error
        except Exception as error:  # each store has errors of its own
            raise self._unreadable(error) from error
        if not isinstance(size, int):
            raise LogError(f"{url} is no file, or its store does not tell how large it is", hint="name a packed log")
        self._file = tempfile.TemporaryFile(prefix="graphscope-")  # noqa: SIM115 - as long as this is
        weakref.finalize(self, self._file.close)
        self._file.truncate(max(size, 1))
        self.memory = mmap.mmap(self._file.fileno(), max(size, 1), access=mmap.ACCESS_READ)
        self._size = size
        self._here = np.zeros(-(-size // BLOCK), bool)
        self._lock = threading.Lock()
        self.fetched = 0

    def need(self, starts: Any, size: Any) -> None:
        """Fetch what is not there yet of some stretches.

        Args:
            starts: Where they begin, one or many.
            size: The bytes of each.

        Raises:
            LogError: The store does not answer.
        """
        first, last = np.atleast_1d(starts) // BLOCK, (np.atleast_1d(starts) + np.maximum(size, 1) - 1) // BLOCK
        begun = np.bincount(np.minimum(first, len(self._here)), minlength=len(self._here) + 1)
        ended = np.bincount(np.minimum(last + 1, len(self._here)), minlength=len(self._here) + 1)
        with self._lock:
            missing = (np.cumsum(begun - ended)[:-1] > 0) & ~self._here
            if not missing.any():
                return
            change = np.flatnonzero(np.diff(np.concatenate([[False], missing, [False]]).astype(np.int8)))
            self._fetch(change[::2] * BLOCK, np.minimum(change[1::2] * BLOCK, self._size))
            self._here |= missing

    def _fetch(self, starts: np.ndarray, stops: np.ndarray) -> None:
        begins, ends = starts.tolist(), stops.tolist()
        try:
            parts = self._store.cat_ranges([self._name] * len(begins), begins, ends, on_error="raise")
        except Exception as error:
            raise self._unreadable(error) from error
        for begin, end, part in zip(begins, ends, parts, strict=True):
            if len(part) != end - begin:
                raise LogError(
                    f"the store of {self._url} gave {len(part):,} bytes where {end - begin:,} were asked for",
                    hint="it gives whole files only, or the file was changed: fetch it, and name the file",
                )
            self._write(part, begin)
            self.fetched += len(part)

    def _write(self, part: bytes, begin: int) -> None:
        try:
            self._file.seek(begin)
            self._file.write(part)
            self._file.flush()
        except OSError as error:
            raise LogError(
                f"there is no room for what is fetched of {self._url}: {error.strerror or error}",
                hint="name a folder with room by TMPDIR",
            ) from error

    def _unreadable(self, error: Exception) -> LogError:
        told = next(iter(str(error).splitlines()), "")
        return LogError(f"{self._url} can't be read: {type(error).__name__}{told and ': '}{told}",
                        hint="see that the store is there, and that you may read it")  # fmt: skip

    def open(self) -> BinaryIO:
        """It as a file, to read."""
        return io.BufferedReader(_Reading(self))

    def is_cut(self) -> bool:
        """Whether what was mapped is there no more; of what was fetched that can't be."""
        return False

    @property
    def size(self) -> int:
        return self._size


class _Reading(io.RawIOBase):
    """A fetched file, read from some place on."""

    def __init__(self, file: FetchedFile) -> None:
        self._file = file
        self._place = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._place = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._file.size}[whence]
        return self._place

    def tell(self) -> int:
        return self._place

    def readinto(self, buffer: Any) -> int:
        room = memoryview(buffer).cast("B")
        count = max(min(len(room), self._file.size - self._place), 0)
        if count:
            self._file.need(self._place, count)
            room[:count] = self._file.memory[self._place : self._place + count]
            self._place += count
        return count


def _is_refused(cause: Exception) -> bool:
    """Whether a store that says that there is nothing was not reached, or does not let one look."""
    return isinstance(cause, OSError) or getattr(cause, "status", _NOT_FOUND) not in (_NOT_FOUND, _GONE)


_NOT_FOUND: Final = 404
_GONE: Final = 410
