"""The mouse: borders that are dragged, clicks and the wheel; and what is copied to the clipboard."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from textual import events

from graphscope.eventlog.reader import load
from graphscope.tui.copying import offers, written
from tests.tui.screens import Screen, drive


async def drag(screen: Screen, start: tuple[int, int], end: tuple[int, int]) -> None:
    await screen.pilot.mouse_down(offset=start)
    await screen.pilot.hover(offset=end)
    await screen.pilot.mouse_up(offset=end)
    await screen.pilot.pause()


@pytest.mark.slow
@pytest.mark.parametrize("by", [15, -15])
def test_the_borders_between_regions_are_dragged(training: Path, by: int) -> None:
    async def use(screen: Screen) -> None:
        tape, source, inspector = (screen.main.query_one(each) for each in ("#tape", "#source", "#inspector"))
        width, height = tape.region.width, source.region.height
        await drag(screen, (tape.region.right, 10), (tape.region.right + by, 10))
        assert abs(tape.region.width - width - by) <= 1
        assert tape.region.right == source.region.x
        down = by // 5
        await drag(
            screen, (source.region.x + 5, source.region.bottom), (source.region.x + 5, source.region.bottom + down)
        )
        assert abs(source.region.height - height - down) <= 1
        assert inspector.region.bottom == tape.region.bottom
        share = tape.region.width / 120
        await screen.pilot.resize_terminal(140, 40)
        await screen.pilot.pause()
        assert abs(tape.region.width / 140 - share) < 0.02
        before = screen.now
        await screen.pilot.click("#tape", offset=(10, 6))
        await screen.until(lambda: screen.now != before, "the line that was clicked")

    drive(training, use, size=(120, 40))


@pytest.mark.slow
def test_a_border_is_not_dragged_out_of_sight(training: Path) -> None:
    async def use(screen: Screen) -> None:
        tape = screen.main.query_one("#tape")
        for end in (0, 119):
            await drag(screen, (tape.region.right, 10), (end, 10))
            assert 15 < tape.region.width < 105

    drive(training, use, size=(120, 40))


@pytest.mark.slow
def test_a_click_on_the_tape_goes_to_the_line_that_is_there(training: Path) -> None:
    async def use(screen: Screen) -> None:
        tape = screen.main.query_one("#tape")
        lines = screen.text.split("\n")
        nodes = [(y, line) for y, line in enumerate(lines) if re.match(r"│.. *\d+ +[●◆] ", line[tape.region.x :])]
        assert len(nodes) > 5
        for y, line in nodes[::-1]:
            await screen.pilot.click(offset=(12, y))
            await screen.at(int(re.findall(r"\d+", line)[0]))

    drive(training, use, size=(80, 24))


@pytest.mark.slow
def test_a_click_in_the_margin_of_the_source_sets_a_breakpoint_there(training: Path) -> None:
    async def use(screen: Screen) -> None:
        source = screen.main.query_one("#source").region
        y, line = next(
            (y, line) for y, line in enumerate(screen.text.split("\n")) if "loss = F.cross" in line[source.x :]
        )
        await screen.pilot.click(offset=(source.x + 2, y))
        number = re.findall(r"\d+", line[source.x :].partition("loss")[0])[-1]
        await screen.shows(f"Breakpoint 1 at line:training.py:{number}", "#transcript")

    drive(training, use, size=(120, 40))


@pytest.mark.slow
def test_the_wheel_scrolls_the_tape(training: Path) -> None:
    async def use(screen: Screen) -> None:
        tape = screen.main.query_one("#tape")
        await screen.press("Z")
        top = tape.scroll_offset.y
        await screen.pilot._post_mouse_events([events.MouseScrollDown], "#tape", (5, 5))
        await screen.until(lambda: tape.scroll_offset.y > top, "lines further down")

    drive(training, use, size=(100, 24))


@pytest.mark.slow
def test_what_one_stands_at_is_copied(training: Path) -> None:
    log = load(training)
    node = next(node for node in log.graph.nodes if node.op == "tanh")

    async def use(screen: Screen) -> None:
        await screen.type(f"goto {node.row}")
        await screen.at(node.row)
        wanted: dict[str, Callable[[str], bool]] = {
            "v": lambda text: np.allclose(ast.literal_eval(text), node.value),
            "p": lambda text: text == f"{node.site.file}:{node.site.line}",
            "l": lambda text: text == "h = torch.mm(x, W).tanh()",
            "n": lambda text: text == f"#{node.row} tanh h",
            "m": lambda text: text == "h",
        }
        for key, holds in wanted.items():
            await screen.press("Y", key)
            await screen.until(lambda: screen.app.screen is screen.main, "the screen")
            assert holds(screen.app.clipboard), (key, screen.app.clipboard)
        await screen.type("p 6 * 7")
        await screen.press("Y", "a")
        await screen.until(lambda: screen.app.clipboard == "42", "the answer")
        await screen.until(lambda: screen.app.screen is screen.main, "the screen")
        await screen.press("2")
        screen.main.query_one("#array").focus()
        await screen.press("right", "Y", "c")
        await screen.until(lambda: screen.app.screen is screen.main, "the screen")
        assert float(screen.app.clipboard) == float(node.value[0, 1])
        await screen.press("o")
        await screen.shows("TanhBackward", "#heading")
        await screen.press("Y", "g")
        await screen.until(lambda: screen.app.screen is screen.main, "the screen")
        assert np.allclose(ast.literal_eval(screen.app.clipboard), log.graph.node(screen.now).grad)

    drive(training, use, size=(120, 40))


def test_a_large_array_is_copied_as_its_ends() -> None:
    assert ast.literal_eval(written(np.arange(6.0).reshape(2, 3))) == [[0, 1, 2], [3, 4, 5]]
    assert "..." in written(np.zeros(1_000_000))


def test_ahead_of_the_first_node_there_is_nothing_to_copy(product: Path) -> None:
    from graphscope.tui.scene import Scene

    graph = load(product).graph
    assert not list(offers(Scene(graph.at(-1), graph), None, None))
