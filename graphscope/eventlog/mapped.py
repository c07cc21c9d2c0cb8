"""`.npy` files in mapped memory: reserved on disk when they are made, never resized."""

from __future__ import annotations

import io
import mmap
import os
from pathlib import Path

import numpy as np

_POPULATE_WRITE = 23  # MADV_POPULATE_WRITE (Linux 5.14): fault many pages at once, ten times cheaper than one by one


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
        if self.populated > begin and hasattr(self.memory, "madvise"):
            try:
                self.memory.madvise(_POPULATE_WRITE, begin, self.populated - begin)
            except OSError:  # an older kernel: the pages fault in one by one, as ever
                self.populated = self.size


def create(path: Path, dtype: np.dtype, count: int) -> MappedArray:
    """Make a `.npy` file of `count` zeroed elements, with its disk space reserved, and map it.

    Raises:
        OSError: The disk is full, or the folder can't be written.
    """
    header = io.BytesIO()
    description = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": (count,)}
    np.lib.format.write_array_header_1_0(header, description)
    start = header.tell()
    size = start + max(count * dtype.itemsize, 1)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
    try:
        os.write(file, header.getvalue())
        _reserve(file, start, size)
        return MappedArray(mmap.mmap(file, size), start, size)
    finally:
        os.close(file)


def anonymous(dtype: np.dtype, count: int) -> MappedArray:
    """The same in memory that belongs to no file: where rows go that can't be kept."""
    size = max(count * dtype.itemsize, 1)
    return MappedArray(mmap.mmap(-1, size), 0, size)


def _reserve(file: int, start: int, size: int) -> None:
    # A store into a map on a full disk is a SIGBUS, so the disk is asked first.
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, size)
        return
    os.lseek(file, start, os.SEEK_SET)
    block = bytes(1 << 20)
    for offset in range(start, size, len(block)):
        os.write(file, block[: size - offset])
