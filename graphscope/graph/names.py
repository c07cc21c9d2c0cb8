"""What a program calls its nodes: recorded names, else the variable that the node's line assigns to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.errors import LogError
from graphscope.eventlog import sources
from graphscope.eventlog.schema import Kind

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Event, Log

_LOOK_BACK: Final = 64
_PASSED: Final = (Kind.LEAF, Kind.SCOPE_ENTER, Kind.SCOPE_EXIT)
"""Rows that may lie between two ops of one expression."""


class Names:
    """Names and source lines of one log; each place in the program is looked at once."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._variables: dict[int, str] = {}
        self._begins: dict[int, int] = {}
        self._lines: dict[str, list[str]] = {}

    def name(self, event: Event) -> str:
        """The name of a leaf or op; empty when the program gives it none.

        What was written in place bears the name of the tensor, unless the line says another.
        """
        own = self._own(event)
        if own or event.version == 0 or event.tensor >= event.row:
            return own
        try:
            return self._own(self._log.event(event.tensor))
        except LogError:  # the first version was in a segment that is gone
            return ""

    def _own(self, event: Event) -> str:
        attrs = self._log.attrs(event.attrs)
        if attrs.get("name"):
            return str(attrs["name"])
        if event.kind == Kind.LEAF and "function" not in attrs:
            return ""  # seen first at a use: the variable there is another's
        variable = self.variable(event.site)
        return variable if not variable or event.kind != Kind.OP or self._finishes(event) else ""

    def variable(self, site: int) -> str:
        """The variable that the expression at a site is assigned to; empty when there is none."""
        found = self._variables.get(site)
        if found is None:
            place = self._log.site(site) if site else None
            text = self._log.source(place.file) if place is not None else None
            found = (sources.variable_at(text, place) if text is not None and place is not None else None) or ""
            self._variables[site] = found
        return found

    def source_line(self, site: int) -> str:
        """The line of the program at a site, without its indentation; empty when the source was not recorded."""
        place = self._log.site(site) if site else None
        if place is None:
            return ""
        lines = self._lines.get(place.file)
        if lines is None:
            lines = self._lines[place.file] = (self._log.source(place.file) or "").splitlines()
        return lines[place.line - 1].strip() if 0 < place.line <= len(lines) else ""

    def _finishes(self, event: Event) -> bool:
        """Whether an op is the last of those that its expression ran.

        One call can run several ops (`linear` runs `mm`, then `add`), and what it returns is what the last one made.
        A loop runs the same expression again and again, so the next op at the site may begin it anew.
        """
        following = self._beside(event, 1)
        return following is None or following == self._first_op(event)

    def finishing(self, rows: np.ndarray) -> np.ndarray:
        """Which of many ops are the last of those that their expressions ran."""
        log, found, left = self._log, np.ones(len(rows), bool), np.arange(len(rows))
        sites, threads = log.pick("site", rows), log.pick("thread", rows)
        for distance in range(1, _LOOK_BACK):
            if len(left) == 0:
                break
            beside = rows[left] + distance
            kinds = log.pick("kind", beside)
            same = (kinds == Kind.OP) & (log.pick("site", beside) == sites[left])
            same &= log.pick("thread", beside) == threads[left]
            at = left[same]
            known, some, which = np.unique(sites[at], return_index=True, return_inverse=True)
            first = [self._first_op(log.event(int(rows[at[place]]))) for place in some.tolist()]
            found[at] = log.pick("op", beside[same]) == np.array(first, np.uint32)[which] if len(known) else True
            left = left[np.isin(kinds, [int(kind) for kind in _PASSED])]
        return found

    def _first_op(self, event: Event) -> int:
        """The op with which the expression at this site begins."""
        found = self._begins.get(event.site)
        if found is None:
            found, row = event.op, event.row
            while (before := self._stretch(event, row, -1)) is not None:
                row, found = before
            self._begins[event.site] = found
        return found

    def _beside(self, event: Event, direction: int) -> int | None:
        found = self._stretch(event, event.row, direction)
        return None if found is None else found[1]

    def _stretch(self, event: Event, row: int, direction: int) -> tuple[int, int] | None:
        """Row and op of the node next to `row`, if it is an op of the same expression; marks and leaves are passed."""
        for distance in range(1, _LOOK_BACK):
            other = row + direction * distance
            try:
                raw = self._log.raw(other)
            except LogError:
                return None
            kind = int(raw["kind"])
            if kind == Kind.OP:
                same = int(raw["site"]) == event.site and int(raw["thread"]) == event.thread
                return (other, int(raw["op"])) if same else None
            if kind not in _PASSED:
                return None
        return None
