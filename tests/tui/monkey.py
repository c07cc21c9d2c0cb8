"""Random keys, mouse deeds, lines and new sizes; behind each the screen is held against the log.

`python -m tests.tui.monkey --deeds 20000` uses recordings of graphscope's own engine and of PyTorch;
`--live --deeds 2000` uses PyTorch programs that run, and edits what they wait with. What fails is told as the shortest
sequence of deeds that fails, as far as leaving out some of them finds it.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import time
import traceback
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from textual import events
from textual.widgets import Input
from textual.worker import WorkerCancelled

from graphscope.tui import key_table
from tests.tui.oracle import Oracle, Truth
from tests.tui.programs import PROGRAMS, record
from tests.tui.screens import Screen, debug, drive

LEAVING: Final = ("q", "E", "ctrl+p", "ctrl+c", "ctrl+q")
"""Keys that end it, or write files."""

LEAVING_CLICKS: Final = {f"app.press('{key}')" for key in LEAVING}
"""What clicks on the line of keys do that press one of these."""

KEYS: Final = sorted(
    ({key for found in key_table.everywhere() for key in found.key.split(",")} - set(LEAVING))
    | {"tab", "shift+tab", "escape", "enter", "space", "left", "right", "z", "Z", "5", "x"}
)
MOVES: Final = ("n", "p", "down", "up", "pagedown", "pageup", "o", "s", "{", "}", "home", "end", "1", "2", "3", "z")
LINES: Final = (
    "p value", "p grad", "goto 3", "goto op:tanh", "goto loss", "b op:tanh", "b op:mm backward", "clear 1",
    "disable 1", "c", "rc", "why", "steps", "find tanh", "w value", "last value",
)  # fmt: skip
EDITS: Final = ("set value = value * 2", "set grad = grad * 0", "set value = 0.5", "set grad = grad + 1", "c", "n", "r")
SEARCHES: Final = ("tanh", "loss", "mm", "W", "3x3", "zzz", "op:tanh backward", "w")
SLOWEST: Final = 5.0
"""Seconds of work after which the screen is taken to be stuck."""
LONGEST: Final = 60.0
"""The same for seconds of the clock: it may wait for ever without working, and a busy machine is slow."""


class Deed(NamedTuple):
    """What is done: a key, a line, a text that is searched for, or the mouse at a share of the screen."""

    kind: str
    text: str = ""
    x: float = 0.0
    y: float = 0.0

    def __str__(self) -> str:
        return f"{self.kind} {self.text}" if self.text else f"{self.kind} at {self.x:.3f}, {self.y:.3f}"


def deeds(count: int, seed: int, *, live: bool = False) -> list[Deed]:
    """So many deeds."""
    choose = random.Random(seed)
    made = []
    for _ in range(count):
        kind = choose.choices(
            ("key", "move", "line", "search", "click", "double click", "wheel up", "wheel down", "drag", "size"),
            (50, 20, 12 if live else 4, 3, 8, 2, 2, 2, 1, 2),
        )[0]
        place = choose.random(), choose.random()
        lines = (*LINES, *EDITS * 3) if live else LINES
        text = {
            "key": choose.choice(KEYS), "move": choose.choice(MOVES), "line": choose.choice(lines),
            "search": choose.choice(SEARCHES), "size": f"{choose.randint(20, 220)}x{choose.randint(6, 60)}",
        }.get(kind, "")  # fmt: skip
        made.append(Deed("key" if kind == "move" else kind, text, *place))
    return made


class Monkey:
    """Does deeds on one screen.

    Args:
        screen: The screen.
        every: Behind every so many deeds the screen is held against the log.
    """

    def __init__(self, screen: Screen, every: int = 1) -> None:
        self.screen = screen
        self._every = every
        self._truth: Truth | None = None
        self._scrolled = False
        self.checks = 0

    async def do(self, todo: Sequence[Deed]) -> None:
        """Do these deeds; nothing may raise, the screen must go on answering, and say what is so."""
        for number, deed in enumerate(todo):
            begun, worked = time.monotonic(), time.process_time()
            now = self.screen.now
            await self._one(deed)
            assert self.screen.app.is_running, f"ended by deed {number}: {deed}"
            used, passed = time.process_time() - worked, time.monotonic() - begun
            assert used < SLOWEST, f"stuck at deed {number}: {used:.1f} s of work for {deed}"
            assert passed < LONGEST, f"stuck at deed {number}: {passed:.1f} s for {deed}"
            assert not self.screen.app.mistakes, f"deed {number}, {deed}: {self.screen.app.mistakes[0]!r}"
            self._scrolled = self.screen.now == now and (self._scrolled or "click" in deed.kind or "wheel" in deed.kind)
            if number % self._every == 0:
                await self.check(f"deed {number}, {deed}")

    async def _one(self, deed: Deed) -> None:
        screen, pilot = self.screen, self.screen.pilot
        width, height = screen.app.size
        place = int(deed.x * width), int(deed.y * height)
        if deed.kind == "size":
            await pilot.resize_terminal(*map(int, deed.text.split("x")))
        elif deed.kind == "key":
            if deed.text == "enter":  # what lines that would be carried out do to files is not what is tried here
                entry = screen.app.focused
                if isinstance(entry, Input):
                    entry.value = ""
            await pilot.press(deed.text)
        elif deed.kind in ("line", "search"):
            await self._leave_dialogs()
            await self._type(deed)
        elif screen.app.screen.get_style_at(*place).meta.get("@click") in LEAVING_CLICKS:
            pass
        elif deed.kind == "drag":
            await pilot.mouse_down(offset=place)
            await pilot.hover(offset=(width - 1 - place[0], place[1]))
            await pilot.mouse_up(offset=(width - 1 - place[0], place[1]))
        elif deed.kind.startswith("wheel"):
            turned = events.MouseScrollUp if deed.kind.endswith("up") else events.MouseScrollDown
            await pilot._post_mouse_events([turned], offset=place)
        else:
            await pilot.click(offset=place, times=1 + (deed.kind == "double click"))

    async def _type(self, deed: Deed) -> None:
        press = self.screen.pilot.press
        await press("escape", ":" if deed.kind == "line" else "/")
        entry = self.screen.app.focused
        if isinstance(entry, Input):  # where the terminal is too small there is none
            entry.value = deed.text
            await press("enter", "escape") if deed.kind == "line" else await press("enter")

    async def _leave_dialogs(self) -> None:
        while len(self.screen.app.screen_stack) > 1:
            await self.screen.press("escape")

    # The oracle ------------------------------------------------------------------------------------------------------

    async def settle(self) -> None:
        """Wait until all that was asked for is done and drawn."""
        app, main = self.screen.app, self.screen.main
        main._grow()
        shown = ""
        while shown != (shown := self.screen.text):
            app.clear_notifications()
            with suppress(WorkerCancelled):  # a newer one of its kind has taken its place
                await app.workers.wait_for_complete()
            await self.screen.pilot.pause()
            await self.screen.until(lambda: main.session.state not in ("starting", "runs"), "the next stop")

    async def check(self, where: str) -> None:
        """Hold what is shown against the log."""
        if len(self.screen.app.screen_stack) > 1:
            return
        await self.settle()
        session, log = self.screen.main.session, self.screen.main.log_index.log
        if self._truth is None or self._truth.log.path != log.path or session.state:
            self._truth = Truth(log.path)
        said = Oracle(self.screen, self._truth, scrolled=self._scrolled).complaints()
        self.checks += 1
        assert not said, "\n".join([f"behind {where} at {self.screen.app.size}:", *said, self.screen.text])


Body = Callable[[Screen], Awaitable[None]]
Run = Callable[[Body], object]
"""Opens a screen for what is done on it."""


def shortest(todo: Sequence[Deed], fails: Callable[[Sequence[Deed]], str], tries: int = 60) -> tuple[list[Deed], str]:
    """A short part of some deeds that fails as well, and how: deeds are left out, many at a time, then fewer."""
    left, said = list(todo), fails(todo)
    size = len(left) // 2 if said else 0  # what does not fail again depends on how quick the machine was
    while size and tries:
        for start in range(0, len(left), size):
            tries -= 1
            fewer = left[:start] + left[start + size :]
            if tries and (found := fails(fewer)):
                left, said = fewer, found
                break
        else:
            size //= 2
        size = min(size, len(left) // 2 or len(left) - 1)
    return left, said


def outcome(run: Run, todo: Sequence[Deed], every: int = 1) -> tuple[str, int]:
    """What fails when some deeds are done, empty if nothing does; and how often the screen was held against the log."""
    checks = 0

    async def use(screen: Screen) -> None:
        nonlocal checks
        await screen.until(lambda: screen.main.session.begun, "the first stop")
        monkey = Monkey(screen, every)
        try:
            await monkey.do(todo)
            await monkey._leave_dialogs()
            await monkey.check("the last deed")
        finally:
            checks = monkey.checks

    try:
        run(use)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} ({Path(place.filename).name}:{place.lineno}): {error}", checks
    return "", checks


def try_out(run: Run, todo: Sequence[Deed], every: int = 1) -> int:
    """Do deeds; how often the screen was held against the log.

    Raises:
        AssertionError: Something fails: with the shortest sequence that was found to do so.
    """
    said, checks = outcome(run, todo, every)
    if said:
        at = re.search(r"deed (\d+)", said)
        cut = len(todo) if at is None else int(at[1]) + 1
        print(f"{said}\nfails; leaving out deeds takes minutes", flush=True)
        left, again = shortest(todo[:cut], lambda some: outcome(run, some)[0])
        raise AssertionError("\n".join([*map(str, left), again or f"does not fail again: {said}"]))
    return checks


def main() -> None:
    """Try recordings, or programs that run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deeds", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--each", type=int, default=250, help="deeds on one screen")
    parser.add_argument("--live", action="store_true")
    given = parser.parse_args()
    done = checks = failed = 0
    seed = given.seed
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        programs = [program for program in PROGRAMS if program.live or not given.live]
        runs: list[Run] = (
            [partial(debug, program.written(folder)) for program in programs]
            if given.live
            else [partial(drive, record(folder, program)) for program in programs]
        )
        while done < given.deeds:
            todo = deeds(min(given.each, given.deeds - done), seed, live=given.live)
            begun, which = time.monotonic(), seed % len(programs)
            try:
                checks += try_out(runs[which], todo)
            except AssertionError as error:
                failed += 1
                print(f"seed {seed} on {programs[which].name} fails:\n{error}", flush=True)
            done, seed = done + len(todo), seed + 1
            print(f"{done} deeds, {checks} checks, {failed} failures, {time.monotonic() - begun:.0f} s", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
