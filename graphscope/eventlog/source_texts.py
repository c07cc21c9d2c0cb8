"""The text of source files as they were at the first look: the program runs on while somebody edits them.

Files are read here. `linecache` looks for an encoding first, and makes a list of lines, which takes several times as
long; it has what is no file, as a notebook's cells, and knows of other encodings.
"""

from __future__ import annotations

import linecache
import os
from functools import lru_cache
from typing import Any, Final

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
    if text is None and file not in linecache.cache and (text := _read(file)):
        _texts[file] = text
    return text or "".join(linecache.getlines(file, variables))


@lru_cache(maxsize=64)
def lines_of(text: str) -> list[str]:
    """The lines of a text, without their ends."""
    return text.split("\n")


def _read(file: str) -> str:
    """The text of a file that is plainly UTF-8; empty of any other."""
    if file.startswith("<"):  # the name of what is no file
        return ""
    try:
        descriptor = os.open(file, os.O_RDONLY | _BINARY)
        try:
            content = os.read(descriptor, os.fstat(descriptor).st_size)
        finally:
            os.close(descriptor)
        text = content.decode()
    except own(OSError, ValueError):
        return ""
    head = b"".join(content.split(b"\n", 2)[:2])
    if "\r" in text or b"coding" in head or text[:1] == "\ufeff":
        return ""
    return text if text.endswith("\n") or not text else f"{text}\n"
