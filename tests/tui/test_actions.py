"""Every key: those of commands go where the command goes at the prompt, the others do what their help says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from graphscope.debugger import interpreter
from graphscope.debugger.command_table import COMMANDS
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.results import Stop
from graphscope.errors import CommandError
from graphscope.eventlog.reader import load
from graphscope.tui import key_table
from graphscope.tui.dialogs.table_list import TableDialog
from graphscope.tui.inspector.array import ArrayView
from graphscope.tui.map.map import Map
from graphscope.tui.tape.tape import Tape
from graphscope.tui.text_widgets import WrappedText
from tests.tui.screens import Screen, drive

pytestmark = pytest.mark.slow

MOVES = sorted(entry.name for entry in COMMANDS.values() if entry.key)


def middle(log: Path) -> int:
    """A node in the middle of the backward pass of the second step."""
    dbg = Debugger(load(log))
    rows = [node.row for node in dbg.graph.at(None).select("backward")]
    return rows[len(rows) // 2]


@pytest.mark.parametrize("name", MOVES)
def test_a_key_goes_where_its_command_goes(training: Path, name: str) -> None:
    start = middle(training)
    dbg = Debugger(load(training))
    interpreter.run(dbg, f"goto {start}")
    goal, refused = start, ""
    try:
        stop = interpreter.run(dbg, name)
        assert isinstance(stop, Stop)
        assert stop.node is not None
        goal = stop.node.row
    except CommandError as error:
        refused = error.message

    async def use(screen: Screen) -> None:
        await screen.type(f"goto {start}")
        await screen.at(start)
        await screen.press(COMMANDS[name].key)
        await screen.at(goal)
        await screen.shows(refused)

    drive(training, use)


def test_bookmarks_lead_back(training: Path) -> None:
    start = middle(training)

    async def use(screen: Screen) -> None:
        await screen.type(f"goto {start}")
        await screen.at(start)
        await screen.press("M")
        await screen.shows("1")
        await screen.press("home")
        await screen.until(lambda: screen.now != start, "another place")
        await screen.press("apostrophe")
        await screen.until(lambda: isinstance(screen.app.screen, TableDialog), "the list")
        await screen.shows(f"#{start}")
        await screen.press("enter")
        await screen.at(start)

    drive(training, use)


def test_a_watch_is_begun_and_listed(training: Path) -> None:
    async def use(screen: Screen) -> None:
        await screen.press("end", "w", *"loss", "enter")
        await screen.press("escape", "W")
        await screen.until(lambda: isinstance(screen.app.screen, TableDialog), "the list")
        await screen.shows("loss")

    drive(training, use)


def test_a_row_is_gone_to(training: Path) -> None:
    start = middle(training)

    async def use(screen: Screen) -> None:
        await screen.press("g", *str(start), "enter")
        await screen.at(start)

    drive(training, use)


def test_the_screen_is_saved_as_a_picture(training: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    async def use(screen: Screen) -> None:
        await screen.press("end", "E")
        await screen.until(lambda: list(tmp_path.glob("*.svg")), "the picture")

    drive(training, use)
    (picture,) = tmp_path.glob("*.svg")
    text = picture.read_text(encoding="utf-8")
    assert text.startswith("<svg")
    assert "cross_entropy" in text


def test_the_map_widens_and_is_walked(training: Path) -> None:
    start = middle(training)

    async def use(screen: Screen) -> None:
        await screen.type(f"goto {start}")
        await screen.at(start)
        await screen.press("m")
        await screen.until(lambda: screen.main.query_one(Map).has_focus, "the map")
        await screen.app.workers.wait_for_complete()
        await screen.pilot.pause()
        near = int(re.findall(r"radius (\d+)", screen.part("#map"))[0])
        await screen.press("plus", "plus")
        await screen.shows(f"radius {near + 2}", "#map")
        await screen.press("minus")
        await screen.shows(f"radius {near + 1}", "#map")
        await screen.press("up")
        await screen.until(lambda: screen.now != start, "a neighbour")

    drive(training, use, size=(160, 48))


def test_pages_of_the_tape(training: Path) -> None:
    async def use(screen: Screen) -> None:
        await screen.press("home")
        first = screen.now
        await screen.press("pagedown")
        await screen.until(lambda: screen.now > first + 5, "a page on")
        await screen.press("pageup")
        await screen.at(first)

    drive(training, use)


@pytest.mark.parametrize("key", ["z", "Z"])
def test_folds_close_and_open(training: Path, key: str) -> None:
    start = middle(training)

    async def use(screen: Screen) -> None:
        tape = screen.main.query_one(Tape)
        await screen.type(f"goto {start}")
        await screen.at(start)
        before = len(tape.lines)
        await screen.press(key)
        await screen.until(lambda: len(tape.lines) < before, "closed folds")
        await screen.press(key)
        await screen.until(lambda: len(tape.lines) == before, "open folds")

    drive(training, use)


def test_cells_of_a_value_are_walked(training: Path) -> None:
    async def use(screen: Screen) -> None:
        await screen.press("home", "2")
        view = screen.main.query_one(ArrayView)
        view.focus()
        await screen.pilot.pause()
        before = view.cursor
        await screen.press("right", "down")
        assert view.cursor != before
        await screen.press("left", "up")
        assert view.cursor == before

    drive(training, use, size=(140, 40))


def test_the_help_tells_every_key(training: Path) -> None:
    async def use(screen: Screen) -> None:
        await screen.press("question_mark")
        await screen.shows("Esc closes")
        told = screen.app.screen.query_one(WrappedText).plain
        for binding in (*key_table.OF_COMMANDS, *key_table.OF_SCREEN):
            assert f"  {binding.key_display or binding.key:<10}" in told, binding

    drive(training, use, size=(160, 60))
