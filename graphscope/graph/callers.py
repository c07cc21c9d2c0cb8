"""The lines of the program that led to a row: those of the functions around it, as they were when it was met first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.reading import once_a_length

if TYPE_CHECKING:
    from graphscope.eventlog.names import Site
    from graphscope.eventlog.reader import Log


class Callers(NamedTuple):
    """A call of a function that was called by others."""

    lines: tuple[Site, ...]
    """From the innermost outward."""
    outside: int
    """Which of them is the first outside of all modules."""

    @property
    def inside(self) -> tuple[Site, ...]:
        """The lines inside of modules, at least its own: those outside may call them from elsewhere as well."""
        return self.lines[: max(self.outside, 1)]

    @property
    def outermost(self) -> Site | None:
        """The line that calls the outermost module; of what runs in none, its own."""
        return self.lines[self.outside] if self.outside < len(self.lines) else None


@once_a_length
def _told(log: Log) -> Mapping[tuple[int, int, bool], list[Callers]]:
    found: dict[tuple[int, int, bool], list[Callers]] = {}
    for each in log.table("attrs"):
        if isinstance(each, dict) and each.get("call") == "callers":
            lines = tuple(site for number in each["lines"] if (site := log.site(number)) is not None)
            key = each["site"], each["op_attrs"], each["no_grad"]
            found.setdefault(key, []).append(Callers(lines, each["outside"]))
    return found


def callers(log: Log, row: int) -> Callers:
    """The lines that led to a row: at least its own."""
    event = log.event(row)
    is_op = event.kind == Kind.OP
    key = (event.site, event.attrs if is_op else 0, is_op and bool(event.flags & Flag.NO_GRAD))
    if key in _told(log):
        return _told(log)[key][0]
    site = log.site(event.site)
    return Callers(() if site is None else (site,), 0)


def ways(log: Log, site: int) -> int:
    """In how many ways the program was seen to come to the line of a mark."""
    return max(len(_told(log).get((site, 0, False), ())), 1)
