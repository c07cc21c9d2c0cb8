"""Leaving the screen: what becomes of a program that is not at its end, of its recording, and of what was set up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from textual import work

from graphscope.debugger.results import Message as Said
from graphscope.tui.arrangement import arrangement_of
from graphscope.tui.dialogs.choice import Choice
from graphscope.tui.prompt.prompt import Prompt
from graphscope.tui.search.searching import Searching
from graphscope.tui.terminal_loss import is_gone, on_hang_up

if TYPE_CHECKING:
    from textual.timer import Timer

T = TypeVar("T")


class Leaving(Searching):
    """The ways out; the screen that has regions is above it."""

    is_unseen = False
    """Its terminal is gone."""
    _watch: Timer
    """Looks whether it is."""

    def __init__(self, classes: str) -> None:
        super().__init__(classes=classes)
        self._lock = asyncio.Lock()

    async def by_session(self, work: Callable[[], list[T]]) -> list[T]:
        """What the session answers, off the screen's thread and one thing after another; of a mistake it is told."""
        async with self._lock:
            try:
                return await asyncio.to_thread(work)
            except Exception as error:  # noqa: BLE001 - whatever it is, the session must not be lost to it
                self.app._handle_exception(error)
                return []

    def watch_terminal(self, seconds: float) -> None:
        """Look every so many seconds whether the terminal is there, and leave when it is not."""
        on_hang_up(self._leave_unseen)
        self._watch = self.set_interval(seconds, self._see_terminal)

    def action_quit(self) -> None:
        """Leave; what becomes of a program that is not at its end, the person says."""
        if self.session.state not in ("starting", "runs", "waits"):
            self.keep_and_leave()
            return
        place = self.session.place_to_keep
        answers = {"y": "stop it, and leave", "g": "leave, and let it go on in this terminal"}
        if place is not None:
            answers["d"] = "stop it, and leave without its recording"
        note = "Its recording stays where it is" if place is None else f"Its recording is kept as {place}"

        def answered(key: str | None) -> None:
            if key == "g":
                self.session.release()
            if key == "y":
                self.keep_and_leave()
            elif key is not None:
                self.leave()

        self.app.push_screen(Choice(f"{self.session.name} has not ended", answers, note), answered)

    def keep_and_leave(self) -> None:
        """End the program, keep what was recorded of it, and end the screen."""
        if self.session.place_to_keep is None or not len(self.log_index.log):
            self.leave()
        else:
            self._keep_and_leave()

    @work
    async def _keep_and_leave(self) -> None:
        self.session.arrange(arrangement_of(self))
        results = await self.by_session(lambda: [self.session.keep()])
        if self.session.kept is not None:
            self.leave()
            return
        self.query_one(Prompt).say(tuple(results))
        why = results[0].text if results and isinstance(results[0], Said) else "The recording can't be kept"
        answers = {"d": "leave without it"}
        self.app.push_screen(Choice(why, answers), lambda key: self.leave() if key == "d" else None)

    def leave(self) -> None:
        """End the screen."""
        try:
            self.session.arrange(arrangement_of(self))
        finally:
            self.session.interrupt()
            self.app.exit()

    def _see_terminal(self) -> None:
        """Leave when there is no terminal any more."""
        if is_gone():
            self._watch.stop()
            self._leave_unseen()

    @work
    async def _leave_unseen(self) -> None:
        """End the screen; nobody can be asked, so what was recorded is kept."""
        self.is_unseen = True
        if self.app._driver is not None:
            self.app._driver.disable_input()  # its thread would look for keys without rest
        if self.session.place_to_keep is not None:
            self.session.arrange(arrangement_of(self))
            await self.by_session(lambda: [self.session.keep()])
        self.leave()
