"""Kill a recording child at random moments; every event that it had acknowledged is to be in its log, whole."""

import os
import random
import select
import signal
import struct
import sys
import time
import traceback
import zlib
from pathlib import Path

import numpy as np

from graphscope.errors import LogError
from graphscope.eventlog.reader import load
from graphscope.eventlog.schema import Kind
from graphscope.eventlog.writer import Writer

ACKNOWLEDGEMENT = struct.Struct("<QI")


def record(path: Path, pipe: int, seed: int) -> None:
    random.seed(seed)
    writer = Writer(path)
    rows = [0, 0]
    for number in range(1_000_000):
        size = random.choice((1, 1, 2, 3, 10, 10, 100, 100, 1000, 20_000))
        value = np.arange(number, number + size).astype(random.choice(("f4", "f8", "i8", "u1")))
        attrs = writer.attributes({"name": f"value {number}", "text": "x" * random.choice((0, 10, 500))})
        several = random.random() < 0.1
        inputs = random.choice((1, 2, 5))
        template = writer.template(
            Kind.OP, shape=value.shape, dtype=value.dtype, attrs=attrs, several=several, input_count=inputs
        )
        if several or inputs > 3:
            keep = writer.template(Kind.OP, shape=value.shape, dtype=value.dtype).keep
            outputs = [(value, keep), (value[::-1], keep)] if several else [(value, keep)]
            row = writer.append_wide(template, outputs, [(rows[-1], 0)] * inputs)
        else:
            row = writer.append(template, value, 0, 0, 0, *rows[-inputs:])
        rows.append(row)
        os.write(pipe, ACKNOWLEDGEMENT.pack(row, zlib.crc32(value.tobytes() + f"value {number}".encode())))


def kill_once(path: Path, seed: int) -> tuple[bytes, float]:
    moment = random.choice((0.0, 0.002, 0.01, 0.05, 0.2, 0.5)) * random.random()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            record(path, writing, seed)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    os.close(writing)
    acknowledged = b""
    end = time.monotonic() + moment
    while (left := end - time.monotonic()) > 0:
        if select.select([reading], [], [], left)[0]:
            acknowledged += os.read(reading, 1 << 16)
    os.kill(child, signal.SIGKILL)
    with os.fdopen(reading, "rb") as pipe:
        acknowledged += pipe.read()
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), f"the child ended by itself: {status}"
    return acknowledged, moment


def check(path: Path, acknowledged: bytes) -> int:
    expected = list(ACKNOWLEDGEMENT.iter_unpack(acknowledged[: len(acknowledged) // 12 * 12]))
    try:
        log = load(path)
    except LogError:
        assert not expected, "a log with acknowledged events does not open"
        return 0
    for row, checksum in expected:
        event = log.event(row)
        value = log.value(row)
        assert value is not None, f"row {row} has no value"
        name = log.attrs(event.attrs)["name"]
        assert zlib.crc32(value.tobytes() + name.encode()) == checksum, f"row {row} is not what was appended"
        if event.output_count == 2:
            assert np.array_equal(log.value(row, 1), value[::-1])
        assert len(event.inputs) in (1, 2, 5)
        assert log.thread(event.thread)["name"] == "MainThread"
    assert not log.closed
    return len(expected)


def main() -> None:
    rounds, seed = int(sys.argv[1]), int(sys.argv[2])
    random.seed(seed)
    total = 0
    for number in range(rounds):
        path = Path(f"killed-{number}.gscope")
        acknowledged, moment = kill_once(path, seed + number)
        try:
            total += check(path, acknowledged)
        except Exception as error:
            raise SystemExit(f"round {number}, seed {seed}, killed after {moment:.4f} s: {error!r}") from error
    print(total)


main()
