"""`.npy` files in mapped memory: reserved on disk when they are made, never resized."""

from __future__ import annotations

import errno
import io
import mmap
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from graphscope.eventlog.appender import lay
from graphscope.eventlog.interruptions import own

_POPULATE_WRITE = 23  # MADV_POPULATE_WRITE (Linux 5.14): fault many pages at once, ten times cheaper than one by one
_BINARY: Final = getattr(os, "O_BINARY", 0)  # Windows would write other line ends
_OPTIONS: Final[dict[str, Any]] = {"trackfd": False} if sys.version_info >= (3, 13) and os.name == "posix" else {}
_UNSUPPORTED: Final = (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS)


class MappedArray:
    """One array of a log, writable through `memory`; its first element lies at byte `start`."""

    __slots__ = ("memory", "populated", "size", "start")

    def __init__(self, memory: mmap.mmap, start: int, size: int) -> None:
        self.memory = memory
        self.start = start
        self.size = size
        self.populated = 0

    def populate(self, position: int, step: int) -> None:
        """Fault in the pages of `step` bytes from `position` on, where the system can do that in one call."""
        begin = position & -mmap.PAGESIZE
        self.populated = min(position + step, self.size)
        if self.populated > begin and sys.platform == "linux":
            try:
                self.memory.madvise(_POPULATE_WRITE, begin, self.populated - begin)
            except own(OSError):  # an older kernel: the pages fault in one by one, as ever
                self.populated = self.size


def reserve(path: Path, dtype: np.dtype, count: int) -> None:
    """Make a `.npy` file of `count` zeroed elements, with its disk space reserved.

    Raises:
        OSError: The disk is full, or the folder can't be written; then there is no file.
    """
    header = _header(dtype, count)
    size = len(header) + max(count * dtype.itemsize, 1)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY, 0o644)
    try:
        try:
            _write(file, header)
            _fill(file, len(header), size)
        finally:
            os.close(file)
    except BaseException:  # Ctrl-C too
        path.unlink(missing_ok=True)
        raise


def reserve_ends(path: Path, dtype: np.dtype, count: int, room: int) -> None:
    """Make such a file of which no more than `room` bytes at its begin, and as many at its end, have disk space.

    Raises:
        OSError: As of `reserve`; or the system can't do that.
    """
    if not hasattr(os, "posix_fallocate"):
        raise OSError(errno.ENOTSUP, "no part of a file can be reserved")
    header = _header(dtype, count)
    size = len(header) + count * dtype.itemsize
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY, 0o644)
    try:
        try:
            _write(file, header)
            os.ftruncate(file, size)
            for start in (0, size - room):
                os.posix_fallocate(file, start, room)
        finally:
            os.close(file)
    except BaseException:  # Ctrl-C too
        path.unlink(missing_ok=True)
        raise


def reserve_part(path: Path, start: int, stop: int) -> None:
    """Reserve disk space for the bytes from `start` to `stop` of a file that `reserve_ends` made; their content stays.

    Raises:
        OSError: The disk is full, or the file is gone.
    """
    file = os.open(path, os.O_RDWR | _BINARY)
    try:
        os.posix_fallocate(file, start, stop - start)
    finally:
        os.close(file)


def has_length(path: Path, dtype: np.dtype, count: int) -> bool:
    """Whether a file that `reserve` made was made for so many elements."""
    return path.stat().st_size == len(_header(dtype, count)) + max(count * dtype.itemsize, 1)


def open_mapped(path: Path, dtype: np.dtype, count: int) -> MappedArray:
    """Map a file that `reserve` made.

    Raises:
        OSError: It is gone, or the system has no room for the map.
    """
    start = len(_header(dtype, count))
    size = start + max(count * dtype.itemsize, 1)
    file = os.open(path, os.O_RDWR | _BINARY)
    try:
        memory = _map(file, size, mmap.ACCESS_WRITE)
        if hasattr(mmap, "MADV_RANDOM"):  # else the first touch reads ahead: megabytes of what was never written
            memory.madvise(mmap.MADV_RANDOM)
        return MappedArray(memory, start, size)
    except own(OSError) as error:
        if error.errno == errno.ENODEV:
            raise OSError(errno.ENODEV, "the file system there maps no files that are written to") from error
        raise
    finally:
        os.close(file)


def map_for_reading(path: Path) -> mmap.mmap:
    """Map a whole file read-only.

    Raises:
        OSError: It can't be opened.
        ValueError: It is empty.
    """
    file = os.open(path, os.O_RDONLY | _BINARY)
    try:
        return _map(file, os.fstat(file).st_size, mmap.ACCESS_READ)
    finally:
        os.close(file)


def release(array: np.ndarray) -> None:
    """Let the system take back the pages of a mapped array that were looked at; they come back when they are needed."""
    memory = getattr(array.base, "obj", None)
    if isinstance(memory, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        memory.madvise(mmap.MADV_DONTNEED)


def anonymous(dtype: np.dtype, count: int) -> MappedArray:
    """The same in memory that belongs to no file: where rows go that can't be kept."""
    size = max(count * dtype.itemsize, 1)
    return MappedArray(mmap.mmap(-1, size), 0, size)


def _map(file: int, size: int, access: int) -> mmap.mmap:
    """Map a file, where that can be without a descriptor of it: the program may close that, and use its number."""
    if lay is None or _OPTIONS:
        return mmap.mmap(file, size, access=access, **_OPTIONS)
    if size == 0:
        raise ValueError("an empty file")
    memory = mmap.mmap(-1, size, access=access)
    lay(memory, file)
    return memory


@cache
def _header(dtype: np.dtype, count: int) -> bytes:
    header = io.BytesIO()
    description = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": (count,)}
    np.lib.format.write_array_header_1_0(header, description)
    return header.getvalue()


def _fill(file: int, start: int, size: int) -> None:
    # A store into a map on a full disk is a SIGBUS, so the disk is asked first.
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(file, 0, size)
            return
        except own(OSError) as error:
            if error.errno not in _UNSUPPORTED:
                raise
    block = bytes(min(size - start, 1 << 20))
    for offset in range(start, size, len(block)):
        _write(file, block[: size - offset])


def _write(file: int, content: bytes) -> None:
    view = memoryview(content)
    while view:  # a disk that gets full takes a part first
        view = view[os.write(file, view) :]
