"""Which lines the tape shows, numbered from 0: rows of the log and headers of sections, kept block by block."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from graphscope.graph.outline import SectionKind, Stretch, outline
from graphscope.graph.outline.kinds import ROW, SLOT_BITS, key_of
from graphscope.graph.outline.outline import BLOCK
from graphscope.graph.outline.stretches import SLOTS
from graphscope.tui.tape.folding import Folding, closed_at_first, keys_of

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.tui.tape.loops import Loop

_SLOT: Final = (1 << SLOT_BITS) - 1
_KEPT: Final = 24
_SLOT_OF_STEP: Final = SLOTS[SectionKind.STEP]


class Line(NamedTuple):
    """A line of the tape."""

    row: int
    """Its row of the log; of a header the first one of its section."""
    section: Any
    """The section that it is the header of; None of a row."""
    depth: int
    """How many sections it lies in."""
    around: Any
    """The innermost of these; None where it lies in none."""
    is_closed: bool
    """Whether what it is the header of is folded."""


class Lines:
    """The lines of a log. A line is known by its key: the row where it stands, and which of what begins there it is.

    `extend` looks at more of the log. Blocks in which all is folded are never looked into.
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._outline = outline(log)
        self._first_block = log.first // BLOCK
        self._blocks: list[np.ndarray] = []
        self._starts: list[int] = []
        self._count = 0
        self._end = self._first_block * BLOCK
        self._has_headers = False
        self._closed: dict[int, tuple[Stretch, np.ndarray]] = {}
        self._closed_at_first: dict[int, tuple[Stretch, np.ndarray]] = {}
        self._lasts: tuple[int, dict[int, int]] = 0, {}
        """How long the log was, and the last rows of sections by then, by their keys."""
        self.folding = Folding()
        self.loops: dict[int, Loop] = {}
        """Loops of which the first turn alone is shown, by the keys of where they begin."""
        self.changes = 0
        """How often lines were shown or hidden."""

    def __len__(self) -> int:
        return self._count

    @property
    def end(self) -> int:
        """The row behind the last that was looked at."""
        return min(self._end, self._log.end)

    @property
    def complete(self) -> bool:
        """Whether all rows were looked at."""
        return self._end >= self._log.end

    # Reading ---------------------------------------------------------------------------------------------------------

    def extend(self, blocks: int = 1) -> None:
        """Look at so many blocks more; the last one again if it has grown."""
        steps = self._outline.steps
        if (len(steps) > 1) != self._has_headers:
            self._has_headers = not self._has_headers
            self.again()
        for _ in range(blocks):
            begun = bool(self._blocks) and self._end % BLOCK != 0
            number = self._first_block + len(self._blocks) - begun
            if begun:
                self._count = self._starts.pop()
                self._blocks.pop()
            elif self.complete:
                break
            keys = self._keys(number)
            self._starts.append(self._count)
            self._blocks.append(keys)
            self._count += len(keys)
            self._end = min((number + 1) * BLOCK, self._log.end)
        self._fit()

    def _fit(self) -> None:
        """Fold nothing of a log that is seen as a whole."""
        rows = self._log.end - self._log.first
        is_small = self.complete and rows <= 4 * self.folding.height
        if is_small:
            before, self.folding.all_fits = self.folding.all_fits, True
            lines = sum(len(self._keys(self._first_block + place)) for place in range(len(self._blocks)))
            self.folding.all_fits = lines <= self.folding.height
            if self.folding.all_fits != before:
                self.again()
        elif self.folding.all_fits:
            self.folding.all_fits = False
            self.again()

    def reach(self, row: int) -> None:
        """Look at more until a row is among what was looked at, if it is there."""
        while self._end <= row and not self.complete:
            self.extend()

    def again(self, first: int | None = None, last: int | None = None) -> None:
        """Find the lines of some rows again, of all unless some are named: something was folded or opened."""
        low = 0 if first is None else max(first // BLOCK - self._first_block, 0)
        high = len(self._blocks) - 1 if last is None else last // BLOCK - self._first_block
        for block in range(low, min(high, len(self._blocks) - 1) + 1):
            self._blocks[block] = self._keys(self._first_block + block)
        self._starts = [0, *np.cumsum([len(block) for block in self._blocks]).tolist()]
        self._count = self._starts.pop()
        self.changes += 1

    # Lines -----------------------------------------------------------------------------------------------------------

    def key(self, line: int) -> int | None:
        """What names a line; None behind the last."""
        if not 0 <= line < self._count:
            return None
        block = bisect_right(self._starts, line) - 1
        start = (self._first_block + block) * BLOCK
        return (start << SLOT_BITS) + int(self._blocks[block][line - self._starts[block]])

    def row(self, line: int) -> int | None:
        """The row of a line, of a header the first of its section; None behind the last."""
        key = self.key(line)
        return None if key is None else key >> SLOT_BITS

    def line(self, row: int) -> int:
        """The line of a row; of one that is not shown, the last line ahead of it: the header that it is folded in."""
        return self.line_of(key_of(row, ROW))

    def line_of(self, key: int) -> int:
        """The line of that name; if it is not shown, the last one ahead of it."""
        block = min((key >> SLOT_BITS) // BLOCK - self._first_block, len(self._blocks) - 1)
        if block < 0:
            return 0
        offset = key - ((self._first_block + block) * BLOCK << SLOT_BITS)
        # numpy would convert all keys, and let other threads go ahead
        place = bisect_right(self._blocks[block], offset)
        return max(self._starts[block] + place - 1, 0)

    def shown(self, row: int) -> bool:
        """Whether a row has a line."""
        return self.key(self.line(row)) == key_of(row, ROW)

    def told(self, key: int) -> Line:
        """What a line tells."""
        row, slot = key >> SLOT_BITS, key & _SLOT
        if (step := self._step(key)) is not None:
            return Line(row, step, 0, None, self._is_closed_step(key, step))
        found, closed = self._looked_at(row // BLOCK)
        within = found.within(row)
        if slot == ROW:
            return Line(row, None, len(within), found.sections[within[-1]] if within else None, False)
        place = next((place for place in within if found.sections["slot"][place] == slot), None)
        if place is None:  # the log is another by now
            return Line(row, None, 0, None, False)
        around = found.sections[within[within.index(place) - 1]] if place != within[0] else None
        return Line(
            row,
            found.sections[place],
            int(found.sections["level"][place]),
            around,
            self._is_closed(found, closed, place),
        )

    def holding(self, key: int) -> list[int]:
        """The keys of the sections that a line lies in, from the outermost inward; a header lies in its own."""
        row, slot = key >> SLOT_BITS, key & _SLOT
        if self._step(key) is not None:
            return [key]
        found, _ = self._looked_at(row // BLOCK)
        within = found.sections[found.within(row)]
        return [int(each) for each in keys_of(within[within["slot"] <= slot])]

    def span(self, key: int) -> tuple[int, int]:
        """First and last row of a section."""
        if self._lasts[0] != self._log.end:
            self._lasts = self._log.end, {}
        lasts = self._lasts[1]
        if key not in lasts:
            lasts[key] = self._last(key)
        return key >> SLOT_BITS, lasts[key]

    def _last(self, key: int) -> int:
        row, steps = key >> SLOT_BITS, self._outline.steps
        if key & _SLOT == _SLOT_OF_STEP and (place := steps.place(row)) is not None:
            return int(steps.last[place])  # it may be most of a long log
        number = row // BLOCK
        found = self._outline.stretch(number)
        last = int(found.sections["last"][keys_of(found.sections) == key][0])
        while last == found.stop - 1 and found.stop < self._log.end:
            number += 1
            found = self._outline.stretch(number)
            goes_on = found.sections[(keys_of(found.sections) == key) & found.sections["goes_on"]]
            if len(goes_on) == 0:
                break
            last = int(goes_on["last"][0])
        return last

    # Folding ---------------------------------------------------------------------------------------------------------

    def is_closed(self, key: int) -> bool:
        """Whether a section is closed."""
        if (step := self._step(key)) is not None:
            return self._is_closed_step(key, step)
        found, closed = self._looked_at((key >> SLOT_BITS) // BLOCK)
        place = np.flatnonzero(keys_of(found.sections) == key)
        return bool(len(place)) and self._is_closed(found, closed, int(place[0]))

    def _step(self, key: int) -> np.void | None:
        """The step that a line is the header of: told without a look at its rows."""
        return self._outline.step_at(key >> SLOT_BITS) if key & _SLOT == _SLOT_OF_STEP else None

    def _is_closed_step(self, key: int, step: np.void) -> bool:
        return self.folding.is_closed(key, bool(step["subject"] != 0))

    def _is_closed(self, found: Stretch, closed: np.ndarray, place: int) -> bool:
        section = found.sections[place]
        return self.folding.is_closed(key_of(int(section["first"]), int(section["slot"])), bool(closed[place]))

    def fold(self, key: int, closed: bool) -> None:
        """Close or open a section, and let it stay so."""
        self.folding.by_hand[key] = closed
        self.again(*self.span(key))

    def close_loop(self, key: int, loop: Loop) -> None:
        """Show the first turn alone of a loop that begins at a place."""
        self.loops[key] = loop
        self.again(loop.first, loop.last)

    def open_loop(self, key: int) -> None:
        """Show all turns of it again."""
        loop = self.loops.pop(key)
        self.again(loop.first, loop.last)

    def loop_told_at(self, key: int) -> int | None:
        """Where the closed loop begins whose other turns a line tells of: of the first turn, the last that is seen."""
        row = key >> SLOT_BITS
        for place, loop in self.loops.items():
            if loop.first <= row < loop.second and self.key(self.line(loop.second - 1)) == key:
                is_within = key & _SLOT == ROW or self.span(key)[1] < loop.second
                return place if is_within else None
        return None

    def toggle_all(self, row: int) -> None:
        """Open all that lies around a row in its step; where all of that is open, close it."""
        found, closed = self._looked_at(row // BLOCK)
        place = self._outline.steps.place(row)
        whole = found.sections
        is_near = (whole["kind"] != SectionKind.STEP) & (
            self._outline.steps.places(whole["first"]) == (-1 if place is None else place)
        )
        places = np.flatnonzero(is_near & ~whole["goes_on"])
        if len(places) == 0:
            return
        keys = keys_of(whole[places])
        some = bool(self.folding.closed(keys, closed[places]).any())
        for key in keys.tolist():
            self.folding.by_hand[key] = not some
        self.again(int(whole["first"][places].min()), int(whole["last"][places].max()))

    def toggle_libraries(self) -> bool:
        """Show what libraries made as what the program's own lines made, or fold it again; whether it is shown now."""
        self.folding.shows_libraries = not self.folding.shows_libraries
        self._closed.clear()
        self.again()
        return self.folding.shows_libraries

    def stand(self, row: int) -> None:
        """Open the way to a row, and let that fold again which one has left."""
        if not self._log.first <= row < self._log.end:
            return
        self.reach(row)
        way = frozenset(self.holding(key_of(row, ROW)))
        old, self.folding.way = self.folding.way, way
        changed = [self.span(key) for key in old ^ way if key not in self.folding.by_hand]
        if not self.folding.all_fits:
            for first, last in changed:
                self.again(first, last)

    def fits(self, height: int) -> None:
        """Say how many lines are seen at once."""
        if height > 0 and height != self.folding.height:
            self.folding.height = height
            self._closed.clear()
            self._closed_at_first.clear()
            self.again()
            self._fit()

    # Blocks ----------------------------------------------------------------------------------------------------------

    def _looked_at(self, number: int) -> tuple[Stretch, np.ndarray]:
        """A stretch, and which of its sections are closed as long as nobody has said anything."""
        found = self._outline.stretch(number)
        known = self._closed.get(number)
        if known is None or known[0] is not found:
            known = found, self._closed_of(found, self._as_it_begins(number)[1].copy())
            _keep(self._closed, number, known)
        return known

    def _closed_of(self, found: Stretch, closed: np.ndarray) -> np.ndarray:
        """The same, with what is known of sections from where they begin, and of libraries."""
        sections = found.sections
        for place in np.flatnonzero(sections["goes_on"] & (sections["kind"] != SectionKind.STEP)).tolist():
            before, closed_before = self._as_it_begins(int(sections["first"][place]) // BLOCK)
            same = np.flatnonzero(keys_of(before.sections) == keys_of(sections[place : place + 1]))
            closed[place] = closed_before[same[0]] if len(same) else True
        if self.folding.shows_libraries:
            closed[np.isin(sections["kind"], (SectionKind.MAKING, SectionKind.LIBRARY))] = False
        return closed

    def _as_it_begins(self, number: int) -> tuple[Stretch, np.ndarray]:
        """The same for those that begin in the stretch."""
        found = self._outline.stretch(number)
        known = self._closed_at_first.get(number)
        if known is None or known[0] is not found:
            known = found, closed_at_first(found, self.folding.height)
            _keep(self._closed_at_first, number, known)
        return known

    def _keys(self, number: int) -> np.ndarray:
        """The keys of the lines of a block, from its begin on."""
        start = number * BLOCK
        low, high = max(start, self._log.first), min(start + BLOCK, self._log.end)
        keys = self._keys_of_closed_steps(low, high)
        if keys is None:
            found, closed_by_default = self._looked_at(number)
            sections = found.sections
            closed = np.append(self.folding.closed(keys_of(sections), closed_by_default), False)
            hidden = np.zeros(len(sections) + 1, bool)
            for level in range(int(sections["level"].max(initial=0)) + 1):
                here = np.flatnonzero(sections["level"] == level)
                around = sections["parent"][here]
                hidden[here] = hidden[around] | closed[around]
            rows = np.flatnonzero(found.is_shown & ~(hidden | closed)[found.inner]) + found.start
            heads = sections[~hidden[:-1] & ~sections["goes_on"]]
            keys = np.sort(np.concatenate([rows << SLOT_BITS | ROW, keys_of(heads)]))
        for loop in self.loops.values():
            if loop.second < high and loop.last >= low:
                keys = keys[(keys >> SLOT_BITS < loop.second) | (keys >> SLOT_BITS > loop.last)]
        return (keys - (start << SLOT_BITS)).astype(np.uint32)

    def _keys_of_closed_steps(self, low: int, high: int) -> np.ndarray | None:
        """The keys of the headers of steps, if these cover all rows from `low` up to `high` and are closed."""
        steps = self._outline.steps
        first, last = (int(place) for place in steps.places(np.array([low, high - 1]))) if high > low else (-1, -1)
        if len(steps) < 2 or first < 0 or last < 0 or self.folding.all_fits:
            return None
        places = np.arange(first, last + 1)
        keys = np.asarray(steps.first[places] << SLOT_BITS | _SLOT_OF_STEP)
        by_default = np.ones(len(keys), bool)
        by_default[places == 0] = False
        is_gapless = (steps.first[places[1:]] == steps.last[places[:-1]] + 1).all()
        if not is_gapless or not self.folding.closed(keys, by_default).all():
            return None
        return np.asarray(keys[steps.first[places] >= low])


def _keep(kept: dict[int, tuple[Stretch, np.ndarray]], number: int, found: tuple[Stretch, np.ndarray]) -> None:
    """Keep what is known of a stretch, and forget what is known of the oldest."""
    while len(kept) >= _KEPT:
        del kept[next(iter(kept))]
    kept[number] = found
