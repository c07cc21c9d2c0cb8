"""What a program calls its nodes: recorded names, else the variable that the node's line assigns to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.errors import LogError
from graphscope.eventlog import sources
from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.pass_marks import pass_marks

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Event, Log

_LOOK_BACK: Final = 64
_SINGLY: Final = 64
_WINDOW: Final = 1 << 16
_FARTHEST: Final = 1 << 20
"""So many rows of a run are looked at one by one, at once, and at most."""
_MOST_MARKS: Final = 16
"""A backward pass begins within so many rows behind the loss that it begins from."""
_MOST_ROWS: Final = 1 << 18
"""A parameter that was used ahead of the first call of its module is named within so many rows."""
_PASSED: Final = (Kind.LEAF, Kind.SCOPE_ENTER, Kind.SCOPE_EXIT)
"""Rows that may lie between two ops of one expression."""


class Names:
    """Names and source lines of one log; each place in the program is looked at once."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._variables: dict[int, str] = {}
        self._begins: dict[int, int] = {}
        self._lines: dict[str, list[str]] = {}
        self._named_later: dict[int, str] = {}
        self._searched = 0

    def name(self, event: Event) -> str:
        """The name of a leaf or op; empty when the program gives it none.

        What was written in place bears the name of the tensor, unless the line says another. A loss that a function
        returned bears the name that it has where its backward pass begins.
        """
        try:
            first = self._log.event(event.tensor) if event.version and event.tensor < event.row else event
        except LogError:  # the first version was in a segment that is gone
            first = event
        given = self.given_later(first)
        own = given or self._own(event) or (self._own(first) if first is not event else "")
        return own or (self._root(event.row) if event.kind == Kind.OP else "")

    def _root(self, row: int) -> str:
        """What `backward()` is called on, where it begins from a row."""
        begins = pass_marks(self._log).begins
        following = int(np.searchsorted(begins, row))
        is_near = following < len(begins) and begins[following] <= row + _MOST_MARKS
        return self.roots(row, row + 1).get(row, "") if is_near else ""

    def given_later(self, first: Event) -> str:
        """The name of a parameter that was told again, once the module that it belongs to had been called."""
        trained = first.kind == Kind.LEAF and first.flags & Flag.PARAMETER
        if not trained or self._log.attrs(first.attrs).get("name"):
            return ""
        stop = min(self._log.end, first.row + _MOST_ROWS)
        if first.row not in self._named_later and self._searched < stop:
            self._search(max(self._searched, self._log.first), stop)
        return self._named_later.get(first.row, "")

    def _search(self, start: int, stop: int) -> None:
        for low, rows in self._log.chunks(start, stop):
            again = (rows["kind"] == Kind.LEAF) & (rows["tensor"] < np.arange(low, low + len(rows), dtype=np.uint64))
            for offset in np.flatnonzero(again).tolist():
                name = self._log.attrs(int(rows["attrs"][offset])).get("name")
                if name:
                    self._named_later[int(rows["tensor"][offset])] = str(name)
        self._searched = stop

    def roots(self, start: int, stop: int) -> dict[int, str]:
        """What `backward()` is called on, by the rows of it from `start` up to `stop`, where that is a plain name."""
        log, found = self._log, {}
        kinds = log.column("kind", start, min(stop + _MOST_MARKS, log.end))
        for begin in (start + np.flatnonzero(kinds == Kind.BACKWARD_BEGIN)).tolist():
            event = log.event(begin)
            place = log.site(event.site) if event.site else None
            text = None if place is None else log.source(place.file)
            for root, _ in event.inputs[:1]:
                if place is not None and start <= root < stop and begin <= root + _MOST_MARKS:
                    where = (place.line, place.column, place.end_line, place.end_column)
                    found[root] = sources.root_at(text, where) or ""
        return found

    def _own(self, event: Event) -> str:
        attrs = self._log.attrs(event.attrs)
        if "name" in attrs:
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
            begins = _call(log.pick("op", beside[same]), log.pick("scope", beside[same]))
            found[at] = begins == np.array(first, np.int64)[which] if len(known) else True
            left = left[np.isin(kinds, [int(kind) for kind in _PASSED])]
        return found

    def _first_op(self, event: Event) -> int:
        """The op with which the expression at this site begins, and its scope."""
        found = self._begins.get(event.site)
        if found is None:
            found, row = int(_call(event.op, event.scope)), event.row
            for _ in range(_SINGLY):
                before = self._stretch(event, row, -1)
                if before is None:
                    break
                row, found = before
            else:
                found = self._begin_of_run(event, row, found)
            self._begins[event.site] = found
        return found

    def _begin_of_run(self, event: Event, row: int, op: int) -> int:
        """The op that a long run of one expression begins with: a loop may have made millions of rows.

        Args:
            event: An op of the expression.
            row: A row of the run; what lies before it is looked at, many rows at once.
            op: The op of that row.
        """
        log = self._log
        lowest = max(log.first, row - _FARTHEST)
        while row > lowest:
            start = max(row - _WINDOW, lowest)
            kinds = log.column("kind", start, row)
            same = (kinds == Kind.OP) & (log.column("site", start, row) == event.site)
            same &= log.column("thread", start, row) == event.thread
            others = np.flatnonzero(~same & ~np.isin(kinds, [int(kind) for kind in _PASSED]))
            begin = int(others[-1]) + 1 if len(others) else 0
            run = np.flatnonzero(same[begin:])
            if len(run):
                place = start + begin + int(run[0])
                op = int(_call(*(log.column(name, place, place + 1)[0] for name in ("op", "scope"))))
            if len(others):
                break
            row = start
        return op

    def _beside(self, event: Event, direction: int) -> int | None:
        found = self._stretch(event, event.row, direction)
        return None if found is None else found[1]

    def _stretch(self, event: Event, row: int, direction: int) -> tuple[int, int] | None:
        """Row and op (with its scope) of the node next to `row`, if it is an op of the same expression.

        Marks and leaves are passed.
        """
        for distance in range(1, _LOOK_BACK):
            other = row + direction * distance
            try:
                raw = self._log.raw(other)
            except LogError:
                return None
            kind = int(raw["kind"])
            if kind == Kind.OP:
                same = int(raw["site"]) == event.site and int(raw["thread"]) == event.thread
                return (other, int(_call(raw["op"], raw["scope"]))) if same else None
            if kind not in _PASSED:
                return None
        return None


def _call(op: Any, scope: Any) -> Any:
    """One number for an op and its scope: the layers of a network run the same ops, each in its own."""
    return np.int64(op) + (np.int64(scope) << 32)
