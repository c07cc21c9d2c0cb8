"""Every screen as text, at four sizes, as it is to be: `python -m tests.tui.test_snapshots` writes them anew."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import chdir
from pathlib import Path

import pytest
from textual.color import Color
from textual.widgets import Input

from graphscope.eventlog.record import record
from graphscope.tui.glyphs import ASCII, UNICODE
from graphscope.tui.messages import CommandRequested
from graphscope.tui.themes import THEMES
from tests.tui.conftest import PRODUCT
from tests.tui.live_screens import debugged, followed, settle
from tests.tui.programs import steady
from tests.tui.screens import Screen, drive

FOLDER = Path(__file__).parent / "snapshots"
SIZES = ((60, 16), (80, 24), (120, 40), (200, 50))
THEMED = (120, 40)
"""The size at which each theme is kept."""
SCREENS: dict[str, tuple[str, ...]] = {
    "start": (),
    "backward": ("end", "p", "p"),
    "gradient": ("end", "3"),
    "search": ("home", "1", "/"),
    "map": ("escape", "n", "n", "m"),
    "breakpoints": ("m", "home", "b", "enter", "escape", "c", "B"),
    "watches": ("escape", "w", "c", "enter", "escape", "W"),
    "bookmarks": ("escape", "M", "apostrophe"),
    "value": ("escape", "2"),
    "slice": ("i",),
    "steps": ("escape", "5"),
    "compare": ("6",),
    "help": ("question_mark",),
    "palette": ("escape", "ctrl+p"),
    "tiny": ("escape",),
}
"""The keys that lead from each to the next."""

TINY = (50, 12)

ENCODER = """\
import graphscope as torch
import graphscope.nn as nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))

    def forward(self, x):
        return self.layers(x).detach()


torch.manual_seed(0)
encoder, head = Encoder(), nn.Linear(3, 4)
optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
x, labels = torch.randn(5, 6), torch.tensor([0, 1, 2, 3, 0])
for step in range(3):
    optimizer.zero_grad()
    code = encoder(x)
    loss = nn.functional.cross_entropy(head(code), labels)
    loss.backward()
    optimizer.step()
"""
TRAINING: dict[str, tuple[str, ...]] = {
    "tour": (":tour",),
    "tour-step": ("n", "p"),
    "outline": ("escape", "home"),
    "module": ("down", "down", "down", "down", "down"),
    "next-step": (")",),
    "typed-search": ("/", "l", "i", "n", "e", "a", "r"),
    "found-search": ("enter",),
    "findings": ("escape", "escape", "F"),
    "finding": ("enter",),
    "finding-why": ("y",),
    "long-timeline": ("F", "escape", "Z", ".", "."),
    "help-narrowed": ("?", "s", "t", "e", "p"),
}
"""The same over a training whose encoder gets no gradient; what begins with a colon is a line for the prompt."""


def shown(
    log: Path,
    size: tuple[int, int],
    see: Callable[[Screen], str] = lambda screen: screen.text,
    theme: str = "",
    screens: Mapping[str, Sequence[str]] = SCREENS,
) -> dict[str, str]:
    """All screens as text, or as what `see` finds on them."""
    found: dict[str, str] = {}

    async def use(screen: Screen) -> None:
        screen.app.theme = theme or screen.app.theme
        for name, keys in screens.items():
            for key in keys:
                if len(key) > 1 and key[0] == ":":
                    screen.main.post_message(CommandRequested(key[1:], quiet=True))
                    await screen.pilot.pause()
                else:
                    await screen.press(key)
                await screen.app.workers.wait_for_complete()
            if name == "tiny":
                await screen.pilot.resize_terminal(*TINY)
            for entry in screen.app.screen.query(Input):
                entry.cursor_blink = False
            for _ in range(3):
                await screen.app.workers.wait_for_complete()
                await screen.pilot.pause()
            found[name] = "\n".join(line.rstrip() for line in see(screen).split("\n")) + "\n"

    with chdir(log.parent):  # findings tell paths from where one is
        drive(log, use, size=size)
    return found


def file_of(name: str, size: tuple[int, int]) -> Path:
    return FOLDER / f"{name}-{size[0]}x{size[1]}.txt"


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=lambda size: "x".join(map(str, size)))
def test_the_screens_are_as_they_were(product: Path, size: tuple[int, int]) -> None:
    for name, text in shown(product, size).items():
        assert text == file_of(name, size).read_text(encoding="utf-8"), name


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=lambda size: "x".join(map(str, size)))
def test_the_screens_of_a_training_are_as_they_were(tmp_path: Path, size: tuple[int, int]) -> None:
    for name, text in shown(recorded(tmp_path, "encoder", ENCODER), size, screens=TRAINING).items():
        assert text == file_of(name, size).read_text(encoding="utf-8"), name


def recorded(folder: Path, name: str, source: str) -> Path:
    """A log of some source text, with times that are the same whenever it is made."""
    script, log = folder / f"{name}.py", folder / f"{name}.gscope"
    script.write_text(source, encoding="utf-8")
    with record(log):
        exec(compile(source, str(script), "exec"), {"__name__": "__main__"})
    return steady(log)


def colours(screen: Screen) -> str:
    """Every style of a screen in the order of its first use, with the first text that bears it."""
    found: dict[str, str] = {}
    for strip in screen.app.screen._compositor.render_strips():
        for part in strip:
            if part.style is not None and part.text.strip():
                found.setdefault(str(part.style), part.text.strip())
    return "\n".join(f"  {style}: {text}" for style, text in found.items())


def in_colours(log: Path, theme: str) -> str:
    """All screens of a theme as their styles."""
    return "".join(f"{name}\n{styles}" for name, styles in shown(log, THEMED, colours, theme).items())


@pytest.mark.slow
@pytest.mark.parametrize("theme", [theme.name for theme in THEMES])
def test_each_theme_is_as_it_was(product: Path, theme: str) -> None:
    assert in_colours(product, theme) == (FOLDER / f"{theme}.txt").read_text(encoding="utf-8")


def live(folder: Path, size: tuple[int, int]) -> dict[str, str]:
    """The screens over a program and over a log that grows, by file: as text; at one size in styles of each theme."""

    async def see(screen: Screen) -> dict[str, str]:
        found = {"text": "\n".join(line.rstrip() for line in screen.text.split("\n")) + "\n"}
        for theme in THEMES if size == THEMED else ():
            screen.app.theme = theme.name
            await settle(screen)
            found[theme.name] = colours(screen)
        if screen.app.theme != THEMES[0].name:
            screen.app.theme = THEMES[0].name
            await settle(screen)
        return found

    shown = debugged(folder, size, see) | followed(folder, size, see)
    files = {file_of(name, size).name: seen["text"] for name, seen in shown.items()}
    for theme in THEMES if size == THEMED else ():
        files[f"live-{theme.name}.txt"] = "".join(f"{name}\n{seen[theme.name]}" for name, seen in shown.items())
    return files


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=lambda size: "x".join(map(str, size)))
def test_the_screens_over_a_program_are_as_they_were(tmp_path: Path, size: tuple[int, int]) -> None:
    for name, text in live(tmp_path, size).items():
        assert text == (FOLDER / name).read_text(encoding="utf-8"), name


def contrast(one: Color, two: Color) -> float:
    """The contrast of two colours by WCAG 2."""

    def light(color: Color) -> float:
        parts = [value / 255 for value in color.rgb]
        linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, bright = sorted((light(one), light(two)))
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_in_each_theme_all_text_can_be_read(product: Path, theme: object) -> None:
    least = 4.5 if theme.name.endswith("contrast") else 1.7  # row numbers are to stand back; high contrast is WCAG's AA

    async def use(screen: Screen) -> None:
        screen.app.theme = theme.name
        await screen.press("end", "p")
        await screen.app.workers.wait_for_complete()
        await screen.pilot.pause()
        texts = 0
        for strip in screen.app.screen._compositor.render_strips():
            for part in strip:
                style = part.style
                if not re.search(r"\w", part.text) or style is None or style.color is None or style.bgcolor is None:
                    continue
                colours = [Color.from_rich_color(each) for each in (style.color, style.bgcolor)]
                assert contrast(*colours) >= least, (part.text, style)
                texts += 1
        assert texts > 40

    drive(product, use, size=(120, 36))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "wanted"), [("graphscope-light", "graphscope-light"), ("no such theme", THEMES[0].name)]
)
def test_the_theme_of_the_environment_is_taken(
    product: Path, monkeypatch: pytest.MonkeyPatch, given: str, wanted: str
) -> None:
    async def use(screen: Screen) -> None:
        assert screen.app.theme == wanted

    monkeypatch.setenv("TEXTUAL_THEME", given)
    drive(product, use)


@pytest.mark.slow
def test_without_unicode_no_character_is_beyond_ascii(product: Path) -> None:
    async def use(screen: Screen) -> None:
        for keys in (
            ("end",),
            ("home", "n", "n", "1"),
            ("4",),
            ("2",),
            ("m",),
            ("ctrl+p",),
            ("escape", "?"),
            ("pagedown",),
        ):
            await screen.press(*keys)
            beyond = {character for character in screen.text if not character.isascii()}
            assert not beyond, (keys, beyond)

    drive(product, use, glyphs=ASCII)
    assert not UNICODE.lane.isascii()


def main() -> None:
    """Write all snapshots."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        product, encoder = (recorded(Path(place), *each) for each in (("product", PRODUCT), ("encoder", ENCODER)))
        for size in SIZES:
            for name, text in {**shown(product, size), **shown(encoder, size, screens=TRAINING)}.items():
                file_of(name, size).write_text(text, encoding="utf-8")
        for theme in THEMES:
            (FOLDER / f"{theme.name}.txt").write_text(in_colours(product, theme.name), encoding="utf-8")
    for size in SIZES:
        with tempfile.TemporaryDirectory() as place:
            for name, text in live(Path(place), size).items():
                (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
