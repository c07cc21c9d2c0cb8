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
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from benchmarks import doctor, log
from benchmarks.engines import UnavailableError, load
from benchmarks.reading import private_bytes
from benchmarks.results import ROOT, Measurement

SIZE: Final = (40, 120)
STARTS: Final = 5
TRANSFORMER: Final = 100_000
"""Rows of about 200 steps."""
QUIET: Final = 0.05
"""Seconds without a byte: the picture is whole."""
SETTLED: Final = 0.3
"""Seconds without a byte: all is done that the keys ahead of a timed one asked for."""
PATIENCE: Final = 3.0
"""Seconds until a key has changed nothing."""

Deed = tuple[str, ...]
"""Keys as a terminal sends them; the last is timed."""
Deeds = dict[str, list[Deed]]

UP, DOWN, LEFT, RIGHT = (f"\x1b[{letter}" for letter in "ABDC")
PAGE_UP, PAGE_DOWN, HOME, END = "\x1b[5~", "\x1b[6~", "\x1b[H", "\x1b[F"
ENTER, ESCAPE, BACKSPACE = "\r", "\x1b", "\x7f"


def each(keys: Iterable[str]) -> list[Deed]:
    """Keys that are timed one by one."""
    return [(key,) for key in keys]


WALKS: Final[Deeds] = {
    "stepping": each(["n"] * 120 + ["p"] * 60 + ["s"] * 60 + ["o"] * 40),
    "scrolling": each([DOWN] * 60 + [PAGE_DOWN] * 100 + [PAGE_UP] * 60 + [END, HOME] * 10),
    "typing a search": [("/", "a"), *each("dd backward"), (*[BACKSPACE] * 12, "m"), *each("ul")],
    "searching": [(*[BACKSPACE] * 3, *"add backward", ENTER, "n"), *each(["n"] * 99 + ["N"] * 40)],
}
"""What is done in any log."""

TURNS: Final[Deeds] = {
    "training steps": [
        (ESCAPE, ")"), *each(")" * 19 + "(" * 10), *[(":", *f"goto step {n}", ENTER) for n in (3, 17, 9, 25, 2)]
    ],
    "folding": [(ESCAPE, ")"), *each("zzzzZZ") * 4, *each([UP, "z", "z", DOWN, "z", "z"]) * 4],
    "zooming the timeline": each("....,,,,") * 2,
    "modules": [
        ("m", "m"), *each([ENTER, DOWN, RIGHT, UP, LEFT, BACKSPACE]) * 4, *each("n" * 30 + "p" * 20 + "))((")
    ],
    "findings": [("m", "F"), *each("FFfff")],
}  # fmt: skip
"""What is done in a training."""


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
        while select.select([self._ours], [], [], quiet if last else PATIENCE)[0]:
            os.read(self._ours, 1 << 16)
            last = time.perf_counter()
        return last

    def press(self, key: str) -> float | None:
        """Seconds from a key to the end of its picture; None if it changed nothing."""
        begun = time.perf_counter()
        os.write(self._ours, key.encode())
        painted = self.settle()
        return None if painted is None else painted - begun

    def do(self, deed: Deed) -> float | None:
        """Press keys; what the last takes."""
        for key in deed[:-1]:
            os.write(self._ours, key.encode())
            self.settle(quiet=SETTLED)
        return self.press(deed[-1])

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
    """Logs of a million and of ten million events, and of trainings with modules."""
    with log.scratch() as folder:
        found = []
        for rows in (1_000_000, 10_000_000):
            recorded = log.recorded(folder / f"{rows}.gscope", rows)
            found += of_log(recorded.path, f"{rows:,} events", WALKS)
        for name, repeats in {"small steps": 1, "large steps": 900}.items():
            trained(folder / f"{repeats}.gscope", repeats)
            found += of_log(folder / f"{repeats}.gscope", f"1,000,000 events, {name}", WALKS | TURNS)
        try:
            doctor.record(folder / "transformer.gscope", doctor.transformer, TRANSFORMER)
        except UnavailableError as error:
            return [*found, Measurement("transformer of PyTorch", note=str(error))]
        return [*found, *of_log(folder / "transformer.gscope", "transformer of PyTorch", WALKS | TURNS)]


def trained(path: Path, repeats: int, rows: int = 1_000_000) -> None:
    """Record so many events of training a model that calls each of its modules so often in a step."""
    gs = load("graphscope")
    nn, optim = load("graphscope.nn"), load("graphscope.optim")

    class Block(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)

        def forward(self, x: Any) -> Any:
            return (x + self.second(self.first(x).tanh())).tanh()

    class Network(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.blocks, self.head = nn.ModuleList([Block(), Block()]), nn.Linear(4, 1)

        def forward(self, x: Any) -> Any:
            for block in [*self.blocks] * repeats:
                x = block(x)
            return self.head(x)

    with gs.record(path):
        writer = load("graphscope.eventlog.record").writer
        network = Network()
        optimizer = optim.SGD(network.parameters(), lr=1e-3)
        while writer.end - writer.base < rows:
            optimizer.zero_grad()
            ((network(gs.ones(8, 4)) - 1) ** 2).mean().backward()
            optimizer.step()


def of_log(path: Path, name: str, deeds: Deeds) -> list[Measurement]:
    """The numbers of one log."""
    log.evict(path)  # what is not on disk yet would count as written by who looks at it
    paints = []
    for _ in range(STARTS):
        with terminal("open", str(path)) as screen:
            paints.append(screen.until("#") - screen.started)
    with terminal("open", str(path)) as screen:
        screen.until("#")
        screen.settle(1.0)
        rows = []
        for what, keys in deeds.items():
            took = sorted(seconds for deed in keys if (seconds := screen.do(deed)) is not None)
            numbers = {
                "seconds, key, median": statistics.median(took),
                "seconds, key, 99 %": took[len(took) * 99 // 100],
            }
            rows.append(Measurement(f"{name}: {what}", numbers))
        memory = {key: value for key, value in private_bytes(screen.process.pid).items() if key == "bytes"}
    return [Measurement(f"{name}: first picture", {"seconds": min(paints), **memory}), *rows]


def main(path: str) -> None:
    """The numbers of a log that is there: `python -m benchmarks.screen LOG`."""
    for row in of_log(Path(path), Path(path).name, WALKS | TURNS):
        print(row.name, {key: round(value, 4) for key, value in row.numbers.items()}, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
