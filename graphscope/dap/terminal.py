"""The terminal of a program that we started: what it prints, what is typed into it, and its size."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
from collections.abc import Callable
from importlib import import_module
from typing import Final

from graphscope.debugger.output_marks import Place, Unmarker
from graphscope.errors import UsageError

_PART: Final = 1 << 16
"""Bytes that are read at once."""

_PARTS: Final = 64
"""So many are read of a program that has ended; no system keeps more for who reads a terminal."""

Printed = Callable[[str, Place | None], None]
"""Hears what a program prints, and from where it did, if that is known."""


class Terminal:
    """Our end of a terminal.

    Args:
        size: Rows and columns.
        printed: Called with what the program prints.

    Raises:
        UsageError: The system has none.
    """

    def __init__(self, size: tuple[int, int], printed: Printed) -> None:
        self._printed = printed
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._unmarker = Unmarker()
        self._master, self.program_end = _open(size)
        os.set_blocking(self._master, False)

    def listen(self) -> None:
        """Pass on what arrives."""
        asyncio.get_running_loop().add_reader(self._master, self.read)

    def read(self) -> bool:
        """Pass on a part of what is there, and whether there was any: a program may print without rest."""
        try:
            data = os.read(self._master, _PART)
        except BlockingIOError:
            return False
        except OSError:  # nobody has its other end open any more
            data = b""
        if not data:
            asyncio.get_running_loop().remove_reader(self._master)
        self._pass_on(data)
        return bool(data)

    def type(self, text: str) -> None:
        """Type into it."""
        with contextlib.suppress(OSError):
            os.write(self._master, text.encode())

    def resize(self, rows: int, columns: int) -> None:
        """Tell the program how large it is."""
        with contextlib.suppress(OSError):
            _resize(self._master, (rows, columns))

    def close(self) -> None:
        """Pass on what is left, and hang up."""
        if self._master < 0:
            return
        for _ in range(_PARTS):  # what the program has started may go on printing
            if not self.read():
                break
        self._pass_on(b"", last=True)
        asyncio.get_running_loop().remove_reader(self._master)
        os.close(self._master)
        self._master = -1

    def _pass_on(self, data: bytes, last: bool = False) -> None:
        for text, place in self._unmarker.parts(self._decoder.decode(data, last), last):
            self._printed(text, place)


def _open(size: tuple[int, int]) -> tuple[int, int]:
    try:
        pty, termios = import_module("pty"), import_module("termios")
        master, program_end = pty.openpty()
    except (ImportError, OSError) as error:
        raise UsageError(
            f"a program can't be launched here, there are no terminals: {error}", "attach to a recording"
        ) from None
    attributes = termios.tcgetattr(program_end)
    attributes[1] &= ~termios.OPOST  # "\n" as the program prints it
    attributes[3] &= ~termios.ECHO  # who types knows what was typed
    termios.tcsetattr(program_end, termios.TCSANOW, attributes)
    _resize(program_end, size)
    return master, program_end


def _resize(terminal: int, size: tuple[int, int]) -> None:
    import_module("termios").tcsetwinsize(terminal, size)
