"""Lines for the prompt: from a list of commands first, then from a person, with history and completion."""

from __future__ import annotations

import contextlib
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Final, TextIO

HISTORY: Final = ".graphscope_history"
LONGEST: Final = 1000
"""So many lines of history are kept."""

_SEPARATORS: Final = " \t\n\"'`@$><=;|&{}()[],!"

Complete = Callable[[str, str], list[str]]
"""From a line so far and its last word: what the word may become."""


class Reader:
    """Reads lines: queued ones, then those of a stream; on a terminal with readline, where Python has it.

    Args:
        stdin: Where lines come from.
        stdout: Where the prompt goes.
        queued: Lines that come first.
        home: The folder of the history; None keeps none.
    """

    def __init__(self, stdin: TextIO, stdout: TextIO, queued: Iterable[str] = (), home: Path | None = None) -> None:
        self._stdin = stdin
        self._stdout = stdout
        self._queued = deque(queued)
        self._history = home / HISTORY if home is not None else None
        self._readline = _readline() if stdin is sys.stdin and stdin.isatty() and stdout.isatty() else None
        self._loaded = False

    def read(self, prompt: str, complete: Complete) -> str:
        """The next line, without its end.

        Raises:
            EOFError: There is none.
            KeyboardInterrupt: The person pressed Ctrl-C.
        """
        if self._queued:
            line = self._queued.popleft()
            self._write(f"{prompt}{line}\n")
            return line
        if self._readline is not None:
            with self._editing(self._readline, complete):
                return input(prompt)
        self._write(prompt)
        line = "" if self._stdin.closed else self._stdin.readline()
        if not line:
            raise EOFError
        line = line.rstrip("\r\n")
        if not self._stdin.isatty():
            self._write(f"{line}\n")  # nobody else writes it, and a transcript should show what was asked
        return line

    def drop_queued(self) -> None:
        """Forget the lines that come first."""
        self._queued.clear()

    def _write(self, text: str) -> None:
        encoding = self._stdout.encoding or "utf-8"
        self._stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
        self._stdout.flush()

    @contextlib.contextmanager
    def _editing(self, readline: ModuleType, complete: Complete) -> Iterator[None]:
        """Our completion and history for one line; the program's own settings come back after it."""
        if not self._loaded and self._history is not None:
            self._loaded = True
            with contextlib.suppress(OSError):
                readline.read_history_file(str(self._history))
        before, separators = readline.get_completer(), readline.get_completer_delims()
        readline.set_completer(_completer(readline, complete))
        readline.set_completer_delims(_SEPARATORS)
        readline.parse_and_bind("bind ^I rl_complete" if _is_libedit(readline) else "tab: complete")
        try:
            yield
        finally:
            readline.set_completer(before)
            readline.set_completer_delims(separators)
            if self._history is not None:
                readline.set_history_length(LONGEST)
                with contextlib.suppress(OSError):
                    readline.write_history_file(str(self._history))


def _readline() -> ModuleType | None:
    try:
        import readline
    except ImportError:  # Windows has none
        return None
    return readline


def _is_libedit(readline: ModuleType) -> bool:
    return "libedit" in (readline.__doc__ or "")


def _completer(readline: ModuleType, complete: Complete) -> Callable[[str, int], str | None]:
    found: list[str] = []

    def completer(word: str, state: int) -> str | None:
        if state == 0:
            try:
                found[:] = complete(readline.get_line_buffer()[: readline.get_endidx()], word)
            except Exception:  # noqa: BLE001 - readline would print a traceback into the line that is typed
                found.clear()
        return found[state] if state < len(found) else None

    return completer
