"""The text of source files as they were at the first look: the program runs on while somebody edits them.

Files are read here. `linecache` looks for an encoding first, and makes a list of lines, which takes several times as
long; it has what is no file, as a notebook's cells, and knows of other encodings.
"""

from __future__ import annotations

import codecs
import linecache
import os
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, overload

from graphscope.eventlog.interruptions import own

_BINARY: Final = getattr(os, "O_BINARY", 0)
_texts: dict[str, str] = {}


def source_text(file: str, variables: dict[str, Any] | None = None, *, anew: bool = False) -> str:
    """The text of a file; empty of one that can't be had.

    Args:
        file: What code says that it is of.
        variables: Those of its module, which may know how to get the text of what is no file.
        anew: Look at the file as it is now.
    """
    if anew:
        _texts.pop(file, None)
    text = _texts.get(file)
    if text is None and file not in linecache.cache and (content := _read(file)):
        text = _texts[file] = content.decode()
    return text or "".join(linecache.getlines(file, variables))


class Lines(Sequence[str]):
    """The lines of a text, without their ends, each decoded when it is asked for: of most files a few are wanted."""

    __slots__ = ("_lines",)

    def __init__(self, content: bytes) -> None:
        self._lines = content.split(b"\n")  # NumPy is quicker with megabytes alone

    def __len__(self) -> int:
        return len(self._lines)

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> list[str]: ...

    def __getitem__(self, place: int | slice) -> str | list[str]:
        found = self._lines[place]
        if isinstance(found, bytes):
            return found.decode("utf-8", _ANY)
        return [line.decode("utf-8", _ANY) for line in found]


_ANY: Final = "surrogatepass"
"""Half of a pair is a character of Python's."""


@lru_cache(maxsize=64)
def lines_of(text: str) -> Lines:
    """The lines of a text, without their ends."""
    return Lines(text.encode("utf-8", _ANY))


@lru_cache(maxsize=64)
def lines_in(file: str) -> Lines:
    """Those of a file, as it was at the first look."""
    content = b"" if file in linecache.cache else _read(file)
    return Lines(content) if content else lines_of(source_text(file))


def _read(file: str) -> bytes:
    """The content of a file that is plainly UTF-8; empty of any other."""
    if file.startswith("<"):  # the name of what is no file
        return b""
    try:
        descriptor = os.open(file, os.O_RDONLY | _BINARY)
        try:
            content = os.read(descriptor, os.fstat(descriptor).st_size)
        finally:
            os.close(descriptor)
        head = b"".join(content.split(b"\n", 2)[:2])
        if b"\r" in content or b"coding" in head or content.startswith(codecs.BOM_UTF8):
            return b""
        content.decode()
    except own(OSError, ValueError):
        return b""
    return content if content.endswith(b"\n") or not content else content + b"\n"
