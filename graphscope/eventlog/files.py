"""Where the arrays of a log lie: in a folder, or stored in one zip file. Both are mapped, not read."""

from __future__ import annotations

import os
import re
import stat
import struct
import sys
import zipfile
from collections.abc import Callable, Iterable
from functools import cache
from mmap import mmap
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol

import numpy as np

from graphscope.errors import LogError
from graphscope.eventlog import schema
from graphscope.eventlog.mapped import map_for_reading
from graphscope.eventlog.segment_values import SegmentValues

_TEXT_LIMIT: Final = 1 << 24
"""No text file of a log is larger than this; what is larger is not ours."""

_HEAD: Final = 1024
"""The header of an array is shorter."""

_MAGIC: Final = b"\x93NUMPY\x01\x00"
_HEADER: Final = re.compile(rb"\{'descr': (.+), 'fortran_order': False, 'shape': \((\d{1,18}),\), \} *\n")
_ZIP_ERRORS: Final = (
    OSError,
    ValueError,
    zipfile.BadZipFile,
    NotImplementedError,
    struct.error,
    EOFError,
    LookupError,
    OverflowError,
    RuntimeError,
)


class LogFiles(Protocol):
    """The files of a log by name, such as `segments/000000000000/events.npy`."""

    path: Path

    def segments(self) -> list[tuple[int, str]]:
        """First row and folder of each segment, in order."""

    def exists(self, name: str) -> bool:
        """Whether there is such a file."""

    def text(self, name: str) -> str:
        """The text of a small file.

        Raises:
            OSError: It can't be read.
            ValueError: It is no text, or too large.
        """

    def array(self, name: str, dtype: np.dtype) -> np.ndarray:
        """The array of a `.npy` file, mapped read-only; shorter when the file was cut, empty when it is gone."""

    def is_short(self, name: str, dtype: np.dtype) -> bool:
        """Whether a file has fewer elements of its array than it was made for, or has lost its header."""

    def values(self, folder: str) -> SegmentValues:
        """The values of a segment; none when they are gone."""

    def disk_bytes(self) -> int:
        """What it takes where it lies."""

    def is_cut(self) -> bool:
        """Whether a file is shorter by now than what was mapped of it."""

    def close(self) -> None:
        """Map nothing more: what lies there by now is no part of the log."""


class FolderFiles:
    """A log as it was recorded."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._mapped: dict[Path, tuple[int, int]] = {}
        """Which file each was that is mapped, and how long."""
        self._closed = False

    def segments(self) -> list[tuple[int, str]]:
        try:
            names = [entry.name for entry in (self.path / "segments").iterdir()]
        except OSError:
            names = []
        return _segments(names)

    def exists(self, name: str) -> bool:
        return (self.path / name).is_file()

    def text(self, name: str) -> str:
        path = self.path / name
        found = path.stat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > _TEXT_LIMIT:  # a pipe would have us wait for ever
            raise ValueError(f"{name} is no file, or too large")
        return path.read_text(encoding="utf-8")

    def array(self, name: str, dtype: np.dtype) -> np.ndarray:
        path = self.path / name
        try:
            memory = map_for_reading(path) if path.is_file() and not self._closed else None
        except (OSError, ValueError):  # gone meanwhile, or empty
            memory = None
        if memory is None:
            return np.zeros(0, dtype)
        self._mapped[path] = _number_of(path), len(memory)
        return _array(memory, 0, len(memory), dtype)

    def is_short(self, name: str, dtype: np.dtype) -> bool:
        try:
            with (self.path / name).open("rb") as file:
                head = file.read(_HEAD)
                size = os.fstat(file.fileno()).st_size
        except OSError:
            return False
        start, count = _announced(head, dtype)
        return not start or (size - start) // dtype.itemsize < count

    def values(self, folder: str) -> SegmentValues:
        return SegmentValues(self.array(f"{folder}/values.npy", schema.BYTE))

    def disk_bytes(self) -> int:
        return sum(file.stat().st_blocks * 512 for file in self.path.rglob("*") if file.is_file())

    def is_cut(self) -> bool:
        return any(_is_cut(path, *known) for path, known in list(self._mapped.items()))

    def close(self) -> None:
        self._closed = True


class Content(Protocol):
    """A file that is mapped."""

    memory: mmap

    def open(self) -> BinaryIO:
        """It as a file, to read."""

    def need(self, starts: Any, size: Any) -> None:
        """See that stretches of it are there: where they begin, and the bytes of each."""

    def is_cut(self) -> bool:
        """Whether it is shorter by now than what was mapped of it."""


class MappedFile:
    """A file of this machine.

    Raises:
        OSError: It can't be read.
        ValueError: It is empty.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.memory = map_for_reading(path)
        self._number = _number_of(path)

    def open(self) -> BinaryIO:
        return self._path.open("rb")

    def need(self, starts: Any, size: Any) -> None:
        """All of it is there."""

    def is_cut(self) -> bool:
        return _is_cut(self._path, self._number, len(self.memory))


class ZipFiles:
    """A packed log: every file is stored without compression, so that it can be mapped where it lies.

    Raises:
        LogError: It is no zip file, or one of a newer kind.
    """

    def __init__(self, path: Path, content: Callable[[Path], Content] = MappedFile) -> None:
        self.path = path
        opened: Content | None = None
        try:
            opened = self._content = content(path)
            self._memory = self._content.memory
            with self._content.open() as file, zipfile.ZipFile(file) as archive:
                self._members = {member.filename: member for member in archive.infolist()}
        except NotImplementedError as error:
            python = ".".join(map(str, sys.version_info[:2]))
            raise LogError(
                f"{path} is a zip of a newer kind than Python {python} reads: {error}",
                hint="write it again as an ordinary one, without compression; a log: graphscope pack LOG",
            ) from error
        except _ZIP_ERRORS as error:
            if opened is not None and _begins_as_zip(opened):
                raise LogError(
                    f"{path} is cut off: it begins as a zip file does, and its end is missing", hint="copy it again"
                ) from error
            hint = "pack one: graphscope pack LOG"
            if Path(path).suffix == ".py":
                hint = "a program is recorded first: graphscope record SCRIPT"
            raise LogError(f"{path} is no packed log: {error}", hint=hint) from error

    def segments(self) -> list[tuple[int, str]]:
        parts = [name.split("/") for name in self._members]
        return _segments({part[1] for part in parts if len(part) == 3 and part[0] == "segments"})

    def exists(self, name: str) -> bool:
        return name in self._members

    def text(self, name: str) -> str:
        start, size = self._extent(name)
        if size > _TEXT_LIMIT:
            raise ValueError(f"{name} is too large")
        self._content.need(start, size)
        return self._memory[start : start + size].decode("utf-8")

    def array(self, name: str, dtype: np.dtype) -> np.ndarray:
        try:
            start, size = self._extent(name)
        except OSError:
            return np.zeros(0, dtype)
        self._content.need(start, size)
        return _array(self._memory, start, size, dtype)

    def is_short(self, name: str, dtype: np.dtype) -> bool:
        return False  # it is there as a whole, or the archive is none

    def values(self, folder: str) -> SegmentValues:
        try:
            start, size = self._extent(f"{folder}/values.npy")
        except OSError:
            return SegmentValues(np.zeros(0, schema.BYTE))
        self._content.need(start, min(size, _HEAD))
        memory = _array(self._memory, start, size, schema.BYTE)
        begin = start + size - len(memory)
        return SegmentValues(memory, lambda starts, size: self._content.need(begin + starts, size))

    def disk_bytes(self) -> int:
        return len(self._memory)

    def is_cut(self) -> bool:
        return self._content.is_cut()

    def close(self) -> None:
        """All of it is mapped."""

    def _extent(self, name: str) -> tuple[int, int]:
        member = self._members.get(name)
        if member is None or member.compress_type != zipfile.ZIP_STORED:
            raise OSError(f"{name} is missing or compressed")
        self._content.need(max(member.header_offset, 0), _HEAD)
        header = self._memory[member.header_offset : member.header_offset + 30] if member.header_offset >= 0 else b""
        if len(header) < 30 or not header.startswith(b"PK\x03\x04"):
            raise OSError(f"the place of {name} is damaged")
        name_length, extra_length = struct.unpack_from("<HH", header, 26)
        start = member.header_offset + 30 + name_length + extra_length
        return start, max(min(member.file_size, len(self._memory) - start), 0)


def _begins_as_zip(content: Content) -> bool:
    with content.open() as file:
        return file.read(len(_ZIP)) == _ZIP


_ZIP: Final = b"PK\x03\x04"


def _number_of(path: Path) -> int:
    """Which file a path leads to; 0 where there is none."""
    try:
        return path.stat().st_ino
    except OSError:
        return 0


def _is_cut(path: Path, number: int, size: int) -> bool:
    """Whether the file of that number is still there, and shorter than it was."""
    try:
        found = path.stat()
    except OSError:
        return False
    return found.st_ino == number and found.st_size < size


def _segments(names: Iterable[str]) -> list[tuple[int, str]]:
    found = [name for name in names if len(name) == 12 and name.isascii() and name.isdecimal()]
    return [(int(name), f"segments/{name}") for name in sorted(found)]


def _array(memory: mmap, offset: int, size: int, dtype: np.dtype) -> np.ndarray:
    """The elements behind a `.npy` header that are really there; nothing when the header is damaged or of another kind.

    The header is compared, not evaluated: only the form in which numpy writes an array of this dtype counts.
    """
    start, made_for = _announced(memory[offset : offset + min(size, _HEAD)], dtype)
    count = min(made_for, (size - start) // dtype.itemsize)
    return np.frombuffer(memory, dtype, count, offset + start) if count > 0 else np.zeros(0, dtype)


def _announced(head: bytes, dtype: np.dtype) -> tuple[int, int]:
    """Where the elements behind a header begin, and how many it announces; none where it is of another kind."""
    if len(head) < 10 or not head.startswith(_MAGIC):
        return 0, 0
    start = 10 + int.from_bytes(head[8:10], "little")
    found = _HEADER.fullmatch(head[10:start])
    if found is None or found[1] != _described(dtype):
        return 0, 0
    return start, int(found[2])


@cache
def _described(dtype: np.dtype) -> bytes:
    return repr(np.lib.format.dtype_to_descr(dtype)).encode()
