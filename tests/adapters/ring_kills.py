"""`ring_kills.py ROUNDS SEED`: kill trainings that are recorded as a ring at random moments, and look at what is left.

The program writes what it computed of each step into a pipe of its own; every step that the ring promises is to be in
the log, with the loss that the program knows. Prints how many steps were compared.
"""

from __future__ import annotations

import math
import os
import random
import select
import shutil
import signal
import struct
import sys
import time
import traceback
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

import graphscope as gs
from graphscope.errors import LogError
from graphscope.eventlog.reader import Log, load
from graphscope.eventlog.schema import Kind
from graphscope.graph.loop_turns import counters_of
from graphscope.graph.series.every_step import every_step

STEP = struct.Struct("<qd")
SIGNAL = -1
"""In place of a step: the program has been asked to hold what is there."""
NAN_AT = 40
CALLS = ["linear", "tanh", "linear", "square", "mean", *["SGD"] * 4]
"""The calls of a step, and the parameters that it changes."""
WHOLE = {"edges.npy", "events.npy", "outputs.npy", "rare.npy"}


class Way(NamedTuple):
    """How a program is recorded, and what it does."""

    every: int = 1
    keep_last: int | None = None
    budget: int = 1 << 30
    values: str = "full"
    width: int = 8
    bad: int | None = None
    """The first step whose loss is NaN."""
    asks: bool = False
    """Whether it is asked by a signal to hold what is there."""


WAYS = (
    Way(keep_last=3),
    Way(keep_last=5, width=128),
    Way(keep_last=5, width=128, values="summary"),
    Way(every=7),
    Way(every=7, keep_last=3),
    Way(every=3, keep_last=4, width=64, budget=24 << 20),
    Way(keep_last=4, budget=24 << 20, width=64),
    Way(keep_last=6, bad=NAN_AT),
    Way(every=5, keep_last=3, bad=NAN_AT),
    Way(keep_last=3, bad=NAN_AT, values="summary", width=128),
    Way(every=6, keep_last=3, width=32, values="summary", asks=True),
    Way(keep_last=4, width=64, asks=True),
    Way(every=9, keep_last=4, asks=True),
)


def train(path: Path, pipe: int, way: Way) -> None:
    """Train for ever."""
    model = torch.nn.Sequential(torch.nn.Linear(4, way.width), torch.nn.Tanh(), torch.nn.Linear(way.width, way.width))
    optimizer = torch.optim.SGD(model.parameters(), 1e-4, momentum=0.9)

    def ask(*_: Any) -> None:
        os.write(pipe, STEP.pack(SIGNAL, 0))
        signal.raise_signal(signal.SIGUSR1)

    options: dict[str, Any] = {"every": way.every, "keep_last": way.keep_last, "budget": way.budget}
    with gs.record(path, values=way.values, **options):
        signal.signal(signal.SIGUSR2, ask)
        for step in range(1_000_000):
            x = torch.randn(8, 4)
            if step == way.bad:
                x[0, 0] = math.nan
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            os.write(pipe, STEP.pack(step, loss.item()))


def kill_once(path: Path, way: Way) -> bytes:
    """What a training has written until it was killed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            train(path, writing, way)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    os.close(writing)
    moment = random.choice((0.02, 0.1, 0.4, 1.0)) * random.random()
    asked = random.random() * moment if way.asks else math.inf
    start, written = time.monotonic(), b""
    while (passed := time.monotonic() - start) < moment:
        if passed > asked and written:  # it heeds the signal by then
            os.kill(child, signal.SIGUSR2)
            asked = math.inf
        if select.select([reading], [], [], min(moment, asked) - passed if asked > passed else 0.001)[0]:
            written += os.read(reading, 1 << 16)
    os.kill(child, signal.SIGKILL)
    with os.fdopen(reading, "rb") as pipe:
        written += pipe.read()
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), f"the program ended by itself: {status}"
    return written[: len(written) // STEP.size * STEP.size]


def promised(written: list[int], way: Way) -> set[int]:
    """The steps that are to be in the log, of those that the program has written, and its requests between them."""
    done = [step for step in written if step != SIGNAL]
    sampled = [step for step in done if step < 2 or step % way.every == 0]
    if SIGNAL in written:
        asked = written.index(SIGNAL)  # in this step, or behind it
        held = [step for step in sampled if step < asked][-(way.keep_last or 1) + 1 :]
        return {*held, *(step for step in done if asked + 2 <= step <= asked + (way.keep_last or 1)), *sampled[-1:]}
    if way.bad is not None and way.bad in done:
        following = [step for step in done if way.bad < step <= way.bad + (way.keep_last or 1)]
        held = [step for step in sampled if step <= way.bad]
        return {*held[-(way.keep_last or 1) :], *following, *newest(sampled, way)}
    return {*newest(sampled, way)}


def newest(sampled: list[int], way: Way) -> list[int]:
    """The newest of the sampled steps that are kept."""
    return sampled if way.keep_last is None else sampled[-way.keep_last :]


def losses(log: Log) -> dict[int, float]:
    """The loss of each step that the log has whole, by the number that the program gives it."""
    marks = np.flatnonzero(log.column("kind") == Kind.STEP) + log.first
    numbers = [each["step"] for each in counters_of(log, marks)]
    missing = np.flatnonzero(log.column("kind") == 0) + log.first
    found, start = {}, log.first
    for number, end in zip(numbers, marks.tolist(), strict=True):
        start = max([start, *(missing[missing < end][-1:] + 1).tolist()])
        rows = np.flatnonzero(log.column("kind", start, end) == Kind.OP) + start
        calls = [(name, row) for row in rows.tolist() if (name := log.op(log.event(row).op).name) != "changed"]
        if [name for name, _ in calls][-len(CALLS) :] == CALLS:
            value = log.value(dict(calls)["mean"])
            assert value is not None, f"step {number} is in the log, and its loss is not"
            assert number not in found, f"step {number} is told twice"
            found[number] = float(value)
        start = end + 1
    return found


def same(one: float, other: float) -> bool:
    """Whether a loss is what the program has computed."""
    return np.float32(one) == np.float32(other) or (math.isnan(one) and math.isnan(other))


def check(path: Path, content: bytes, way: Way) -> int:
    """Compare a log with what the program has written; how many steps were compared."""
    written = [*STEP.iter_unpack(content)]
    try:
        log = load(path)
    except LogError:
        assert not written, "a log of finished steps does not open"
        return 0
    computed = {step: loss for step, loss in written if step != SIGNAL}
    told = losses(log)
    ended = [step for step in told if step > max(computed, default=-1)]  # and it was killed ahead of telling so
    missing = promised([*(step for step, _ in written), *ended], way) - {*told}
    assert not missing, f"of {len(computed)} steps {sorted(missing)} are missing; there are {sorted(told)}"
    for step in {*told} & {*computed}:
        assert same(told[step], computed[step]), (
            f"step {step} has lost {computed[step]}, and the log tells {told[step]}"
        )
    series = every_step(log)
    assert (np.diff(series["step"]) > 0).all()
    known = series[series["has_loss"]]
    assert (
        len(series) - len(known) <= 1 + way.asks
    )  # of the step of the kill, and one that was asked about in its middle
    for step, loss in zip((known["step"] - 1).tolist(), known["loss"].tolist(), strict=True):
        assert step not in computed or same(loss, computed[step]), f"the series tells {loss} of step {step}"
    for each in log.files.segments():
        assert {file.name for file in (path / each[1]).iterdir()} >= WHOLE, f"{each[1]} is half a segment"
    half = [each.name for each in (path / "segments").iterdir() if not each.name.isdigit()]
    assert len(half) <= 1, f"{half} are left over"
    return len({*told} & {*computed})


def main() -> None:
    """Kill so many times."""
    rounds, seed = int(sys.argv[1]), int(sys.argv[2])
    random.seed(seed)
    torch.set_num_threads(1)
    with gs.record():  # what is imported by then, those that are killed need not import
        weight = torch.ones(1, requires_grad=True)
        weight.sum().backward()
        torch.optim.SGD([weight]).step()
    total = 0
    for number in range(rounds):
        path, way = Path(f"killed-{number}.gscope"), WAYS[(seed + number) % len(WAYS)]
        content = kill_once(path, way)
        try:
            total += check(path, content, way)
        except Exception as error:
            raise SystemExit(f"round {number}, seed {seed}, {way}: {type(error).__name__}: {error}") from error
        shutil.rmtree(path, ignore_errors=True)
    print(total)


main()
