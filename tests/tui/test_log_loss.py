"""A log that somebody else moves, replaces or cuts while it is looked at: that is said, and the screen goes on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from graphscope.errors import LogError
from graphscope.eventlog.loss import loss_of
from graphscope.eventlog.reader import load
from tests.tui.screens import Screen, drive
from tests.tui.terminal import Terminal


def take(log: Path, other: Path) -> None:
    shutil.rmtree(log)


def replace(log: Path, other: Path) -> None:
    shutil.rmtree(log)
    shutil.copytree(other, log)


def cut(log: Path, other: Path) -> None:
    for file in log.rglob("segments/*/*.npy"):
        os.truncate(file, 200)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("act", "said"), [(take, "the log is gone"), (replace, "another log is at its place")], ids=["gone", "replaced"]
)
def test_what_was_read_is_still_shown(
    training: Path, product: Path, tmp_path: Path, act: Callable[[Path, Path], None], said: str
) -> None:
    log = tmp_path / "run.gscope"
    shutil.copytree(training, log)

    async def use(screen: Screen) -> None:
        await screen.type("goto op:tanh")
        row = screen.now
        act(log, product)
        screen.main._grow()
        await screen.shows(said, "#heading")
        await screen.shows(said, "#transcript")
        await screen.press("n", "n", "p")
        await screen.at(row + 1)
        assert f"#{row + 1}" in screen.part("#inspector")

    drive(log, use, size=(140, 40))


@pytest.mark.parametrize(("act", "rest"), [(take, 1.0), (replace, 1.0), (cut, 0.0)])
def test_what_can_be_read_of_a_log_that_was_lost(
    training: Path, product: Path, tmp_path: Path, act: Callable[[Path, Path], None], rest: float
) -> None:
    path = tmp_path / "run.gscope"
    shutil.copytree(training, path)
    log = load(path)
    count = len(log)
    assert loss_of(log) == ""
    act(path, product)
    assert loss_of(log)
    assert len(log) == rest * count
    assert not log.refresh()
    if rest:
        assert log.event(0).row == 0
    else:
        with pytest.raises(LogError):
            log.event(0)


@pytest.mark.slow
def test_a_log_that_is_cut_does_not_end_the_screen(terminal: Terminal, training: Path, tmp_path: Path) -> None:
    log = tmp_path / "run.gscope"
    shutil.copytree(training, log)
    terminal.run(f"graphscope open {log}; echo status $?")
    terminal.drawn("#0 x", "1.128..1.141")
    cut(log, log)
    terminal.shows("was cut while it was read")
    terminal.press("n")
    terminal.resize(20, 6)
    terminal.resize(100, 30)
    terminal.shows("No nodes yet", "q quit")
    terminal.press("q")
    terminal.shows("status 0")


@pytest.mark.slow
def test_what_a_shell_says_of_the_size_is_not_believed(terminal: Terminal, product: Path) -> None:
    terminal.run(f"COLUMNS=10 LINES=3 graphscope open {product}; echo status $?")
    terminal.shows("#0 a", "q quit")
    terminal.resize(140, 40)
    terminal.shows("other side", "q quit")
    terminal.press("q")
    terminal.shows("status 0")
