"""What this terminal can show beside characters. It is queried only when a picture is wanted: one that does not
know a question may print it, or answer so late that the answer counts as keys.
"""

from __future__ import annotations

import os
import re
import select
import sys
import time
from dataclasses import dataclass, replace
from typing import Final

_PATIENCE: Final = 1.0
"""Seconds; every terminal in use answers the last question, most within a hundredth of that."""

_KITTY: Final = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\\x1b[>q"
_COLOURS: Final = "\x1b[?1;1;0S"
_LARGEST: Final = "\x1b[?2;4;0S"
_CELL: Final = "\x1b[16t"
_ATTRIBUTES: Final = "\x1b[c"

_KITTY_ANSWER: Final = re.compile(rb"\x1b_Gi=31;OK\x1b\\")
_VERSION_ANSWER: Final = re.compile(rb"\x1bP>\|kitty\((\d+)\.(\d+)")
_PLACEHOLDERS: Final = (0, 28)
"""The first version of kitty that has them."""
_COLOURS_ANSWER: Final = re.compile(rb"\x1b\[\?1;0;(\d+)S")
_LARGEST_ANSWER: Final = re.compile(rb"\x1b\[\?2;0;(\d+);(\d+)S")
_CELL_ANSWER: Final = re.compile(rb"\x1b\[6;(\d+);(\d+)t")
_ATTRIBUTES_ANSWER: Final = re.compile(rb"\x1b\[\?([\d;]*)c")
_SIXEL: Final = b"4"

_MOST_COLOURS: Final = 64
"""More make a drawing of a graph larger and no better."""


@dataclass(frozen=True)
class Terminal:
    """How a terminal is told to show an image."""

    protocol: str
    """`kitty` or `sixel`; empty where it shows none."""
    answered: tuple[int, int] = (0, 0)
    """The width and height of a character in pixels, as the terminal answered."""
    colours: int = _MOST_COLOURS
    """So many at once."""
    largest: tuple[int, int] = (10_000, 10_000)
    """The width and height of the largest image, in pixels."""

    @property
    def cell(self) -> tuple[int, int]:
        """The width and height of a character in pixels, as it is now; that of a VT340 where nobody knows."""
        return _cell_now() or (self.answered if all(self.answered) else (10, 20))


NONE: Final = Terminal("")


def ask() -> Terminal:
    """Ask the terminal what it can show. Nobody else may read from it meanwhile."""
    try:
        import termios
        import tty
    except ImportError:  # Windows
        return NONE
    if sys.__stdin__ is None or sys.__stdout__ is None or not (sys.__stdin__.isatty() and sys.__stdout__.isatty()):
        return NONE
    source, target = sys.__stdin__.fileno(), sys.__stdout__.fileno()
    before = termios.tcgetattr(source)
    tty.setcbreak(source, termios.TCSANOW)
    try:
        os.write(target, ((_KITTY if _may_be_kitty() else "") + _COLOURS + _LARGEST + _CELL + _ATTRIBUTES).encode())
        return _understood(_answer(source))
    finally:
        termios.tcsetattr(source, termios.TCSANOW, before)
        termios.tcflush(source, termios.TCIFLUSH)


def _may_be_kitty() -> bool:
    """Whether the terminal knows kitty's placeholders; to others its question may be a title, or text to print."""
    kind = os.environ.get("TERM", "")
    if kind.startswith(("tmux", "screen", "linux")):
        return False
    named = f"{kind} {os.environ.get('TERM_PROGRAM', '')}".lower()
    return "kitty" in named or "ghostty" in named or "KITTY_WINDOW_ID" in os.environ


def _answer(source: int) -> bytes:
    """What the terminal says up to its answer to the last question."""
    end = time.monotonic() + _PATIENCE
    found = b""
    while not _ATTRIBUTES_ANSWER.search(found):
        ready, _, _ = select.select([source], [], [], max(end - time.monotonic(), 0))
        if not ready or not (more := os.read(source, 1024)):
            break
        found += more
    return found


def _understood(answer: bytes) -> Terminal:
    attributes = _ATTRIBUTES_ANSWER.search(answer)
    version = _VERSION_ANSWER.search(answer)
    if version is not None and (int(version[1]), int(version[2])) < _PLACEHOLDERS:
        return NONE
    if _KITTY_ANSWER.search(answer):
        protocol = "kitty"
    elif attributes is not None and _SIXEL in attributes[1].split(b";")[1:]:
        protocol = "sixel"
    else:
        return NONE
    found = Terminal(protocol)
    if cell := _CELL_ANSWER.search(answer):
        found = replace(found, answered=(int(cell[2]), int(cell[1])))
    if colours := _COLOURS_ANSWER.search(answer):
        found = replace(found, colours=min(int(colours[1]), _MOST_COLOURS))
    if largest := _LARGEST_ANSWER.search(answer):
        found = replace(found, largest=(int(largest[1]), int(largest[2])))
    return found


def _cell_now() -> tuple[int, int] | None:
    """The size of a character by the kernel, where the terminal tells it: people change their font."""
    try:
        import fcntl
        import struct
        import termios

        assert sys.__stdout__ is not None
        size = fcntl.ioctl(sys.__stdout__.fileno(), termios.TIOCGWINSZ, bytes(8))
    except (ImportError, OSError, ValueError, AssertionError):
        return None
    rows, columns, width, height = struct.unpack("HHHH", size)
    return (width // columns, height // rows) if min(rows, columns, width, height) else None
