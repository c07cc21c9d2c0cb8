"""Search on the screen: what is typed is shown at once, walked through, and left again."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphscope.eventlog.reader import load
from graphscope.graph import Graph
from graphscope.graph.text_search import rows_with
from tests.tui.screens import Screen, drive


def matches(path: Path, text: str) -> list[int]:
    log = load(path)
    return [int(row) for row in rows_with(Graph(log).at(log.end - 1), text)]


@pytest.mark.slow
def test_the_next_match_is_shown_while_one_types(training: Path) -> None:
    async def use(screen: Screen) -> None:
        began = screen.now
        await screen.press("/", "t", "a", "n")
        found = matches(training, "tan")
        await screen.at(next(row for row in found if row > began))
        await screen.shows(f"1 of {len(found)}", "#search")
        await screen.press("z", "z")
        await screen.shows("nothing", "#search")
        await screen.at(began)
        await screen.press("backspace", "backspace")
        await screen.shows(f"1 of {len(found)}", "#search")
        await screen.press("down")
        await screen.at(found[1])
        await screen.press("up", "up")
        await screen.at(found[-1])
        await screen.shows(f"{len(found)} of {len(found)}", "#search")

    drive(training, use)


@pytest.mark.slow
def test_escape_goes_back_to_where_one_stood(training: Path) -> None:
    async def use(screen: Screen) -> None:
        await screen.press("n", "n", "n")
        began = screen.now
        await screen.press("/", *"tanh")
        await screen.until(lambda: screen.now != began, "a match")
        await screen.press("escape")
        await screen.at(began)
        assert screen.main.session.now == began
        await screen.press("n")
        await screen.at(began + 1)  # no search is under way

    drive(training, use)


@pytest.mark.slow
def test_enter_stays_and_n_walks_on(training: Path) -> None:
    found = matches(training, "tanh")

    async def use(screen: Screen) -> None:
        await screen.press("/", *"tanh", "enter")
        await screen.at(found[0])
        await screen.until(lambda: screen.main.session.now == found[0], "the debugger")
        await screen.shows(f"/tanh  1 of {len(found)}")
        await screen.press("n")
        await screen.at(found[1])
        await screen.shows(f"/tanh  2 of {len(found)}")
        await screen.press("N", "N")
        await screen.at(found[-1])
        await screen.press("/", *"nobody", "enter")
        await screen.shows("No node answers to 'nobody'")

    drive(training, use)


@pytest.mark.slow
def test_who_goes_elsewhere_while_the_line_is_open_stays_there(training: Path) -> None:
    async def use(screen: Screen) -> None:
        began = screen.now
        await screen.press("/", *"tanh")
        await screen.until(lambda: screen.now != began, "a match")
        await screen.pilot.click("#timeline", offset=(60, 0))
        await screen.until(lambda: screen.main.session.now != began, "another place")
        there = screen.main.session.now
        await screen.at(there)
        await screen.press("escape")
        await screen.at(there)
        assert screen.main.session.now == there

    drive(training, use)
