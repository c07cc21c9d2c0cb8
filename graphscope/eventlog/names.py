"""Interned tables: each distinct name, source line, shape or attribute set is written once and named by its number."""

from __future__ import annotations

import json
import os
import struct
import threading
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from graphscope.eventlog.interruptions import own
from graphscope.eventlog.mapped import MappedArray, open_mapped, reserve
from graphscope.eventlog.typed import shown

_FIRST_CHUNK, _CHUNK = 1 << 13, 1 << 16
_AHEAD: Final = 1 << 15
"""Bytes of a chunk whose pages are faulted in when it is made."""
_LENGTH = struct.Struct("<I")
_BYTE = np.dtype("u1")


@dataclass(frozen=True, slots=True)
class Op:
    """What the log knows of an op; rules are text, never run."""

    name: str
    formula: str = ""
    doc: str = ""
    vjp: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    """Names of its arguments by their places; the last may begin with `*`: it takes all that follow."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """What arguments are that were left out, of those that the formula or a rule names."""
    element: str = ""
    """How one element is computed: `each` of those at its place, or an expression with `i`, `j` for its place."""
    cited: bool = False
    """Whether formula and rules are told for people alone: what ran is the library's own."""
    framework: str = ""
    """Whose function ran, as people write it; empty for graphscope's own engine."""
    function: str = ""
    """What that function is found by; empty where it is no function at all."""
    custom: bool = False
    """Whether the program wrote it: it is made of the calls in the scope that ends ahead of its row."""

    @property
    def rules_run(self) -> tuple[str, ...]:
        """The rules as they run, by the places of inputs; empty where the log does not know them."""
        return () if self.cited else self.vjp


@dataclass(frozen=True, slots=True)
class Site:
    """A place in the user's program: the expression that made a node. Columns count from 0, in UTF-8 bytes.

    `caller` is, of a place in Python's library or an installed package, the number of the program's own line that led
    there when it was first met; 0 of others, and where no such line did.
    """

    file: str
    line: int
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    function: str = ""
    caller: int = 0


def place_of(site: Site | None) -> tuple[str, int]:
    """File and line of a place; empty and 0 where there is none."""
    return ("", 0) if site is None else (site.file, site.line)


def short_place(file: str, line: int) -> str:
    """`train.py:12`; empty where the file is not known."""
    return f"{file.replace(chr(92), '/').rpartition('/')[2]}:{line}" if file else ""


@dataclass(frozen=True, slots=True)
class Scope:
    """A module or composite op.

    `parent` is the number of the scope around it, 0 at the root; `site` that of the line which made the module, 0 where
    the log does not tell it.
    """

    name: str
    type: str = ""
    parent: int = 0
    site: int = 0


class Table:
    """One table on disk: chunks `NAME-000.npy`, ... of entries, each a length (4 bytes, written last) and JSON text.

    Entry 0 means "none" and is not written; the first entry in the first chunk is number 1. A signal handler or
    finalizer may add an entry in the middle of `add`: what must stay together is done without a call in between, for
    only at calls can they run.

    Args:
        folder: Where the chunks lie.
        name: What they are called.
        first: Bytes of the first of them.
    """

    def __init__(self, folder: Path, name: str, first: int = _FIRST_CHUNK) -> None:
        self._folder = folder
        self._first = first
        self._name = name
        self._numbers: dict[Hashable, int] = {}
        self._count = 0
        self._chunks = 0
        self._attempts = 0
        self._lock = threading.RLock()
        self._chunk: MappedArray | None = None
        self._cursor = 0

    def begin(self) -> None:
        """Make the first chunk; else the first entry does.

        Raises:
            OSError: It can't be made.
        """
        self._grow(None, 0)

    def find(self, key: Hashable) -> int | None:
        """The number of the entry known by `key`, or None when there is none yet."""
        return self._numbers.get(key)

    def keys(self) -> list[Hashable]:
        """What the entries that there are now are known by."""
        return [*self._numbers]

    def add(self, key: Hashable, entry: Any) -> int:
        """Write an entry, or its text as `encoded` makes it, and remember its number under `key`.

        Raises:
            OSError: A new chunk can't be made.
        """
        text = entry if entry.__class__ is bytes else _text(entry)
        length = _LENGTH.pack(len(text))
        size = len(length) + len(text)
        with self._lock:
            number = self._numbers.get(key)
            while number is None:
                chunk = self._chunk
                offset = self._cursor
                if chunk is None or offset + size > chunk.size:
                    self._grow(chunk, size)
                    continue
                self._cursor = offset + size
                self._count = number = self._count + 1
                chunk.memory[offset + 4 : offset + size] = text
                chunk.memory[offset : offset + 4] = length
            self._numbers[key] = number
            return number

    def _grow(self, full: MappedArray | None, size: int) -> None:
        """Put a new chunk in the place of a full one, unless a nested call does so meanwhile."""
        count = max(_CHUNK if self._chunks else self._first, size)
        path = self._folder / f"{self._name}-{self._chunks:03d}.npy"
        self._attempts += 1
        made = self._folder / f"{self._name}.{self._attempts}"
        reserve(made, _BYTE, count)
        if self._chunk is not full:
            made.unlink()
            return
        os.replace(made, path)  # noqa: PTH105 - its method is a call more, in which a nested one could come first
        chunk = open_mapped(path, _BYTE, count)
        chunk.populate(0, _AHEAD)
        start = chunk.start
        if self._chunk is full:
            self._chunk = chunk
            self._cursor = start
            self._chunks += 1


def _encoding() -> Callable[[Any], str]:
    """Makes the text of an entry; `JSONEncoder.encode` makes a compiled encoder anew each time, where it has one."""
    encoder = json.JSONEncoder(check_circular=False, ensure_ascii=False, default=shown, separators=(",", ":"))
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return encoder.encode
    parts = make(None, shown, json.encoder.encode_basestring, None, ":", ",", False, False, True)
    return lambda entry: "".join(parts(entry, 0))


_encode: Final = _encoding()


def encoded(entry: Any) -> bytes:
    """The text of an entry.

    Raises:
        ValueError, TypeError, RecursionError: It is circular, or has keys that JSON has no place for.
    """
    return _encode(entry).encode("utf-8", "replace")


def _text(entry: Any) -> bytes:
    try:
        return encoded(entry)
    except own(ValueError, TypeError, RecursionError):
        return encoded(shown(entry))


def entries(chunk: np.ndarray, start: int = 0) -> tuple[list[bytes], int]:
    """The committed entries of a chunk from byte `start` on, and the byte behind the last of them."""
    memory = bytes(chunk.data[start:])
    length_at, size, last = _LENGTH.unpack_from, _LENGTH.size, len(memory)
    found, place = [], 0
    while place + size <= last:
        (length,) = length_at(memory, place)
        end = place + size + length
        if length == 0 or end > last:
            break
        found.append(memory[place + size : end])
        place = end
    return found, start + place
