"""What the processes of a run did together: their logs lined up by the collectives that all of them took part in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphscope.eventlog.numbering import group_of
from graphscope.eventlog.schema import Kind
from graphscope.graph.arrivals import arrivals
from graphscope.graph.numbered_rows import numbered_rows

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Event, Log


@dataclass(frozen=True, slots=True)
class Meeting:
    """One collective: what each log has of it, None where a log has nothing (or nothing any more)."""

    group: str
    number: int
    """The number of the collective in its group, from 0; torch's ranks count alike."""
    events: tuple[Event | None, ...]
    """Of each log the row; of several that one collective wrote, the first; the mark `WAIT` of a log where the
    collective has not ended."""
    ranks: tuple[int, ...] = ()
    """Those that take part."""
    took: tuple[int, ...] = ()
    """Of each log how long the call took, and the wait for its end, in nanoseconds; 0 where that is not known."""


def collectives(log: Log) -> dict[tuple[str, int], Event]:
    """The collectives in a log, by group and number, in the order of the log; last those that wait to this day."""
    numbered = numbered_rows(log)
    found: dict[tuple[str, int], Event] = {}
    newest: dict[str, tuple[int, Event]] = {}
    each = zip(numbered.rows.tolist(), numbered.which.tolist(), numbered.numbers.tolist(), strict=True)
    for row, place, number in each:
        event, group = log.event(row), numbered.groups[place][0]
        newest[group] = number, event
        if event.kind != Kind.WAIT:
            found.setdefault((group, number), event)
    waits = {(group, number): event for group, (number, event) in newest.items() if event.kind == Kind.WAIT}
    return found | waits


def line_up(logs: Sequence[Log]) -> list[Meeting]:
    """The collectives of several logs, those with the same group and number side by side, in the order of the first
    log; those that only others have come last.
    """
    each = [collectives(log) for log in logs]
    took = [_took(log) for log in logs]
    keys = dict.fromkeys(key for found in each for key in found)
    made = []
    for group, number in keys:
        events = tuple(found.get((group, number)) for found in each)
        log, event = next((log, event) for log, event in zip(logs, events, strict=True) if event is not None)
        made.append(
            Meeting(
                group,
                number,
                events,
                group_of(log.entry(event.attrs))[1],
                tuple(own.get((group, number), 0) for own in took),
            )
        )
    return made


def _took(log: Log) -> dict[tuple[str, int], int]:
    groups, found = arrivals(log)
    each = zip(found["group"].tolist(), found["number"].tolist(), found["took"].tolist(), strict=True)
    return {(groups[group][0], number): took for group, number, took in each}
