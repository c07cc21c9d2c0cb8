"""The log where the system lacks what it likes to use: reservation, locks, populating maps, fork."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pytest

import graphscope as gs
from graphscope.eventlog import mapped, ownership
from graphscope.eventlog.pack import pack
from graphscope.eventlog.reader import load


def run(path: Path) -> None:
    with gs.record(path, budget=1 << 24) as log:  # which a segment takes a quarter of
        total = gs.tensor(np.zeros(3000, np.float32))
        for _ in range(500):
            total = total + 1.0
    log.refresh()
    assert log.end == 501
    assert len(list(log.chunks())) > 1
    assert all(np.all(log.value(row) == row) for row in range(501))
    assert load(pack(path)).end == 501


def test_without_fallocate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    run(tmp_path / "run.gscope")


@pytest.mark.parametrize("number", [errno.EOPNOTSUPP, errno.EINVAL])
def test_a_file_system_without_reservation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def refuse(*_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "posix_fallocate", refuse, raising=False)
    run(tmp_path / "run.gscope")
    assert all(file.stat().st_blocks for file in tmp_path.rglob("values.npy")), "written, so that no page is missing"


def test_writes_that_take_a_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, content: write(file, bytes(content[:100_003])))
    run(tmp_path / "run.gscope")


@pytest.mark.slow
def test_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ownership, "fcntl", None)
    run(tmp_path / "run.gscope")
    assert not ownership.is_live(tmp_path / "run.gscope")
    run(tmp_path / "other.gscope")


def test_without_populating(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapped, "_POPULATE_WRITE", 9999)  # an older kernel knows no such advice
    run(tmp_path / "run.gscope")
    monkeypatch.setattr("sys.platform", "darwin")
    run(tmp_path / "other.gscope")
