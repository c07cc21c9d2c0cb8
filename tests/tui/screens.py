"""The application over a log, driven by keys; what is on the screen comes back as text."""

from __future__ import annotations

import asyncio
import sys
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from textual.pilot import Pilot

from graphscope.dap.adapter_thread import adapter
from graphscope.debugger.debugger import Debugger
from graphscope.eventlog.reader import load
from graphscope.tui.app import GraphscopeApp
from graphscope.tui.glyphs import UNICODE, Glyphs
from graphscope.tui.live.program_session import ProgramSession
from graphscope.tui.main_screen import Main
from graphscope.tui.screen_session import RecordedSession
from tests.tui import quiet

PATIENCE = 120.0
"""Seconds after which what was awaited has not come."""


class Screen:
    """The running application."""

    def __init__(self, app: GraphscopeApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def main(self) -> Main:
        return next(screen for screen in self.app.screen_stack if isinstance(screen, Main))

    @property
    def now(self) -> int:
        return self.main.scene.now

    @property
    def text(self) -> str:
        """All that is on the screen."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip) for strip in strips)

    def part(self, selector: str) -> str:
        """What one region shows."""
        widget = self.main.query_one(selector)
        region = widget.region
        lines = self.text.split("\n")[region.y : region.bottom]
        return "\n".join(line[region.x : region.right] for line in lines)

    async def until(self, true: Callable[[], object], what: str) -> None:
        """Wait until something holds."""
        end = time.monotonic() + PATIENCE
        pause = 0.001
        while not true():
            if self.app._exception is not None:  # the screen has ended with it, and what is awaited never comes
                raise self.app._exception
            assert time.monotonic() < end, f"{what} has not come; {self._plight()}"
            await self.pilot.pause()
            pause = min(2 * pause, 0.03)
            await asyncio.sleep(pause)

    def _plight(self) -> str:
        """All that tells why something has not come: the screen, regions as they know themselves, what threads do."""
        main = self.main
        regions = [f"{each.id} {each.size} {each.region}" for each in main.query("*") if each.id and each.display]
        stacks = ["".join(traceback.format_stack(frame)[-4:]) for frame in sys._current_frames().values()]
        stood = f"at {main.stands}, log {len(main.scene.log)}, {main.scene.log.lost!r}, {self.app.mistakes}"
        return "\n".join(["the screen shows", self.text, stood, *regions, *stacks])

    async def at(self, row: int) -> None:
        """Wait until one stands at a row."""
        await self.until(lambda: self.now == row, f"row {row} (it is {self.now})")
        await self.pilot.pause()

    async def shows(self, text: str, selector: str = "") -> None:
        """Wait until a text is on the screen, or in one region."""
        await self.until(lambda: text in (self.part(selector) if selector else self.text), f"{text!r}")

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        """Type a line at the prompt."""
        await self.press(":")
        line = self.main.query_one("#line")
        line.value = text
        await self.press("enter", "escape")


def drive(
    log: Path,
    body: Callable[[Screen], Awaitable[None]],
    size: tuple[int, int] = (100, 30),
    glyphs: Glyphs = UNICODE,
    keymap: Mapping[str, str] | None = None,
    session: RecordedSession | None = None,
) -> None:
    """Open the application over a log, wait for its first node, and let `body` use it."""
    looked_at_by = session or RecordedSession(Debugger(load(log)))

    async def run() -> None:
        app = GraphscopeApp(load(log), looked_at_by, glyphs=glyphs, keymap=keymap)
        async with app.run_test(size=size, notifications=True) as pilot:
            await pilot.pause()
            screen = Screen(app, pilot)
            await screen.until(lambda: screen.main.scene.node is not None, "the first node")
            await pilot.pause()
            await body(screen)
        assert not app.mistakes, "".join(traceback.format_exception(app.mistakes[0]))

    quiet.run(run())


def debug(
    script: Path,
    body: Callable[[Screen], Awaitable[None]],
    size: tuple[int, int] = (120, 40),
    *,
    breakpoints: tuple[str, ...] = (),
    commands: tuple[str, ...] = (),
    **wishes: str,
) -> int | None:
    """Run a program under the screen, and let `body` use it; its exit status, if it has ended.

    Args:
        script: The program.
        body: What is done.
        size: Of the terminal.
        breakpoints: Set ahead of the first stop.
        commands: Carried out at the first stop.
        wishes: Further arguments of `launch`.
    """

    async def run(session: ProgramSession) -> None:
        app = GraphscopeApp(session.open_log(), session, glyphs=UNICODE)
        async with app.run_test(size=size, notifications=True) as pilot:
            await pilot.pause()
            await body(Screen(app, pilot))
        assert not app.mistakes, "".join(traceback.format_exception(app.mistakes[0]))

    with adapter() as connection:
        session = ProgramSession(connection, script.name)
        try:
            session.launch({"program": str(script), "cwd": str(script.parent), **wishes}, breakpoints, commands)
            quiet.run(run(session))
        finally:
            session.close()
    return session.code
