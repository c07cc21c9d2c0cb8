"""A program that another kills, and a recording that another removes: said in a sentence, and what was read stays."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest

from graphscope.eventlog.reader import load
from tests.tui.terminal import Terminal

pytestmark = pytest.mark.slow

PROGRAM = """\
import os, pathlib
import graphscope as gs
pathlib.Path("pid").write_text(str(os.getpid()))
w = gs.ones(3, requires_grad=True)
for turn in range(1_000_000, 2_000_000):
    (w * w).sum().backward()
    print("turn", turn)
"""


@pytest.fixture
def debugged(terminal: Terminal, tmp_path: Path) -> Terminal:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    terminal.run("graphscope debug program.py; echo status $?")
    terminal.shows(" LIVE ", "#0 w")
    return terminal


def log_of(process: int) -> Path:
    """The log that a process writes."""
    held = (each.readlink() for each in Path(f"/proc/{process}/fd").iterdir() if each.is_symlink())
    return next(each.parent for each in held if each.name == "owner.lock")


@pytest.mark.parametrize("runs", [False, True], ids=["waits", "runs"])
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM], ids=lambda sent: sent.name)
def test_what_killed_it_is_told_and_its_recording_is_kept(
    debugged: Terminal, tmp_path: Path, sent: signal.Signals, *, runs: bool
) -> None:
    if runs:
        debugged.press("c", "t")
        debugged.shows("turn 1")
        debugged.press("C-t", "Escape")
    os.kill(int((tmp_path / "pid").read_text()), sent)
    said = f"the program was killed by {sent.name}"
    debugged.shows(said, "failed", "w")
    debugged.press("n")
    debugged.shows(f"({said}: no exception was recorded)")
    debugged.press("q")
    debugged.shows("the recording is program.gscope", f"status {128 + sent}")
    assert len(load(tmp_path / "program.gscope")) >= (10 if runs else 1)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the log is found in /proc")
def test_a_recording_that_is_gone_is_not_said_to_be_kept(debugged: Terminal, tmp_path: Path) -> None:
    shutil.rmtree(log_of(int((tmp_path / "pid").read_text())))
    debugged.shows("the log is gone", "w")
    debugged.press("q")
    debugged.shows("has not ended")
    debugged.press("y")
    debugged.shows("The recording is gone", "leave without it")
    debugged.press("d")
    debugged.shows("status 0")
    assert "the recording is" not in debugged.text
    assert not (tmp_path / "program.gscope").exists()
