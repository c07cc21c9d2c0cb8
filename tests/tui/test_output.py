"""The program's terminal: which of its lines are in sight."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from graphscope.tui.prompt.output import Output
from graphscope.tui.prompt.prompt import Line
from tests.tui import quiet
from tests.tui.screens import Screen, debug

MANY = "".join(f"line {number}\n" for number in range(12_000))


class Terminal(App[None]):
    """The output alone, on the whole screen."""

    CSS = "Output { height: 1fr; overflow-x: hidden; overflow-y: scroll; scrollbar-size: 1 1; }"

    def compose(self) -> ComposeResult:
        yield Output()

    @property
    def output(self) -> Output:
        return self.query_one(Output)

    @property
    def rows(self) -> list[str]:
        """What is in sight."""
        return [self.output.render_line(y).text.rstrip() for y in range(self.output.size.height)]


def show(body: Callable[[Terminal, Pilot[None]], Awaitable[None]], size: tuple[int, int] = (40, 10)) -> None:
    async def run() -> None:
        async with Terminal().run_test(size=size) as pilot:
            await pilot.pause()
            await body(pilot.app, pilot)  # type: ignore[arg-type]

    quiet.run(run())


def test_the_end_stays_in_sight_unless_one_scrolls_away_from_it() -> None:
    async def use(app: Terminal, pilot: Pilot[None]) -> None:
        for start in range(0, len(MANY), 10_000):
            app.output.printed(MANY[start : start + 10_000])
        await pilot.pause()
        assert app.rows == [f"line {number}" for number in range(11_990, 12_000)]

        app.output.scroll_to(y=app.output.scroll_y - 100, animate=False)
        await pilot.pause()
        before = app.rows
        assert before[0] == "line 11890"
        app.output.printed("more\n" * 50)  # as many of the oldest go
        await pilot.pause()
        assert app.rows == before

        app.output.scroll_end(animate=False)
        await pilot.pause()
        app.output.printed("last\n")
        await pilot.pause()
        assert app.rows[-1] == "last"

    show(use)


def test_long_lines_are_wrapped_and_wrapped_again() -> None:
    text = f'  File "/a/{"folder/" * 12}program.py", line 4321, in 計算\n'

    async def use(app: Terminal, pilot: Pilot[None]) -> None:
        app.output.printed(text)
        await pilot.pause()
        assert "".join(row.ljust(39) for row in app.rows).strip() == text.strip()
        await pilot.resize_terminal(61, 10)
        await pilot.pause()
        assert "line 4321" in "".join(row.ljust(60) for row in app.rows)
        assert len([row for row in app.rows if row]) == 3

    show(use)


@pytest.mark.slow
def test_keys_scroll_the_program_s_output(tmp_path: Path) -> None:
    script = tmp_path / "printer.py"
    script.write_text(
        "import graphscope as gs\nx = gs.ones(2)\nfor i in range(300):\n    print('line', i)\ny = x * 2\n"
    )

    async def use(screen: Screen) -> None:
        await screen.shows("#0", "#heading")
        await screen.press("c", "t")
        await screen.shows("line 299", "#output")
        assert isinstance(screen.app.focused, Line)
        await screen.press("pageup")
        await screen.until(lambda: "line 299" not in screen.part("#output"), "an earlier page")
        await screen.press("home")
        await screen.shows("line 0 ", "#output")
        await screen.press("pagedown")
        await screen.until(lambda: "line 0 " not in screen.part("#output"), "the next page")
        await screen.press("end")
        await screen.shows("line 299", "#output")

    debug(script, use)
