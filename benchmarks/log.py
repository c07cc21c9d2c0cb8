"""The log: what appending a row costs beside a bare `struct.pack_into`, and what opening a million rows costs."""

from __future__ import annotations

import json
import mmap
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.engines import Step, convert, load
from benchmarks.measure import interleave
from benchmarks.results import ROOT, Measurement
from benchmarks.workloads import WORKLOADS

ROWS: Final = 1_000_000
NODE: Final = 500_000
FIELDS: Final = struct.Struct("<BBHIIIIIIBBBBQQQQQQQQ")
"""The event row of `eventlog/schema.py`, every field on its own."""


def nothing() -> dict[str, np.ndarray]:
    """No gradients."""
    return {}


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder on disk that goes away."""
    folder = Path(tempfile.mkdtemp(prefix="benchmark-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def append() -> list[Measurement]:
    """One row at a time into a log on disk, against packing the same row into mapped memory and nothing else."""
    schema, writing = load("graphscope.eventlog.schema"), load("graphscope.eventlog.writer")
    size = schema.EVENT.itemsize
    if FIELDS.size != size:
        raise AssertionError(f"an event row has {size} bytes now, and FIELDS {FIELDS.size}")
    page, values = mmap.mmap(-1, 1 << 16), np.ones((20, 20), np.float32)
    prefix = struct.Struct("<32sQQQQQQQQ")
    constant, pack_fields, pack_prefix = bytes(32), FIELDS.pack_into, prefix.pack_into
    scalar = np.ones((), np.float32)
    with scratch() as folder:
        writer = writing.Writer(folder / "run.gscope")

        def template(shape: tuple[int, ...], dtype: Any) -> Any:
            return writer.template(schema.Kind.OP, op=1, site=1, shape=shape, dtype=dtype, input_count=2)

        row, small, large = template((), None), template((), scalar.dtype), template((20, 20), values.dtype)
        add = writer.append
        candidates: dict[str, Callable[[], object]] = {
            "bare pack": lambda: pack_fields(
                page, 960, 2, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 2, 0, 77, 123456789, 500, 0, 0, 76, 75, 0
            ),
            "bare pack, constant part as one field": lambda: pack_prefix(
                page, 960, constant, 77, 123456789, 500, 0, 0, 76, 75, 0
            ),
            "row": lambda: add(row, None, 123456789, 500, 0, 1, 2),
            "row with a scalar": lambda: add(small, scalar, 123456789, 500, 0, 1, 2),
            "row with 1.6 KB": lambda: add(large, values, 123456789, 500, 0, 1, 2),
            "bare copy of 1.6 KB": lambda: page.__setitem__(slice(1024, 2624), values.tobytes()),
        }
        timings = interleave({name: Step(run, nothing) for name, run in candidates.items()})
        writer.close()
    return [
        Measurement(name, {"seconds": timings.median(name), "to bare pack": timings.ratio(name, "bare pack")})
        for name in candidates
    ]


@dataclass(frozen=True)
class Recorded:
    """A log made for reading."""

    path: Path
    nonfinite: int
    """The row that holds the first NaN."""


def recorded(path: Path, rows: int | None = None) -> Recorded:
    """A log of `rows` rows (`ROWS` unless told), of the unrolled cell trained on and on; near its end a NaN is born."""
    rows = rows or ROWS
    gs = load("graphscope")
    workload = WORKLOADS["W2"]
    values = convert(workload.data(), gs.tensor)
    for name in workload.parameters:
        values[name].requires_grad_()
    record = load("graphscope.eventlog.record")
    with gs.record(path):
        while record.writer.end < record.writer.base + rows * 0.99:
            workload.tensors(gs, values).backward()
        nonfinite = record.writer.end - record.writer.base
        gs.tensor([1.0, float("nan")]) * 2.0
        while record.writer.end < record.writer.base + rows:
            workload.tensors(gs, values).backward()
    return Recorded(path, nonfinite)


def reading() -> list[Measurement]:
    """Open it, find the first non-finite value, list node 500,000 with inputs and users; each in a fresh process."""
    with scratch() as folder:
        made = recorded(folder / "run.gscope")
        cold = evict(made.path)
        measurements = [read_once("cold", made)] if cold else []
        warm = [read_once("warm", made) for _ in range(5)]
        return [*measurements, min(warm, key=lambda one: one.numbers["seconds"])]


def evict(path: Path) -> bool:
    """Ask the system to forget the log's pages, so that they are read from disk; False where it can't be asked."""
    if not hasattr(os, "posix_fadvise"):
        return False
    for file in path.rglob("*.npy"):
        with file.open("rb") as opened:
            os.fsync(opened.fileno())
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return True


def read_once(name: str, recorded: Recorded) -> Measurement:
    """What `benchmarks.reading` says of a log."""
    command = [sys.executable, "-m", "benchmarks.reading", str(recorded.path), str(NODE)]
    output = subprocess.run(command, capture_output=True, check=True, text=True, cwd=ROOT.parent).stdout
    said = json.loads(output)
    if said.pop("nonfinite") not in range(recorded.nonfinite, recorded.nonfinite + 4):
        raise AssertionError("the first non-finite value was not found where it is")
    return Measurement(name, said)
