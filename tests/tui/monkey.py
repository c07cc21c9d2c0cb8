"""Random keys, clicks and new sizes: `python -m tests.tui.monkey LOG 20000 [SEED]` presses so many."""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path
from typing import Final

from textual.widgets import Input

from graphscope.tui import key_table
from tests.tui.screens import Screen, drive

LEAVING: Final = ("q", "E", "ctrl+p", "ctrl+c")
"""Keys that end it, or write files."""

LEAVING_CLICKS: Final = {f"app.press('{key}')" for key in LEAVING}
"""What clicks on the line of keys do that press one of these."""

KEYS: Final = sorted(
    {key for found in key_table.everywhere() for key in found.key.split(",")} - set(LEAVING)
    | {"tab", "shift+tab", "escape", "enter", "space", "left", "right", "z", "Z", "5", "x"}
)
SLOWEST: Final = 5.0
"""Seconds of work after which the screen is taken to be stuck."""
LONGEST: Final = 60.0
"""The same for seconds of the clock: it may wait for ever without working, and a busy machine is slow."""


async def press(screen: Screen, count: int, seed: int) -> None:
    """Press, click and resize; nothing may raise, and the screen must go on answering.

    Lines that would be carried out are emptied first: what they do to files is not what is tried here.
    """
    choose = random.Random(seed)
    for number in range(count):
        begun, worked = time.monotonic(), time.process_time()
        deed = choose.random()
        if deed < 0.02:
            told = "a resize"
            await screen.pilot.resize_terminal(choose.randint(20, 220), choose.randint(6, 60))
        elif deed < 0.12:
            told, (width, height) = "a click", screen.app.size
            place = choose.randrange(width), choose.randrange(height)
            if screen.app.screen.get_style_at(*place).meta.get("@click") not in LEAVING_CLICKS:
                await screen.pilot.click(offset=place)
        else:
            told = key = choose.choice(KEYS)
            if key == "enter":
                for entry in screen.app.screen.query(Input):
                    entry.value = ""
            await screen.pilot.press(key)
        assert screen.app.is_running, f"ended by deed {number} of seed {seed}: {told}"
        took = f"{time.process_time() - worked:.1f} s of work, {time.monotonic() - begun:.1f} s in all"
        stuck = time.process_time() - worked > SLOWEST or time.monotonic() - begun > LONGEST
        assert not stuck, f"stuck at deed {number} of seed {seed}: {took} for {told}"
    await screen.pilot.resize_terminal(100, 30)
    while len(screen.app.screen_stack) > 1:
        await screen.press("escape")
    await screen.press("escape", "home")


def main(log: str, count: str, seed: str = "0") -> None:
    """Press so many."""

    async def use(screen: Screen) -> None:
        await press(screen, int(count), int(seed))

    drive(Path(log), use)
    print(f"{count} deeds of seed {seed}: nothing broke")


if __name__ == "__main__":
    main(*sys.argv[1:])
