"""File systems of servers: no locks, no room reserved ahead, no maps, removed files that stay while they are read.

A library that is preloaded takes these from a local one (`programs/server.c`); the programs are what they are.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from graphscope.eventlog.reader import load

PROGRAMS = Path(__file__).parent / "programs"

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="preloads a library as Linux does"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler"),
]

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("server") / "server.so"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", found, PROGRAMS / "server.c", "-ldl"], check=True
    )
    return found


@pytest.fixture
def start(library: Path, tmp_path: Path) -> Start:
    """Start one of `programs/` where a server lacks something."""

    def start(lacks: str, name: str, *arguments: str) -> subprocess.Popen[str]:
        told = {"LD_PRELOAD": str(library), "SERVER_LACKS": lacks, "PYTHONPATH": os.pathsep.join(sys.path)}
        return subprocess.Popen(
            [sys.executable, str(PROGRAMS / name), *arguments], cwd=tmp_path, env={**os.environ, **told}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    return start


@pytest.mark.slow
@pytest.mark.parametrize("lacks", ["", "room", "room,locks"])
def test_what_a_ring_lets_go_of_goes_when_nobody_reads_it_any_more(lacks: str, start: Start, tmp_path: Path) -> None:
    out, said = (run := start(lacks, "on_a_server.py", "300")).communicate(timeout=120)
    assert run.returncode == 0, said
    assert int(out.split()[1]) > 5, "no removed file was read"
    log = load(tmp_path / "run.gscope")
    assert log.closed
    assert not log.stopped
    left = [path for path in (tmp_path / "run.gscope" / "segments").iterdir() if not path.name.isdecimal()]
    assert len(left) <= 1, "but for the one that the recording itself reads, with its first rows"


@pytest.mark.slow
def test_without_locks_a_recording_that_may_go_on_keeps_its_name(start: Start, tmp_path: Path) -> None:
    first = start("locks", "waiting.py")
    assert first.stdout is not None
    assert first.stdout.readline() == "begun\n"
    second = start("locks", "waiting.py")
    _, said = second.communicate("\n", timeout=60)
    assert "another process records to shared.gscope; this one records to shared-1.gscope" in said
    _, said = first.communicate("\n", timeout=60)
    assert (first.returncode, said) == (0, "")
    for name, run in (("shared.gscope", first), ("shared-1.gscope", second)):
        about = json.loads((tmp_path / name / "log.json").read_text())
        assert (about["process"], about["finished"] is None) == (run.pid, False)
        assert len(load(tmp_path / name)) == 4
    start("locks", "waiting.py").communicate("\n", timeout=60)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["shared-1.gscope", "shared-2.gscope", "shared.gscope"]


def test_where_nothing_can_be_mapped_that_is_said(start: Start) -> None:
    _, said = start("maps", "waiting.py").communicate("\n", timeout=60)
    assert said.endswith(
        "LogError: can't record to shared.gscope: the file system there maps no files that are written to\n"
        "hint: name another place with --log PATH\n"
    )
