"""Search on the screen: the nearest match is shown while one types, off the screen's thread, a stretch at a time."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import numpy as np
from textual import on, work

from graphscope.debugger.results import Stop
from graphscope.errors import LogError
from graphscope.graph.text_search import TextSearch
from graphscope.tui.background import Background
from graphscope.tui.key_line import KeyLine
from graphscope.tui.messages import CommandRequested
from graphscope.tui.search.search_line import Left, SearchLine, Typed, Walked
from graphscope.tui.tape.tape import Tape


class Searching(Background):
    """The search; the screen that has regions is above it."""

    _began: tuple[int, Stop | None] = (0, None)
    """Where one stood when the search began."""
    _matches: np.ndarray = np.zeros(0, np.int64)
    """The rows that were found so far, ascending."""
    _is_whole = False
    """These are all."""
    _before: tuple[np.ndarray, bool] = (_matches, False)
    """The same of the search before, until this one is sure."""

    def __init__(self, classes: str) -> None:
        super().__init__(classes=classes)
        self._reading = asyncio.Lock()

    def place(self, now: int, stop: Stop | None) -> None:
        """Let all regions look at a position."""
        raise NotImplementedError

    def action_search(self) -> None:
        """Begin a search."""
        self._began = self.scene.now, self.scene.stop
        self._before = self._matches, self._is_whole
        self._matches = self._matches[:0]
        self.query_one(SearchLine).open()

    @on(Typed)
    def _typed_search(self, message: Typed) -> None:
        message.stop()
        self._look_for(message.text)

    @work(exclusive=True, group="search")
    async def _look_for(self, text: str) -> None:
        """Show the next match as soon as it is found, then count the others; what is typed meanwhile ends that."""
        origin = self._began[0]
        self._matches, self._is_whole = self._matches[:0], False
        if not text.strip():
            self.query_one(SearchLine).count("")
            self.place(*self._began)
            return
        async with self._reading:  # one stretch is read at a time: of several texts only the newest waits
            with suppress(LogError):  # the log is gone meanwhile
                graph = self.log_index.graph
                search = TextSearch(graph.at(graph.log.end - 1), text)
                for stretch in search.stretches(origin):
                    reading = asyncio.create_task(asyncio.to_thread(search.rows, *stretch))
                    try:
                        found = await asyncio.shield(reading)
                    except asyncio.CancelledError:
                        await reading
                        raise
                    self._take(found, is_last=False)
                self._take(self._matches[:0], is_last=True)

    def _take(self, found: np.ndarray, *, is_last: bool) -> None:
        """Take over what a stretch holds; the first that is found is shown."""
        is_typed = self.has_class("-searching")
        if len(found):
            is_first = not len(self._matches) and is_typed
            self._matches = np.sort(np.concatenate([self._matches, found]))
            if is_first:
                self.place(int(found[0]), None)
        elif is_last and not len(self._matches) and is_typed:
            self.place(*self._began)
        self._is_whole = is_last
        self._count()

    def _count(self) -> None:
        self.query_one(SearchLine).count(self._words)
        self.show_search()

    def show_search(self) -> None:
        """Say among the keys what is searched for, and which match one stands at."""
        self.query_one(KeyLine).search = f"/{self.search}  {self._words}  n N Esc" if self.search else ""

    @property
    def _words(self) -> str:
        """Which of how many matches one stands at: `3 of 41`."""
        total = f"{len(self._matches):,}{'' if self._is_whole else '+'}"
        if not len(self._matches):
            return "nothing" if self._is_whole else "..."
        place = int(np.searchsorted(self._matches, self.scene.now))
        is_at_one = place < len(self._matches) and int(self._matches[place]) == self.scene.now
        return f"{place + 1:,} of {total}" if is_at_one else f"{total} matches"

    @on(Walked)
    def _walk(self, message: Walked) -> None:
        message.stop()
        if len(self._matches):
            place = int(np.searchsorted(self._matches, self.scene.now)) + message.by
            self.place(int(self._matches[place % len(self._matches)]), None)
            self._count()

    @on(Left)
    def _leave_search(self, message: Left) -> None:
        message.stop()
        self.query_one(SearchLine).close()
        self.set_focus(self.query_one(Tape))
        shown, text = self.scene.now, message.text.strip()
        stays = message.stays and bool(text)
        if not stays:
            self.workers.cancel_group(self, "search")
        self.search = text if stays else self.search
        if stays and len(self._matches) and shown != self._began[0]:
            self.post_message(CommandRequested(f"goto {shown}", quiet=True))
        elif stays:
            self.place(*self._began)
            self.post_message(CommandRequested(f"find {text}", quiet=True))
        else:
            self._matches, self._is_whole = self._before
            self.place(*self._began)
