"""Every size: what is seen is whole, the rest is a key away, and nothing is lost to a terminal that is too small."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from graphscope.tui.inspector.inspector import Inspector
from graphscope.tui.messages import CommandRequested
from graphscope.tui.prompt.prompt import Line
from tests.tui.screens import Screen, drive

NETWORK = """\
import graphscope as torch
import graphscope.nn as nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
for step in range(3):
    optimizer.zero_grad()
    scores = model(torch.randn(4, 6))
    probabilities = torch.softmax(scores, dim=1)
    loss = torch.nn.functional.cross_entropy(probabilities, torch.tensor([0, 1, 2, 0]))
    loss.backward()
    optimizer.step()
"""
BROKEN = """\
import graphscope as torch

x = torch.cat([torch.linspace(0.0, 1.0, 1000), -torch.ones(1000)]).requires_grad_()
y = x.sqrt() ** 2
"""
TABS = ("1 formula", "2 value", "3 grad", "4 about", "5 steps", "6 compare")
SIZES = ((60, 16), (80, 24), (120, 40), (200, 50))


@pytest.fixture(scope="session")
def network(recorded: Callable[[str, str], Path]) -> Path:
    return recorded("network", NETWORK)


@pytest.fixture(scope="session")
def broken(recorded: Callable[[str, str], Path]) -> Path:
    return recorded("broken", BROKEN)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=lambda size: "x".join(map(str, size)))
def test_names_of_ops_and_tabs_are_whole(network: Path, size: tuple[int, int]) -> None:
    async def use(screen: Screen) -> None:
        for spec, title in (("op:softmax forward", "softmax"), ("op:log_softmax forward", "log_softmax")):
            await screen.type(f"goto {spec}")
            await screen.shows(title, "#heading")
            line = next(line for line in screen.part("#tape").split("\n") if "▶" in line)
            assert title in line
            assert size[0] < 120 or title != "softmax" or "probabilities" in line
        await screen.press("1")
        await screen.shows("formula", "#inspector")
        for tab in TABS:
            assert tab in screen.part("#inspector")

    drive(network, use, size=size)


DEEP = """\
import graphscope as torch
import graphscope.nn as nn


class Inside(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.inside = Inside(depth - 1) if depth else nn.Identity()

    def forward(self, x):
        return torch.log_softmax(self.inside(x), -1).reshape(4, 3, 1, 2)


model = Inside(6)
model(torch.ones(4, 3, 1, 2, requires_grad=True)).sum().backward()
"""


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=lambda size: "x".join(map(str, size)))
def test_names_of_ops_deep_inside_of_modules_can_be_read(
    recorded: Callable[[str, str], Path], size: tuple[int, int]
) -> None:
    async def use(screen: Screen) -> None:
        for spec, title, shape in (
            ("op:log_softmax forward", "log_softmax", ""),
            ("op:log_softmax backward", "LogSoftmax", ""),
            ("op:reshape forward", "reshape", "4×3×1×2"),
        ):
            await screen.type(f"goto {spec}")
            await screen.shows(title, "#heading")
            line = next(line for line in screen.part("#tape").split("\n") if "▶" in line)
            assert title in line
            assert shape in line

    drive(recorded("deep", DEEP), use, size=size)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=lambda size: "x".join(map(str, size)))
def test_headers_tell_whole_parts_and_count_in_english(network: Path, size: tuple[int, int]) -> None:
    async def use(screen: Screen) -> None:
        await screen.press("Z", "home")
        seen: set[str] = set()
        for _ in range(30):
            seen |= set(screen.part("#tape").split("\n"))
            await screen.press("pagedown")
        headers = [line for line in seen if "▾" in line or "▸" in line]
        assert headers
        for line in headers:
            assert " 1 rows" not in line
            assert " 1 parameters" not in line
        steps = [line for line in headers if "step 1" in line]
        assert all("…" not in line for line in steps)

    drive(network, use, size=size)


@pytest.mark.slow
def test_where_one_region_is_seen_at_a_time_keys_turn_from_one_to_the_next(network: Path) -> None:
    async def use(screen: Screen) -> None:
        tape, source, inspector = (screen.main.query_one(each) for each in ("#tape", "#source", "#inspector"))

        def seen() -> list[bool]:
            return [each.region.area > 0 for each in (tape, source, inspector)]

        assert seen() == [True, False, False]
        assert "network.py:" in screen.part("#tape")
        await screen.press("2")
        await screen.until(lambda: seen() == [False, False, True], "the value")
        before = screen.now
        await screen.press("n")
        await screen.until(lambda: screen.now != before, "the next node")
        await screen.press("2")
        await screen.until(lambda: seen() == [True, False, False], "the tape")
        await screen.press("3", "escape")
        await screen.until(lambda: seen() == [True, False, False] and tape.has_focus, "the tape")
        await screen.press("tab")
        await screen.until(lambda: seen() == [False, True, False] and source.has_focus, "the source")
        await screen.press("tab")
        await screen.until(lambda: seen() == [False, False, True], "the inspector")
        await screen.press("tab")
        await screen.until(lambda: seen() == [True, False, False] and tape.has_focus, "the tape")

    drive(network, use, size=(60, 16))


@pytest.mark.slow
def test_the_line_to_type_in_is_always_seen(network: Path) -> None:
    async def use(screen: Screen) -> None:
        prompt = screen.main.query_one("#prompt")
        for key in ("n", "m", "m", "m", "1", "1", "F", "F", "n"):
            await screen.press(key)
            await screen.app.workers.wait_for_complete()
            await screen.pilot.pause()
            assert "a command, or Python" in screen.part("#prompt"), key
            assert prompt.region.height == 1
        await screen.press("y")
        await screen.shows("#", "#prompt")
        assert prompt.region.height > 2

    drive(network, use, size=(60, 16))


def state(screen: Screen) -> tuple[object, ...]:
    """What must not be lost."""
    main = screen.main
    line, inspector = main.query_one(Line), main.query_one(Inspector)
    return screen.now, screen.app.focused, line.value, inspector.panel.name, main.scene.breakpoints, main.classes


@pytest.mark.slow
@pytest.mark.parametrize("small", [(20, 6), (50, 40), (120, 10)], ids=lambda size: "x".join(map(str, size)))
def test_while_the_terminal_is_too_small_one_sentence_is_shown_and_nothing_is_lost(
    network: Path, small: tuple[int, int]
) -> None:
    async def use(screen: Screen) -> None:
        await screen.type("b op:softmax")
        await screen.press("c", "F", "3")
        await screen.shows("finding", "#findings")
        await screen.press("2", ":", "w", "h")
        await screen.app.workers.wait_for_complete()
        await screen.pilot.pause()
        before = state(screen)
        await screen.pilot.resize_terminal(*small)
        await screen.pilot.pause()
        assert "graphscope needs" in screen.text
        assert "tape" not in screen.text
        assert "finding" not in screen.text
        await screen.pilot.resize_terminal(100, 30)
        await screen.pilot.pause()
        await screen.until(lambda: state(screen) == before, "what there was")
        assert "wh" in screen.part("#prompt")

    drive(network, use, size=(100, 30))


@pytest.mark.slow
def test_what_was_closed_while_the_terminal_was_too_small_takes_no_keys_behind_that(network: Path) -> None:
    async def use(screen: Screen) -> None:
        await screen.press("/")
        await screen.pilot.resize_terminal(100, 13)
        await screen.press("escape", "/", *"softmax", "enter")
        await screen.pilot.resize_terminal(100, 30)
        await screen.pilot.pause()
        await screen.until(lambda: screen.main.query_one("#tape").has_focus, "the tape")
        before = screen.now
        await screen.press("n")
        await screen.until(lambda: screen.now != before, "another node")

    drive(network, use, size=(100, 30))


@pytest.mark.slow
def test_a_prompt_that_has_little_to_say_takes_little_room(network: Path) -> None:
    async def use(screen: Screen) -> None:
        prompt = screen.main.query_one("#prompt")
        assert prompt.region.height == 2
        for _ in range(4):
            await screen.type("p loss, scores, 1 + 1")
        await screen.until(lambda: 4 < prompt.region.height <= 9, "what was answered")

    drive(network, use, size=(200, 50))


@pytest.mark.slow
def test_the_heading_stays_where_a_wide_terminal_is_low(network: Path) -> None:
    async def use(screen: Screen) -> None:
        main = screen.main
        for _ in range(6):
            await screen.type("help")
        await screen.press(":")
        main.scroll_down(animate=False)
        main.scroll_end(animate=False)
        await screen.pilot.pause()
        assert main.max_scroll_y == 0 or main.scroll_y == 0
        assert main.query_one("#heading").region.y == 0
        assert main.query_one("#body").region.height > 3

    drive(network, use, size=(160, 18))


@pytest.mark.slow
def test_findings_are_seen_whatever_has_the_place_of_the_tape(network: Path) -> None:
    async def use(screen: Screen) -> None:
        await screen.type("goto op:softmax forward")
        for key in ("1", "2"):
            await screen.press(key, "F")
            await screen.shows("double", "#findings")
            await screen.shows("▶", "#tape")
            assert "softmax" in next(line for line in screen.part("#tape").split("\n") if "▶" in line)
            assert screen.main.query_one("#findings").has_focus_within
            await screen.press("escape")

    drive(network, use, size=(60, 16))


@pytest.mark.slow
@pytest.mark.parametrize("size", [*SIZES, (70, 20), (100, 24)], ids=lambda size: "x".join(map(str, size)))
def test_facts_of_an_array_are_whole_or_left_out(broken: Path, size: tuple[int, int]) -> None:
    async def use(screen: Screen) -> None:
        await screen.type("goto op:sqrt forward")
        await screen.press("2")
        await screen.shows("min ", "#facts")
        first, second = screen.part("#facts").split("\n")
        assert "…" not in first + second
        assert "1000 nan" in second  # what matters most is the last that goes
        whole = r"min 0  max 1(  mean 0\.67(  std 0\.24)?)?  1000 nan(  0% zero)? *"
        assert re.fullmatch(whole, second), second

    drive(broken, use, size=size)


@pytest.mark.slow
def test_findings_have_no_pages_where_there_is_no_room(network: Path) -> None:
    async def use(screen: Screen) -> None:
        await screen.press("F")
        await screen.shows("double", "#findings")
        await screen.press("F", "pagedown", "pageup")
        await screen.pilot.resize_terminal(27, 35)
        await screen.pilot.pause()
        await screen.press("F", "pagedown", "pageup", "F", "pagedown")

    drive(network, use, size=(100, 30))


@pytest.mark.slow
@pytest.mark.parametrize("said_at", [(1, 1), (120, 40)])
def test_what_was_said_is_wrapped_to_the_width_that_there_is(training: Path, said_at: tuple[int, int]) -> None:
    async def use(screen: Screen) -> None:
        await screen.pilot.resize_terminal(*said_at)
        screen.main.post_message(CommandRequested("p 'around ' * 20"))
        await screen.app.workers.wait_for_complete()
        for size, words in (((120, 40), 16), ((62, 16), 8), ((120, 40), 16)):
            await screen.pilot.resize_terminal(*size)
            await screen.pilot.pause()
            told = screen.part("#transcript").partition("(gs) p 'around ' * 20")[2]
            assert told.split("\n")[1].count("around") == words

    drive(training, use)


@pytest.mark.slow
def test_an_answer_takes_no_more_than_half_of_a_screen_that_has_become_lower(network: Path) -> None:
    async def use(screen: Screen) -> None:
        screen.main.post_message(CommandRequested("help", quiet=True))
        await screen.until(lambda: screen.main.has_class("-answered"), "an answer")
        await screen.pilot.resize_terminal(60, 16)
        await screen.pilot.pause()
        assert screen.main.query_one("#prompt").size.height <= 8
        assert screen.main.query_one("#tape").size.height >= 2

    drive(network, use, size=(120, 40))
