"""What a framework's compiler did with a program, as a log says it: what it compiled, why again, where graphs broke."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.reading import once_a_length

if TYPE_CHECKING:
    from graphscope.eventlog.generated import Generated
    from graphscope.eventlog.reader import Log


@dataclass(frozen=True, slots=True)
class FailedGuard:
    """What a compiled function relies on, and what did not hold any more."""

    compilation: str
    """The compilation that it is a guard of."""
    guard: str
    """As the compiler writes it: `self.scale == 1.0`."""
    site: int
    """The line of the program that relies on it; 0 where that is not known."""


@dataclass(frozen=True, slots=True)
class Region:
    """A graph that was compiled."""

    op: int
    """The entry of the table `ops`."""
    generated: Generated
    rows: np.ndarray
    """Where it ran."""


@dataclass(frozen=True, slots=True)
class CompilerEvent:
    """Something that the compiler did."""

    row: int
    event: str
    """`compiled`, `break`, or `skipped`: it left the function to Python."""
    compilation: str
    """By which it tells its work apart: `0/1` is the second compilation of the first function."""
    function: str
    site: int
    """The line of a break, else the first of the function."""
    failed: tuple[FailedGuard, ...]
    """Why a function that it had compiled was compiled again."""
    reason: str
    """All that it says of a break, or of why it gave up."""
    title: str
    explanation: str
    hints: tuple[str, ...]
    calls: int
    """So many calls are in what it compiled."""
    guards: int

    @property
    def number(self) -> str:
        """The number of the function among those that the compiler has met."""
        return self.compilation.partition("/")[0]

    @property
    def words(self) -> str:
        """What it did, in a few words."""
        if self.event == "break":
            return f"graph break: {self.title}"
        if self.event == "skipped":
            return f"{self.function} is not compiled: {self.title}"
        return f"compiled {self.function}{f' again: {self.failed[0].guard}' if self.failed else ''}"


@dataclass(frozen=True, slots=True)
class Compilation:
    """All that the compiler did."""

    events: tuple[CompilerEvent, ...]
    """In the order of the log."""
    regions: tuple[Region, ...]

    def of(self, event: str) -> list[CompilerEvent]:
        """The events of a kind."""
        return [each for each in self.events if each.event == event]

    def regions_of(self, event: CompilerEvent) -> list[Region]:
        """The regions that came of a compilation: those that ran before the compiler began to count anew."""
        later = [each.row for each in self.events if each.row > event.row and _is_same(each, event)]
        stop = min(later, default=None)
        return [
            each
            for each in self.regions
            if each.generated.compilation == event.compilation
            and each.rows[0] > event.row
            and (stop is None or each.rows[0] < stop)
        ]


def _is_same(one: CompilerEvent, other: CompilerEvent) -> bool:
    return one.event == other.event and one.compilation == other.compilation


@once_a_length
def compilation(log: Log) -> Compilation:
    """What the compiler did in the program that a log is of."""
    rows = log.marks(Kind.COMPILE)
    entries, sites = log.pick("attrs", rows), log.pick("site", rows)
    events = [
        compiler_event(row, site, log.entry(entry))
        for row, site, entry in zip(rows.tolist(), sites.tolist(), entries.tolist(), strict=True)
    ]
    functions = {each.compilation: each.function for each in events if each.function}
    named = [_named(each, functions) for each in events]
    return Compilation(tuple(named), tuple(_regions(log)))


def compiler_event(row: int, site: int, told: Mapping[str, Any]) -> CompilerEvent:
    """What a mark of the compiler tells, by its entry in the table `attrs`."""
    failed = [each for each in _list(told.get("failed")) if isinstance(each, dict)]
    guards = [
        FailedGuard(str(each.get("compilation", "")), str(each.get("guard", "")), _count(each.get("site_number")))
        for each in failed
    ]
    return CompilerEvent(
        row,
        str(told.get("compiler", "")),
        str(told.get("compilation", "")),
        str(told.get("function", "")),
        site,
        tuple(guards),
        str(told.get("reason", "")),
        str(told.get("title", "")),
        str(told.get("explanation", "")),
        tuple(map(str, _list(told.get("hints")))),
        _count(told.get("calls")),
        _count(told.get("guards")),
    )


def _named(event: CompilerEvent, functions: Mapping[str, str]) -> CompilerEvent:
    """A break is told ahead of the function that it is in."""
    return event if event.function else replace(event, function=functions.get(event.compilation, ""))


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _count(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _regions(log: Log) -> list[Region]:
    numbers = [
        place for place, each in enumerate(log.table("ops"), 1) if isinstance(each, dict) and "generated" in each
    ]
    if not numbers:
        return []
    rows: dict[int, list[np.ndarray]] = {}
    for first, events in log.chunks(log.first, log.end):
        is_region = (events["kind"] == Kind.OP) & np.isin(events["op"], numbers)
        is_written = (events["flags"] & int(Flag.IN_PLACE)) != 0
        for number in np.unique(events["op"][is_region]).tolist():
            own = is_region & (events["op"] == number)
            results = own & ~is_written
            rows.setdefault(number, []).append(first + np.flatnonzero(results if results.any() else own))
    found = [(number, log.generated(number)) for number in rows]
    return [Region(number, made, np.concatenate(rows[number])) for number, made in found if made is not None]
