"""Where the arrays of a log lie: in a folder, or stored in one zip file. Both are mapped, not read."""

from __future__ import annotations

import io
import mmap
import struct
import zipfile
from pathlib import Path
from typing import Protocol

import numpy as np

from graphscope.errors import LogError


class LogFiles(Protocol):
    """The files of a log by name, such as `segments/000000000000/events.npy`."""

    path: Path

    def segments(self) -> list[tuple[int, str]]:
        """First row and folder of each segment, in order."""

    def exists(self, name: str) -> bool:
        """Whether there is such a file."""

    def text(self, name: str) -> str:
        """The text of a small file."""

    def array(self, name: str, dtype: np.dtype) -> np.ndarray:
        """The array of a `.npy` file, mapped read-only; shorter when the file was cut, empty when it is gone."""


class FolderFiles:
    """A log as it was recorded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def segments(self) -> list[tuple[int, str]]:
        try:
            names = [entry.name for entry in (self.path / "segments").iterdir()]
        except OSError:
            names = []
        return _segments(names)

    def exists(self, name: str) -> bool:
        return (self.path / name).is_file()

    def text(self, name: str) -> str:
        return (self.path / name).read_text(encoding="utf-8")

    def array(self, name: str, dtype: np.dtype) -> np.ndarray:
        try:
            with (self.path / name).open("rb") as file:
                memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError):  # gone, or empty
            return np.zeros(0, dtype)
        return _array(memory, 0, len(memory), dtype)


class ZipFiles:
    """A packed log: every file is stored without compression, so that it can be mapped where it lies."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                self._memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            with zipfile.ZipFile(path) as archive:
                self._members = {member.filename: member for member in archive.infolist()}
        except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError) as error:
            raise LogError(f"{path} is no packed log: {error}", hint="pack one: graphscope pack LOG") from error

    def segments(self) -> list[tuple[int, str]]:
        parts = [name.split("/") for name in self._members]
        return _segments({part[1] for part in parts if len(part) == 3 and part[0] == "segments"})

    def exists(self, name: str) -> bool:
        return name in self._members

    def text(self, name: str) -> str:
        start, size = self._extent(name)
        return self._memory[start : start + size].decode("utf-8")

    def array(self, name: str, dtype: np.dtype) -> np.ndarray:
        if name not in self._members:
            return np.zeros(0, dtype)
        try:
            start, size = self._extent(name)
        except (OSError, struct.error):
            return np.zeros(0, dtype)
        return _array(self._memory, start, size, dtype)

    def _extent(self, name: str) -> tuple[int, int]:
        member = self._members[name]
        if member.compress_type != zipfile.ZIP_STORED:
            raise OSError(f"{name} is compressed")
        name_length, extra_length = struct.unpack_from("<HH", self._memory, member.header_offset + 26)
        start = member.header_offset + 30 + name_length + extra_length
        return start, max(min(member.file_size, len(self._memory) - start), 0)


def _segments(names: object) -> list[tuple[int, str]]:
    found = [name for name in names if len(name) == 12 and name.isascii() and name.isdecimal()]  # type: ignore[attr-defined]
    return [(int(name), f"segments/{name}") for name in sorted(found)]


def _array(memory: mmap.mmap, offset: int, size: int, dtype: np.dtype) -> np.ndarray:
    """The elements behind a `.npy` header that are really there; nothing when the header is damaged or of another kind."""
    head = io.BytesIO(memory[offset : offset + min(size, 1024)])
    try:
        if np.lib.format.read_magic(head) != (1, 0):
            return np.zeros(0, dtype)
        shape, fortran, described = np.lib.format.read_array_header_1_0(head, max_header_size=1024)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return np.zeros(0, dtype)
    if described != dtype or fortran or len(shape) != 1 or shape[0] < 0:
        return np.zeros(0, dtype)
    count = min(shape[0], (size - head.tell()) // dtype.itemsize)
    if count <= 0:
        return np.zeros(0, dtype)
    return np.frombuffer(memory, dtype, count, offset + head.tell())
