"""The terminal UI in a terminal of its own: from its start to the first picture, and from a key to its picture."""

from __future__ import annotations

import os
import pty
import select
import signal
import statistics
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks import log
from benchmarks.reading import private_bytes
from benchmarks.results import ROOT, Measurement

SIZE: Final = (40, 120)
STARTS: Final = 5
QUIET: Final = 0.05
"""Seconds without a byte: the picture is whole."""

KEYS: Final = {
    "stepping": ["n"] * 120 + ["p"] * 60 + ["s"] * 60 + ["o"] * 40,
    "scrolling": ["\x1b[B"] * 60 + ["\x1b[6~"] * 100 + ["\x1b[5~"] * 60 + ["\x1b[F", "\x1b[H"] * 10,
    "searching": ["n"] * 100 + ["N"] * 40,
}
"""Keys as a terminal sends them."""


class Terminal:
    """A terminal, and what runs in it."""

    def __init__(self, *words: str) -> None:
        self._ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, SIZE)
        environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8"}
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "graphscope", *words],
            stdin=theirs, stdout=theirs, stderr=theirs, cwd=ROOT.parent, env=environment, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)

    def until(self, text: str, patience: float = 60.0) -> float:
        """When a text has been written.

        Raises:
            TimeoutError: It was not.
        """
        seen = b""
        while text.encode() not in seen:
            if not select.select([self._ours], [], [], patience)[0]:
                raise TimeoutError(f"{text!r} was not shown")
            seen = seen[-200:] + os.read(self._ours, 1 << 16)
        return time.perf_counter()

    def settle(self, quiet: float = QUIET) -> float | None:
        """When the last byte was written, once none has come for a while; None if there was none at all."""
        last = None
        while select.select([self._ours], [], [], quiet if last else 1.0)[0]:
            os.read(self._ours, 1 << 16)
            last = time.perf_counter()
        return last

    def press(self, key: str) -> float | None:
        """Seconds from a key to the end of its picture; None if it changed nothing."""
        begun = time.perf_counter()
        os.write(self._ours, key.encode())
        painted = self.settle()
        return None if painted is None else painted - begun

    def close(self) -> None:
        """End it."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self._ours)


@contextmanager
def terminal(*words: str) -> Iterator[Terminal]:
    """A terminal that is closed behind the block."""
    made = Terminal(*words)
    try:
        yield made
    finally:
        made.close()


def measure() -> list[Measurement]:
    """Logs of a million and of ten million events."""
    with log.scratch() as folder:
        found = []
        for rows in (1_000_000, 10_000_000):
            recorded = log.recorded(folder / f"{rows}.gscope", rows)
            log.evict(recorded.path)  # what is not on disk yet would count as written by who looks at it
            found += of_log(recorded.path, f"{rows:,} events")
        return found


def of_log(path: Path, name: str) -> list[Measurement]:
    """The numbers of one log."""
    paints = []
    for _ in range(STARTS):
        with terminal("open", str(path)) as screen:
            paints.append(screen.until("#0 ") - screen.started)
    with terminal("open", str(path)) as screen:
        screen.until("#0 ")
        screen.settle(1.0)
        rows = []
        for what, keys in KEYS.items():
            if what == "searching":
                for key in ("/", *"tanh backward", "\r"):
                    screen.press(key)
            took = sorted(seconds for key in keys if (seconds := screen.press(key)) is not None)
            numbers = {
                "seconds, key, median": statistics.median(took),
                "seconds, key, 99 %": took[len(took) * 99 // 100],
            }
            rows.append(Measurement(f"{name}: {what}", numbers))
        memory = {key: value for key, value in private_bytes(screen.process.pid).items() if key == "bytes"}
    return [Measurement(f"{name}: first picture", {"seconds": min(paints), **memory}), *rows]


def main(path: str) -> None:
    """The numbers of a log that is there: `python -m benchmarks.screen LOG`."""
    for row in of_log(Path(path), Path(path).name):
        print(row.name, {key: round(value, 4) for key, value in row.numbers.items()}, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
