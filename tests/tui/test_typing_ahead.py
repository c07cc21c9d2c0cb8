"""Keys that come before the screen is ready for them: each means what it would have meant later."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events
from textual.keys import _character_to_key
from textual.widgets import Input

from tests.tui.screens import Screen, debug, drive

WAITING = """\
import graphscope as gs
name = input("name? ")
x = gs.ones(2)
y = x * 2
z = y + 1
"""


def type_at_once(screen: Screen, text: str) -> None:
    """What a terminal sends for keys that were pressed faster than the screen reads them."""
    for letter in text:
        key = "enter" if letter == "\n" else _character_to_key(letter)
        screen.app.post_message(events.Key(key, letter if letter != "\n" else "\r"))


@pytest.mark.slow
def test_keys_wait_for_the_first_node(tmp_path: Path) -> None:
    script = tmp_path / "waiting.py"
    script.write_text(WAITING, encoding="utf-8")

    async def use(screen: Screen) -> None:
        await screen.press("n")
        await screen.shows("next follows when the program has come to its first node")
        await screen.press("n", "t", *"Ada", "enter", "ctrl+t")
        await screen.at(2)
        assert screen.main.scene.node.op == "add"

    debug(script, use)


@pytest.mark.slow
def test_what_waits_is_forgotten(tmp_path: Path) -> None:
    script = tmp_path / "waiting.py"
    script.write_text(WAITING, encoding="utf-8")

    async def use(screen: Screen) -> None:
        await screen.press("c")
        await screen.shows("continue follows")
        await screen.press("ctrl+c")
        assert not screen.main.early

    debug(script, use)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        (":p op\n", "'mul'"),
        ("/mul\n", "of 4  n N Esc"),
        ("g0\n", "#0"),
        (":p op\n:p name\n", "'c'"),
        ("=3\n", "What is past can't be changed"),
    ],
)
def test_words_typed_behind_a_key_are_words(product: Path, typed: str, shown: str) -> None:
    async def use(screen: Screen) -> None:
        await screen.press("n", "n")
        await screen.at(2)
        if typed.count("\n") > 1:
            first, second = typed.splitlines(keepends=True)
            type_at_once(screen, first)
            await screen.shows("'mul'")
            await screen.press("escape")
            type_at_once(screen, second)
        else:
            type_at_once(screen, typed)
        await screen.shows(shown)

    drive(product, use)


@pytest.mark.slow
@pytest.mark.parametrize("pasted", [":p op\np name\nwhen", "p op\r\np name\r\nwhen"])
@pytest.mark.parametrize("focus", ["tape", "line"])
def test_a_text_that_is_pasted_is_taken_whole(product: Path, pasted: str, focus: str) -> None:
    async def use(screen: Screen) -> None:
        await screen.press("n", "n")
        await screen.at(2)
        if focus == "line":
            await screen.press(":")
        screen.app.post_message(events.Paste(pasted.removeprefix(":") if focus == "line" else pasted))
        await screen.until(lambda: screen.main.query_one("#line", Input).value == "when", "the last line")
        await screen.shows("'mul'")
        await screen.shows("'c'")
        assert screen.now == 2

    drive(product, use)
