"""Leaving the screen over a program: it asks, and what was recorded and set up is there again afterwards."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.widgets import Input

from graphscope.cli import main
from graphscope.cli.parser import find_log
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.printed_text import printed_text
from graphscope.debugger.session_file import Session, restore, save
from graphscope.eventlog.reader import load
from graphscope.tui.arrangement import PARTS, arrange, arrangement_of
from graphscope.tui.screen_session import RecordedSession
from graphscope.tui.tape.kept_folds import folds_of
from graphscope.tui.tape.tape import Tape
from tests.tui.screens import Screen, debug, drive
from tests.tui.terminal import Terminal

Use = Callable[[Screen], Awaitable[None]]

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


async def set_up(screen: Screen) -> None:
    """What a person does who looks closely."""
    await screen.shows("#0", "#heading")
    await screen.type("b op:mul")
    await screen.type("b op:add, value.max() > 2")
    await screen.type("ignore 2 3")
    await screen.type("watch y")
    await screen.type("display x.sum()")
    await screen.press("c")
    await screen.shows("mul", "#heading")
    await screen.press("M", "2", "v", "+")


def leave_with(*keys: str) -> Use:
    async def use(screen: Screen) -> None:
        await set_up(screen)
        await screen.press("q")
        await screen.shows("program.py has not ended")
        await screen.press(*keys)
        await screen.until(lambda: not screen.app.is_running, "the end of the screen")

    return use


def opened_again(log: Path) -> None:
    """Look whether all is there again, and whether it is still there when that is left."""
    for _ in range(2):
        kept = opened(log, has_all)
        assert kept.said == ()


async def has_all(screen: Screen, debugger: Debugger, kept: Session) -> None:
    assert [(str(found), found.enabled, found.ignore) for found in debugger.breakpoints] == [
        ("op:mul", True, 0),
        ("op:add, value.max() > 2", True, 3),
    ]
    assert list(debugger.checkpoints.values()) == [1]
    assert [found.expression.text for found in debugger.watches.values()] == ["y"]
    assert [found.text for found in debugger.displays.values()] == ["x.sum()"]
    await screen.at(1)
    assert arrangement_of(screen.main) | {"focus": ""} == kept.screen | {"focus": ""}
    await screen.shows("value", "#facts")
    await screen.press("t")
    await screen.shows("hello from the program", "#output")
    await screen.press("ctrl+t", "escape", "q")


def opened(log: Path, use: Callable[[Screen, Debugger, Session], Awaitable[None]]) -> Session:
    """The screen as `graphscope open` has it; what was kept for it."""
    debugger = Debugger(load(log))
    kept = restore(debugger)
    session = RecordedSession(debugger, kept)
    drive(log, lambda screen: use(screen, debugger, kept), session=session)
    save(debugger, session.arranged)
    return kept


def test_a_recording_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    debug(program(tmp_path), leave_with("y"))
    assert not alive(tmp_path)
    opened_again(tmp_path / "program.gscope")
    debug(program(tmp_path), leave_with("y"))
    assert (tmp_path / "program-2.gscope").is_dir()


def test_a_recording_can_be_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    debug(program(tmp_path), leave_with("d"))
    assert not alive(tmp_path)
    assert not list(tmp_path.glob("*.gscope"))


def test_a_recording_that_has_a_name_stays_and_is_found(tmp_path: Path) -> None:
    debug(program(tmp_path), leave_with("y"), log=str(tmp_path / "run1"))
    assert find_log(tmp_path) == tmp_path / "run1"
    opened_again(tmp_path / "run1")


def test_a_recording_whose_place_is_taken_away_is_told_of_and_can_be_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = program(tmp_path)
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)

    async def use(screen: Screen) -> None:
        await screen.shows("#0", "#heading")
        gone.rmdir()
        await screen.press("q")
        await screen.shows("program.py has not ended")
        await screen.press("y")
        await screen.shows("leave without it")
        await screen.press("d")
        await screen.until(lambda: not screen.app.is_running, "the end of the screen")

    debug(script, use)
    monkeypatch.chdir(tmp_path)
    assert not alive(tmp_path)


def test_what_was_set_up_is_there_when_the_program_is_started_again(tmp_path: Path) -> None:
    async def use(screen: Screen) -> None:
        await set_up(screen)
        before = arrangement_of(screen.main)
        first = screen.main.log_index.log.path
        await screen.type("restart")
        await screen.until(lambda: screen.main.log_index.log.path != first, "the log of the next run")
        await screen.at(0)
        await screen.type("watch x")
        await screen.press("W")
        await screen.shows("2 ")
        await screen.press("escape", "c")
        await screen.at(1)
        assert [found.number for found in screen.main.session.breakpoints] == [1, 2]
        assert arrangement_of(screen.main) | {"zoom": []} == before | {"zoom": []}
        await screen.type("goto c1")
        await screen.at(1)

    debug(program(tmp_path), use)


FOLDED = """\
import graphscope as gs
from graphscope import nn
model = nn.Sequential(*(nn.Linear(2, 2) for _ in range(12)))
for step in range(6):
    loss = model(gs.ones(1, 2)).sum()
    loss.backward()
"""


def lines_of(tape: Tape) -> list[int | None]:
    assert tape.lines is not None
    return [tape.lines.key(line) for line in range(len(tape.lines))]


def test_folds_and_searches_are_there_again(tmp_path: Path) -> None:
    script = tmp_path / "folded.py"
    script.write_text(FOLDED, encoding="utf-8")
    log = tmp_path / "folded run"
    assert main(["record", "--log", str(log), str(script)]) == 0
    shown = []

    async def fold(screen: Screen, debugger: Debugger, kept: Session) -> None:
        tape = screen.main.query_one(Tape)
        await screen.press("/", *"linear", "enter")
        await screen.shows("/linear", "KeyLine")
        await screen.press("Z", "z", "J", "m", "m", ".", ".")
        await screen.press("m", "end", "l")
        shown.append((folds_of(tape), lines_of(tape), screen.main.search, screen.now))
        assert folds_of(tape)["sections"]
        await screen.press("q")

    async def look(screen: Screen, debugger: Debugger, kept: Session) -> None:
        tape = screen.main.query_one(Tape)
        await screen.shows("/linear", "KeyLine")
        assert (folds_of(tape), lines_of(tape), screen.main.search, screen.now) == shown[0]
        await screen.press("q")

    opened(log, fold)
    opened(log, look)


KEPT = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["sections", "loops"]), inner),
    max_leaves=6,
)


def test_an_arrangement_that_is_not_understood_leaves_the_screen_as_it_is(tmp_path: Path) -> None:
    script = tmp_path / "folded.py"
    script.write_text(FOLDED, encoding="utf-8")
    log = tmp_path / "run.gscope"
    assert main(["record", "--log", str(log), str(script)]) == 0

    async def use(screen: Screen) -> None:
        @settings(max_examples=60)
        @given(st.dictionaries(st.sampled_from([*PARTS]), KEPT))
        def arranged(kept: dict[str, Any]) -> None:
            arrange(screen.main, kept)

        arranged()
        await screen.pilot.pause()
        await screen.shows("tape")

    drive(log, use)


GOES_ON = (
    PROGRAM
    + """\
print("from now on", input("more" + "? "))
print((z * 3).sum().item())
raise SystemExit(3)
"""
)


def test_a_program_is_let_go_on_in_the_terminal(
    terminal: Terminal,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "program.py").write_text(GOES_ON, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    terminal.run("graphscope debug program.py; echo status $?")
    terminal.shows("LIVE", "#0")
    terminal.press("q")
    terminal.shows("has not ended", "let it go on", "program.gscope")
    terminal.press("g")
    terminal.shows("more?")
    terminal.type("yes")
    terminal.press("Enter")
    terminal.shows("from now on yes", "18.0", "the recording is program.gscope", "status 3")
    assert len(load(tmp_path / "program.gscope")) == 5
    assert "from now on yes" in printed_text(tmp_path / "program.gscope")


def test_a_program_that_goes_on_can_be_interrupted(
    terminal: Terminal,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "program.py").write_text(PROGRAM + "print(len('now') * 'go')\nwhile True: pass\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    terminal.run("graphscope debug program.py; echo status $?")
    terminal.shows("LIVE", "#0")
    terminal.press("q")
    terminal.shows("has not ended")
    terminal.press("g")
    terminal.shows("gogogo")
    terminal.press("C-c")
    terminal.shows("KeyboardInterrupt", "the recording is program.gscope")
    assert not alive(tmp_path)
