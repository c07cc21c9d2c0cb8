"""What is painted a line at a time is what would be painted from nothing; looks; and what must not be covered."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.text import Text
from textual.geometry import Region
from textual.widget import Widget

from graphscope.eventlog.reader import load
from graphscope.graph import Graph
from graphscope.graph.outline import steps
from graphscope.tui.glyphs import UNICODE
from graphscope.tui.region_styles import STYLES, style_of
from graphscope.tui.scene import Scene
from graphscope.tui.tape.line_painter import LinePainter
from graphscope.tui.tape.lines import Lines
from graphscope.tui.tape.tape import Tape
from graphscope.tui.text_widgets import WrappedText
from graphscope.tui.themes import THEMES
from tests.tui.screens import Screen, drive

KEYS = ("n", "n", "p", "s", "o", "down", "up", "pagedown", "pageup", "end", "home", "Z", "{", "}", "c")


@pytest.mark.slow
def test_after_every_key_the_screen_is_as_if_painted_anew(training: Path) -> None:
    async def use(screen: Screen) -> None:
        choose = random.Random(5)
        await screen.type("break op:tanh")
        for _ in range(20):
            await screen.press(choose.choice(KEYS))
            await screen.app.workers.wait_for_complete()
            await screen.pilot.pause()
            shown = screen.text
            for widget in screen.main.query("*"):
                widget.notify_style_update()  # forgets what was painted
                widget.refresh()
            await screen.pilot.pause()
            assert screen.text == shown

    drive(training, use)


@pytest.mark.slow
def test_a_text_that_is_shown_again_between_two_layouts_is_wrapped_anew(training: Path) -> None:
    """Behind a scroll the screen asks anew where its regions are: who is back by then is told of no size."""

    async def use(screen: Screen) -> None:
        words = screen.main.query_one("#inspector WrappedText", WrappedText)
        words.display = False
        await screen.pilot.pause()
        words.show(Text("what is new"))
        screen.main._refresh_layout(scroll=True)
        words.display = True
        assert words.region  # who asks lets the places be found
        await screen.pilot.pause()
        assert screen.part("#words").split() == ["what", "is", "new"]

    drive(training, use)


@pytest.mark.slow
def test_keys_draw_lines_and_lay_nothing_out(training: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    laid_out: list[Widget] = []
    refresh = Widget.refresh

    def noting(widget: Widget, *regions: Region, layout: bool = False, **how: bool) -> Widget:
        laid_out.extend([widget] * layout)
        return refresh(widget, *regions, layout=layout, **how)

    async def press(screen: Screen, *keys: str) -> None:
        for key in keys:
            await screen.press(key)
            await screen.app.workers.wait_for_complete()
            await screen.pilot.pause()

    async def use(screen: Screen) -> None:
        await screen.press("/", "t")
        with monkeypatch.context() as patched:
            patched.setattr(Widget, "refresh", noting)
            await press(screen, "a", "n")
        await press(screen, "enter")  # the line of the search goes
        with monkeypatch.context() as patched:
            patched.setattr(Widget, "refresh", noting)
            await press(screen, "n", "n", "N", ")", "z", "z", "Z", "down", "pagedown", ".", ",")
        assert not laid_out

    drive(training, use, size=(120, 40))


@pytest.mark.slow
@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_every_look_is_made_of_words_of_each_theme(theme: object, product: Path) -> None:
    async def use(screen: Screen) -> None:
        screen.app.theme = theme.name
        for looks in STYLES.values():
            for words in looks.values():
                style = style_of(words, screen.app.theme_variables)
                assert ("bold" in words) == bool(style.bold)
                assert ("$" in words or "#" in words) == (style.color is not None or style.bgcolor is not None)

    drive(product, use)


@pytest.mark.slow
def test_the_mark_of_what_is_not_finite_is_not_under_the_scrollbar(recorded: Callable[[str, str], Path]) -> None:
    source = "import graphscope as torch\nx = torch.tensor([0.0, 1.0], requires_grad=True)\ny = x.log()\n"
    log = recorded("infinite", source + "for _ in range(40):\n    y = y + 1.0\ny.sum().backward()\n")

    async def use(screen: Screen) -> None:
        assert screen.main.query_one(Tape).show_vertical_scrollbar
        await screen.press("n")
        line = next(line for line in screen.part("#tape").split("\n") if UNICODE.current in line)
        assert UNICODE.finding in line or UNICODE.nonfinite in line

    drive(log, use, size=(80, 24))


@pytest.mark.slow
def test_why_ahead_of_the_backward_pass_tells_what_comes_of_it(product: Path) -> None:
    async def use(screen: Screen) -> None:
        await screen.press("y")
        await screen.shows("a.grad is neither None nor zero")
        await screen.shows("As of #0: no backward pass has run since a was made")

    drive(product, use)


@pytest.mark.parametrize("width", [30, 46, 47, 60, 78, 120])
def test_a_line_of_the_tape_is_as_wide_as_it_is_to_be(training: Path, width: int) -> None:
    graph = Graph(load(training))
    scene, lines, painter = Scene(graph.at(20), graph), Lines(graph.log), LinePainter(UNICODE)
    lines.extend()
    lines.toggle_all(20)
    painter.take(lines, steps(graph.log), ())
    for line in range(len(lines)):
        pieces = painter.paint(scene, lines.key(line), line, width)
        assert sum(cell_len(text) for text, _ in pieces) == width
