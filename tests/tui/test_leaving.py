"""Leaving the screen over a program: it asks, and what was recorded and set up is there again afterwards."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from textual.widgets import Input

from graphscope.cli.parser import find_log
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.session_file import restore
from graphscope.eventlog.reader import load
from tests.tui.screens import Screen, debug, drive

pytestmark = pytest.mark.slow

PROGRAM = """\
import os, pathlib
import graphscope as gs
pathlib.Path("pid").write_text(str(os.getpid()))
x = gs.ones(2)
print("hello from the program")
y = x * 2
z = y + 1
"""


def program(folder: Path) -> Path:
    script = folder / "program.py"
    script.write_text(PROGRAM, encoding="utf-8")
    return script


def alive(folder: Path) -> bool:
    """Whether the program is still there."""
    try:
        os.kill(int((folder / "pid").read_text()), 0)
    except ProcessLookupError:
        return False
    return True


def test_a_program_that_waits_is_ended_only_when_that_is_said(tmp_path: Path) -> None:
    async def use(screen: Screen) -> None:
        await screen.shows("#0", "#heading")
        await screen.press("q")
        await screen.shows("program.py has not ended")
        await screen.press("escape")
        assert alive(tmp_path)
        await screen.press("n")
        await screen.at(1)
        await screen.press("q")
        await screen.shows("program.py has not ended")
        await screen.press("y")
        await screen.until(lambda: not screen.app.is_running, "the end of the screen")

    debug(program(tmp_path), use)
    assert not alive(tmp_path)


@pytest.mark.parametrize("way", ["typed", "ctrl+q"])
def test_every_way_out_asks(tmp_path: Path, way: str) -> None:
    async def use(screen: Screen) -> None:
        await screen.shows("#0", "#heading")
        if way == "typed":
            await screen.press(":")
            screen.main.query_one("#line", Input).value = "quit"
            await screen.press("enter")
        else:
            await screen.press("ctrl+q")
        await screen.shows("program.py has not ended")
        assert alive(tmp_path)
        await screen.press("ctrl+q")
        await screen.until(lambda: not screen.app.is_running, "the end of the screen")

    debug(program(tmp_path), use)
    assert not alive(tmp_path)


def test_a_program_that_has_ended_is_left_at_once(tmp_path: Path) -> None:
    async def use(screen: Screen) -> None:
        await screen.shows("#0", "#heading")
        await screen.press("c")
        await screen.shows("ended", "#heading")
        await screen.press("q")
        await screen.until(lambda: not screen.app.is_running, "the end of the screen")

    assert debug(program(tmp_path), use) == 0


def set_up_and_go_on(leave_with: str):
    async def use(screen: Screen) -> None:
        await screen.shows("#0", "#heading")
        await screen.type("b op:mul")
        await screen.type("b op:add, value.max() > 2")
        await screen.press("c")
        await screen.shows("mul", "#heading")
        await screen.press("M", "q")
        await screen.shows("program.py has not ended")
        await screen.press(leave_with)
        await screen.until(lambda: not screen.app.is_running, "the end of the screen")

    return use


def opened_again(log: Path) -> None:
    """Look whether all is there again."""
    debugger = Debugger(load(log))
    restore(debugger)
    assert [(found.spec, found.enabled) for found in debugger.breakpoints] == [("op:mul", True), ("op:add", False)]
    assert list(debugger.checkpoints.values()) == [1]

    async def use(screen: Screen) -> None:
        await screen.press("t")
        await screen.shows("hello from the program", "#output")

    drive(log, use)


def test_a_recording_can_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    debug(program(tmp_path), set_up_and_go_on("k"))
    assert not alive(tmp_path)
    opened_again(tmp_path / "program.gscope")
    debug(program(tmp_path), set_up_and_go_on("k"))
    assert (tmp_path / "program-2.gscope").is_dir()


def test_a_recording_that_has_a_name_stays_and_is_found(tmp_path: Path) -> None:
    debug(program(tmp_path), set_up_and_go_on("y"), log=str(tmp_path / "run1"))
    assert find_log(None, tmp_path) == tmp_path / "run1"
    opened_again(tmp_path / "run1")
