"""Two runs side by side on the screen: lines that belong together, and what is said of the one under the cursor."""

from __future__ import annotations

import re
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

import graphscope as gs
from graphscope.tui.comparison.comparison_app import ComparisonApp
from graphscope.tui.comparison.paired_tape import PairedTape
from graphscope.tui.glyphs import ASCII, UNICODE, Glyphs
from graphscope.tui.inspector.array import ArrayView
from tests.tui import quiet
from tests.tui.terminal import Terminal

A = """\
import graphscope as torch

x = torch.tensor([[1.0, 2.0, 4.0], [3.0, 0.5, 1.5]], requires_grad=True)
scaled = x * 2
h = torch.nn.functional.softmax(scaled, dim={dim})
loss = (h ** 2).sum()
loss.backward()
"""
B = A.replace("x * 2", "(x + 0.0) * 2").format(dim=0)


@pytest.fixture(scope="session")
def runs(recorded: Callable[[str, str], Path]) -> tuple[Path, Path]:
    return recorded("model", A.format(dim=1)), recorded("port", B)


class Comparison:
    def __init__(self, app: ComparisonApp, pilot: Pilot[None]) -> None:
        self.app, self.pilot = app, pilot

    @property
    def text(self) -> str:
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip) for strip in strips)

    @property
    def tape(self) -> PairedTape:
        return self.app.screen.query_one(PairedTape)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()


def look(
    runs: tuple[Path, Path],
    body: Callable[[Comparison], Awaitable[None]],
    size: tuple[int, int] = (80, 24),
    glyphs: Glyphs = UNICODE,
) -> None:
    async def use() -> None:
        app = ComparisonApp(gs.diff(*runs), glyphs=glyphs)
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await body(Comparison(app, pilot))
        assert not app.mistakes, "".join(traceback.format_exception(app.mistakes[0]))

    quiet.run(use())


@pytest.mark.slow
def test_it_begins_where_they_part(runs: tuple[Path, Path]) -> None:
    async def body(seen: Comparison) -> None:
        head, *lines = seen.text.splitlines()
        assert "a model.gscope" in head
        assert "b port.gscope" in head
        assert "differ" in head
        (softmax,) = (line for line in lines if "≠" in line and line.count("softmax h") == 2)
        assert lines.index(softmax) - 1 == seen.tape.cursor
        assert "a  " in seen.text
        assert "model.py:5" in seen.text
        assert "softmax is given another dim" in seen.text

    look(runs, body)


@pytest.mark.slow
def test_what_belongs_together_stands_on_one_line(runs: tuple[Path, Path]) -> None:
    async def body(seen: Comparison) -> None:
        await seen.press("home")
        lines = seen.text.splitlines()
        (same,) = (line for line in lines if len(re.findall(r"mul +scaled", line)) == 2)
        assert "=" in same
        assert seen.tape.cursor == 0

    look(runs, body, (120, 36))


@pytest.mark.slow
def test_a_click_puts_the_cursor_on_the_line_that_is_there(runs: tuple[Path, Path]) -> None:
    async def body(seen: Comparison) -> None:
        await seen.press("home")
        lines = seen.text.splitlines()
        (y,) = (y for y, line in enumerate(lines) if len(re.findall(r"mul +scaled", line)) == 2)
        await seen.pilot.click(offset=(12, y))
        await seen.pilot.pause()
        assert seen.tape.cursor == y - 2
        await seen.pilot.click(offset=(12, 1))  # the border is no line
        await seen.pilot.pause()
        assert seen.tape.cursor == y - 2

    look(runs, body, (120, 36))


@pytest.mark.slow
def test_from_difference_to_difference(runs: tuple[Path, Path]) -> None:
    async def body(seen: Comparison) -> None:
        first = seen.tape.cursor
        await seen.press("n")
        after = seen.tape.cursor
        assert after > first
        assert "≠" in seen.text
        await seen.press("p")
        assert seen.tape.cursor == first
        await seen.press("end", "n")
        assert seen.tape.cursor == len(seen.tape.lines) - 1
        await seen.press("f")
        assert seen.tape.cursor == first
        await seen.press("down", "up", "pagedown", "pageup", "j", "k")
        assert 0 <= seen.tape.cursor < len(seen.tape.lines)

    look(runs, body)


@pytest.mark.slow
def test_enter_shows_where_the_tensors_differ(runs: tuple[Path, Path]) -> None:
    async def body(seen: Comparison) -> None:
        node = gs.diff(*runs).first
        assert node is not None
        assert node.distance is not None
        await seen.press("enter")
        view = seen.app.screen.query_one(ArrayView)
        assert view.has_focus
        assert view.cursor == node.distance.index
        assert f"at {list(node.distance.index)}" in seen.text
        assert "b - a" in seen.text
        await seen.press("v", "v", "enter")
        assert seen.tape.has_focus
        await seen.press("enter", "escape")
        assert seen.tape.has_focus

    look(runs, body)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (200, 50), (40, 12)])
def test_at_any_size_and_in_ascii(runs: tuple[Path, Path], size: tuple[int, int]) -> None:
    async def body(seen: Comparison) -> None:
        await seen.press("end", "home", "n", "enter", "v", "escape")
        assert seen.text.isascii()
        assert all(len(line) == size[0] for line in seen.text.splitlines())

    look(runs, body, size, ASCII)


@pytest.mark.slow
def test_of_runs_without_values_the_lines_are_shown(tmp_path: Path) -> None:
    for name, dim in (("a", 0), ("b", 1)):
        with gs.record(tmp_path / f"{name}.gscope", values="none"):
            exec(compile(A.format(dim=dim), f"{name}.py", "exec"), {"__name__": "__main__"})

    async def body(seen: Comparison) -> None:
        await seen.press("home", "down", "n", "p", "f", "enter", "v", "escape")
        assert seen.text.count("softmax") >= 2

    look((tmp_path / "a.gscope", tmp_path / "b.gscope"), body)


@pytest.mark.slow
def test_the_same_run_twice(runs: tuple[Path, Path]) -> None:
    async def body(seen: Comparison) -> None:
        assert "The same" in seen.text
        await seen.press("n", "p", "enter")
        assert "≠" not in seen.text

    look((runs[0], runs[0]), body)


@pytest.mark.slow
def test_in_a_terminal(terminal: Terminal, runs: tuple[Path, Path]) -> None:
    terminal.run(f"graphscope diff {runs[0]} {runs[1]} --screen; echo status $?")
    terminal.shows("a model.gscope", "b port.gscope", "softmax is given another dim")
    terminal.press("n")
    terminal.shows("next difference")
    terminal.press("Enter")
    terminal.shows("b - a")
    terminal.press("q")
    terminal.shows("status 1")
