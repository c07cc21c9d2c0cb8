"""The programs that measure the log ask it what they say, at a small size."""

from __future__ import annotations

import json
import mmap
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import log
from benchmarks.reading import private_bytes
from graphscope.eventlog import schema


def test_bare_row_is_the_row_of_the_schema() -> None:
    widths = [schema.EVENT[name] for name in schema.EVENT.names or ()]
    count = sum(1 if not one.shape else one.shape[0] for one in widths)
    assert log.FIELDS.size == schema.EVENT.itemsize
    assert len(struct.unpack(log.FIELDS.format, bytes(log.FIELDS.size))) == count


@pytest.mark.slow
def test_reading_finds_the_nan_in_a_fresh_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "ROWS", 5_000)
    recorded = log.recorded(tmp_path / "run.gscope")
    command = [sys.executable, "-m", "benchmarks.reading", str(recorded.path), "2500"]
    output = subprocess.run(command, capture_output=True, check=True, text=True, cwd=log.ROOT.parent).stdout
    said = json.loads(output)
    assert said["nonfinite"] in range(recorded.nonfinite, recorded.nonfinite + 4)
    assert said["seconds"] > 0


def test_private_memory_grows_with_what_is_held() -> None:
    before = private_bytes()
    if not before:
        pytest.skip("this system does not tell a process its private memory")
    held = mmap.mmap(-1, 32 << 20)  # what is allocated may have been held before, and be in memory yet
    held.write(bytes(range(256)) * (1 << 17))
    after = private_bytes()
    assert after["bytes"] - before["bytes"] > 16 << 20
    assert after["bytes, written"] - before["bytes, written"] > 16 << 20
    del held
