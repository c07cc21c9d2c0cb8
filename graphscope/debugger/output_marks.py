r"""What a program prints, with the line that printed it: by marks in the stream, which the adapter takes out.

A mark is an escape sequence that no terminal shows: `ESC ] 7717 ; LINE ; FILE ESC \`. It stands ahead of what the line
prints, so that the order of all output, whoever wrote it, is what it would be without.
"""

from __future__ import annotations

import io
import os
import re
import sys
import sysconfig
from collections.abc import Iterator
from functools import lru_cache
from types import FrameType
from typing import Final

from graphscope.eventlog.record import is_internal

_MARK: Final = re.compile("\x1b\\]7717;(\\d{1,9});([^\x1b]*)\x1b\\\\")
_UNFINISHED: Final = re.compile("\x1b(?:\\](?:7(?:7(?:1(?:7(?:;[^\x1b]*\x1b?)?)?)?)?)?)?$")
"""What may become a mark when more arrives."""

Place = tuple[str, int]
"""A file and a line of it."""


class Marked(io.TextIOWrapper):
    """A text stream that says where what is written into it comes from."""

    _place: Place | None = None

    def write(self, text: str) -> int:
        """As of any stream; a mark goes ahead where the place is another than before."""
        place = _place()
        if place is not None and place != self._place and text:
            self._place = place
            super().write(f"\x1b]7717;{place[1]};{place[0]}\x1b\\")
        return super().write(text)


def mark_output() -> None:
    """Let the standard output say from where it is written; only for a terminal whose reader takes the marks out."""
    old = sys.stdout
    if isinstance(old, io.TextIOWrapper):
        encoding, errors = old.encoding, old.errors
        sys.stdout = sys.__stdout__ = Marked(old.detach(), encoding, errors, line_buffering=True)  # type: ignore[misc]


class Unmarker:
    """Takes marks out of a stream of text that arrives in pieces."""

    def __init__(self) -> None:
        self._place: Place | None = None
        self._rest = ""

    def parts(self, text: str, last: bool = False) -> Iterator[tuple[str, Place | None]]:
        """The text without marks, each part with the place that printed it, if that is known.

        Args:
            text: What has arrived.
            last: Whether nothing more will.
        """
        text, self._rest = self._rest + text, ""
        open_end = _UNFINISHED.search(text)
        if open_end is not None and not last:
            text, self._rest = text[: open_end.start()], open_end[0]
        pieces = _MARK.split(text)
        if pieces[0]:
            yield pieces[0], self._place
        for line, file, printed in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
            self._place = file, int(line)
            if printed:
                yield printed, self._place


def _place() -> Place | None:
    """The line of the program that is being carried out; else that of the library that is."""
    frame: FrameType | None = sys._getframe(2)
    nearest: Place | None = None
    while frame is not None:
        file = frame.f_code.co_filename
        if not is_internal(file) and file.isprintable():
            nearest = nearest or (file, frame.f_lineno)
            if not _of_library(file):
                return file, frame.f_lineno
        frame = frame.f_back
    return nearest


@lru_cache(maxsize=4096)
def _of_library(file: str) -> bool:
    return file.startswith(("<frozen", *_LIBRARIES))


_LIBRARIES: Final = tuple({f"{sysconfig.get_path(name)}{os.sep}" for name in ("stdlib", "purelib", "platlib")})
