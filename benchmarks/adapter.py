"""The debug adapter: a step until its `stopped`, a large tensor looked at, a run that meets no breakpoint."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Final

from benchmarks.results import Measurement
from graphscope.eventlog.record import record

ROOT: Final = Path(__file__).parents[1]
STEPS: Final = 300
LOOKS: Final = 15
RUNS: Final = 15
NO_STOP: Final = "a run that meets no breakpoint"

STEPPED: Final = ROOT / "samples" / "digits.py"

LARGE: Final = "import graphscope as torch\nx = torch.ones(1000, 10000)\ny = x + 1\nz = (y * 2).sum()\n"

LONG: Final = """\
import sys
import time

import numpy as np

import graphscope as torch

rng = np.random.default_rng(0)
x = torch.tensor(rng.standard_normal((32, 64)), dtype=torch.float32)
w = torch.tensor(rng.standard_normal((64, 64)) / 8, dtype=torch.float32, requires_grad=True)
for turn in range(2):  # the first warms up
    started = time.perf_counter()
    for step in range(400):
        h = x
        for layer in range(6):
            h = torch.mm(h, w).tanh() + x * 0.5
        h.sum().backward()
        w.grad = None
    seconds = time.perf_counter() - started
print("seconds", seconds)
"""


class Client:
    """The least that drives an adapter."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "graphscope", "dap"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._sequence = 0
        self.output = ""

    def send(self, command: str, **arguments: Any) -> None:
        """Send a request."""
        self._sequence += 1
        message = {"seq": self._sequence, "type": "request", "command": command, "arguments": arguments}
        text = json.dumps(message).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(text), text))
        self._process.stdin.flush()

    def until(self, name: str) -> dict[str, Any]:
        """Read up to an event, or the answer to a request, of a name."""
        stream = self._process.stdout
        assert stream is not None
        while True:
            length = int(stream.readline().split(b":")[1])
            stream.readline()
            message: dict[str, Any] = json.loads(stream.read(length))
            if message.get("event") == "output":
                self.output += message["body"]["output"]
            if name in (message.get("event"), message.get("command")):
                if not message.get("success", True):
                    raise RuntimeError(message["message"])
                return message.get("body") or {}

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Send a request and read its answer."""
        self.send(command, **arguments)
        return self.until(command)

    def begin(self, program: Path, *breakpoints: str, log: Path | None = None, **more: Any) -> None:
        """Start a program with breakpoints, or open its log."""
        self.ask("initialize", adapterID="graphscope")
        if log is None:
            self.send("launch", program=str(program), **more)
        else:
            self.send("attach", log=str(log))
        self.until("initialized")
        self.ask("setFunctionBreakpoints", breakpoints=[{"name": name} for name in breakpoints])
        self.ask("configurationDone")

    def leave(self) -> None:
        """End the session."""
        self.ask("disconnect")
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()


@contextmanager
def client() -> Iterator[Client]:
    """A client for a while."""
    made = Client()
    try:
        yield made
    finally:
        made.leave()


def measure() -> list[Measurement]:
    """All that the adapter promises."""
    with tempfile.TemporaryDirectory() as folder:
        large, long = Path(folder, "large.py"), Path(folder, "long.py")
        large.write_text(LARGE, encoding="utf-8")
        long.write_text(LONG, encoding="utf-8")
        return [_steps(), *_variables(large), *_runs(long)]


def _steps() -> Measurement:
    seconds: list[float] = []
    with client() as made:
        made.begin(STEPPED, stopOnEntry=True)
        made.until("stopped")
        for _ in range(STEPS):
            started = perf_counter()
            made.send("next", threadId=1)
            made.until("stopped")
            seconds.append(perf_counter() - started)
    slowest = sorted(seconds)[int(0.99 * STEPS)]
    return Measurement("step to stopped", {"seconds": median(seconds), "seconds, 99 of 100": slowest})


def _variables(program: Path) -> Iterator[Measurement]:
    log = program.with_suffix(".gscope")
    with record(log, cap=1 << 30):
        exec(compile(LARGE, str(program), "exec"), {})
    for title, recording in (("kept in the log", log), ("asked of the program", None)):
        seconds: list[float] = []
        hovers: list[float] = []
        with client() as made:
            made.begin(program, "op:add", log=recording)
            made.until("stopped")
            if recording is not None:
                made.send("continue", threadId=1)
                made.until("stopped")
            for _ in range(LOOKS):
                started = perf_counter()
                frame = made.ask("stackTrace", threadId=1)["stackFrames"][0]["id"]
                scope = made.ask("scopes", frameId=frame)["scopes"][0]["variablesReference"]
                value = made.ask("variables", variablesReference=scope)["variables"][0]
                page = {
                    "variablesReference": value["variablesReference"],
                    "filter": "indexed",
                    "start": 500,
                    "count": 100,
                }
                made.ask("variables", **page)
                seconds.append(perf_counter() - started)
                started = perf_counter()
                made.ask("evaluate", expression="x", context="hover", frameId=frame)
                hovers.append(perf_counter() - started)
        yield Measurement(f"stack, scopes and a page of a 10M tensor, {title}", {"seconds": median(seconds)})
        yield Measurement(f"hover of a 10M tensor, {title}", {"seconds": median(hovers)})


def _runs(program: Path) -> Iterator[Measurement]:
    recorded, debugged = [], []
    for number in range(RUNS):
        log = program.with_name(f"{number}.gscope")
        words = [sys.executable, "-m", "graphscope", "record", "--log", str(log), str(program)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        said = subprocess.run(words, capture_output=True, text=True, check=True, env=environment).stdout
        recorded.append(float(said.split()[1]))
        shutil.rmtree(log)  # else it is written to the disk while the next one runs
        with client() as made:
            made.begin(program)
            made.until("terminated")
            debugged.append(float(made.output.split()[1]))
    # The least of each: whatever else the machine does only adds.
    yield Measurement(NO_STOP, {"seconds": min(debugged), "to recorded": min(debugged) / min(recorded)})
