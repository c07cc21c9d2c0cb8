"""A recording that was killed before its first row: every command says so, and what lies beside it can be looked at."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from .conftest import Run

PROGRAM = """
import graphscope as gs
(gs.ones(3, requires_grad=True) * 2.0).sum().backward()
"""

KILLED = """
import os, signal, sys
import graphscope as gs

def kill(event, arguments):  # as log.json is written, and as the first segment is made
    if event == "{event}" and "{name}" in str(arguments[0]):
        os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(kill)
with gs.record("killed.gscope"):
    pass
"""

WHAT = "is a recording that was killed before its first row was written"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")


@pytest.fixture
def killed(tmp_path: Path, graphscope: Run, run: Run) -> Path:
    """The log of a program that was killed between the folders and `log.json`, and beside it one that was not."""
    (tmp_path / "train.py").write_text(PROGRAM)
    assert graphscope("record", "train.py").returncode == 0
    (tmp_path / "killed.py").write_text(KILLED.format(event="open", name="log.json.new"))
    assert run("killed.py").returncode == -signal.SIGKILL
    path = tmp_path / "killed.gscope"
    assert (path / "segments").exists()
    assert not (path / "log.json").exists()
    return path


@pytest.mark.slow
def test_each_command_says_what_it_is_and_looks_at_what_lies_beside_it(killed: Path, read: Run) -> None:
    for words in (["summary"], ["doctor"], ["ranks"], ["export", "-o", "x.svg"], ["pack"], ["runs"]):
        done = read(words[0], "killed.gscope", *words[1:])
        assert done.returncode == 2, words
        assert done.stderr.count(WHAT) == 1, words
        assert "Traceback" not in done.stderr
    done = read("runs", ".")
    assert "train" in done.stdout
    assert WHAT in done.stderr
    counted = "SELECT count(*) AS nodes FROM nodes"
    pytest.importorskip("duckdb")
    alone, both = read("query", "train.gscope", counted), read("query", ".", counted)
    assert both.stdout == alone.stdout
    assert both.stderr.count(WHAT) == 1


@pytest.mark.slow
def test_the_next_recording_of_that_name_takes_its_place(killed: Path, graphscope: Run, read: Run) -> None:
    assert graphscope("record", "--log", "killed.gscope", "train.py").returncode == 0
    assert read("summary", "killed.gscope").returncode == 0


@pytest.mark.slow
def test_a_rank_that_was_killed_so_is_told_among_the_others(killed: Path, tmp_path: Path, read: Run) -> None:
    (tmp_path / "train.gscope").rename(tmp_path / "run-rank0.gscope")
    killed.rename(tmp_path / "run-rank1.gscope")
    done = read("ranks", "run.gscope")
    assert "Traceback" not in done.stderr
    assert WHAT in done.stdout
    assert "rank 1" in done.stdout
    assert "killed before its first row" in read("doctor", "run.gscope").stderr
