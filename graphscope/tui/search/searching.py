"""Search on the screen: the nearest match is shown while one types, off the screen's thread, a stretch at a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cached_property, partial
from typing import Final

import numpy as np
from textual import on, work

from graphscope.debugger.results import Stop
from graphscope.errors import LogError
from graphscope.graph.text_search import Matches, TextSearch
from graphscope.tui.background import Background
from graphscope.tui.key_line import KeyLine
from graphscope.tui.messages import CommandRequested
from graphscope.tui.search.search_line import Left, SearchLine, Typed, Walked
from graphscope.tui.tape.tape import Tape

_SELDOM: Final = 0.25
"""So long the count of a search that goes on stays as it is: a picture for each stretch would hold up the keys."""
_MOMENT: Final = 0.03
"""So long is searched before what was found is shown, and before what is typed meanwhile counts."""


class Searching(Background):
    """The search; the screen that has regions is above it."""

    _matches = Matches()
    _before = _matches
    """The matches of the search before, until this one is sure."""
    _counted = 0.0
    """When the matches were counted on the screen last."""
    _searched = ("", 0)
    """The text that matches are of, and the row behind the last that was there."""

    def __init__(self, classes: str) -> None:
        super().__init__(classes=classes)
        self._reading = asyncio.Lock()

    @cached_property
    def stands(self) -> tuple[int, Stop | None]:
        """Where the debugger stands, and what it said of that; while one searches, another place may be looked at."""
        raise NotImplementedError

    def look_at(self, now: int, stop: Stop | None) -> None:
        """Let all regions show a position."""
        raise NotImplementedError

    def action_search(self) -> None:
        """Begin a search."""
        self._before, self._matches = self._matches, Matches()
        self.query_one(SearchLine).open()

    @on(Typed)
    def _typed_search(self, message: Typed) -> None:
        message.stop()
        if message.text.strip():
            self._look_for(message.text)
        else:
            self.workers.cancel_group(self, "search")
            self._matches = Matches()
            self.query_one(SearchLine).count("")
            self.look_at(*self.stands)

    def search_again(self, text: str) -> None:
        """Let `n` and `N` walk the matches of a text that was looked for before; one stays where one stands."""
        if text:
            self.search = text
            self._look_for(text)

    def count_again(self) -> None:
        """Count the matches in a log that has grown, while a person walks from one to the next."""
        if self.search and not self.has_class("-searching") and self._searched[1] != self.log_index.log.end:
            self._look_for(self.search)

    def _look_for(self, text: str) -> None:
        """Show the next match as soon as it is found, then count the others; what is typed meanwhile ends that."""
        self._matches = Matches()
        self._read(text, self._matches)

    @work(exclusive=True, group="search")
    async def _read(self, text: str, matches: Matches) -> None:
        async with self._reading:  # of several texts only the newest waits
            with suppress(LogError):  # the log is gone meanwhile
                graph = self.log_index.graph
                self._searched = text, graph.log.end
                search = TextSearch(graph.at(graph.log.end - 1), text)
                stretches = search.stretches(self.stands[0])
                while not matches.is_whole:
                    is_enough = partial(self._is_enough, matches)
                    reading = asyncio.create_task(asyncio.to_thread(_some, search, stretches, is_enough))
                    try:
                        found = await asyncio.shield(reading)
                    except asyncio.CancelledError:
                        await reading
                        raise
                    self._take(matches, found)

    def _is_enough(self, matches: Matches, rows: np.ndarray) -> bool:
        """Whether rows are to be shown at once, as the first that are found, or nobody waits for them any more."""
        return matches is not self._matches or (len(rows) > 0 and not len(matches))

    def _take(self, matches: Matches, found: list[np.ndarray]) -> None:
        """Take over what some stretches hold; the first that is found is shown."""
        is_first = not len(matches)
        for rows in found:
            matches.add(rows)
        matches.is_whole = not found
        is_shown = is_first and len(matches)
        if self.has_class("-searching") and is_first:
            if len(matches):
                self.look_at(int(next(int(rows[0]) for rows in found if len(rows))), None)
            elif matches.is_whole:
                self.look_at(*self.stands)
        now = time.monotonic()
        if is_shown or matches.is_whole or now - self._counted > _SELDOM:
            self._counted = now
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
        found = self._matches
        if not len(found):
            return "nothing" if found.is_whole else "..."
        place = found.place(self.scene.now)
        if place is not None:
            return f"{place + 1:,} of {len(found):,}"
        return f"{len(found):,}{'' if found.is_whole else '+'} matches"

    @on(Walked)
    def _walk(self, message: Walked) -> None:
        message.stop()
        row = self._matches.beside(self.scene.now, message.by)
        if row is not None:
            self.look_at(row, None)
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
        if stays and len(self._matches) and shown != self.stands[0]:
            self.post_message(CommandRequested(f"goto {shown}", quiet=True))
        elif stays:
            self.look_at(*self.stands)
            self.post_message(CommandRequested(f"find {text}", quiet=True))
        else:
            self._matches = self._before
            self.look_at(*self.stands)
            if self.search and not self._matches.is_whole:
                self._look_for(self.search)


def _some(
    search: TextSearch, stretches: Iterator[tuple[int, int]], is_enough: Callable[[np.ndarray], bool]
) -> list[np.ndarray]:
    """What those stretches hold that can be searched in a moment, or until there is enough; nothing at the end."""
    begun, found = time.monotonic(), []
    for stretch in stretches:
        found.append(search.rows(*stretch))
        if is_enough(found[-1]) or time.monotonic() - begun > _MOMENT:
            break
    return found
