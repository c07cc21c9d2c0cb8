"""What the processes of a run did together: their logs lined up by the collectives that all of them took part in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from graphscope.eventlog.members import members
from graphscope.eventlog.schema import NODES, Kind

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


def collectives(log: Log) -> dict[tuple[str, int], Event]:
    """The collectives in a log, by group and number, in the order of the log; last those that wait to this day."""
    entries = log.table("attrs")
    numbered = [place for place, entry in enumerate(entries, 1) if isinstance(entry, dict) and _named(entry)]
    if not numbered:
        return {}
    kinds, attributes = log.column("kind", log.first, log.end), log.column("attrs", log.first, log.end)
    is_numbered = np.isin(attributes, numbered)
    found: dict[tuple[str, int], Event] = {}
    newest: dict[str, tuple[int, Event]] = {}
    for row in (log.first + np.flatnonzero(np.isin(kinds, (*NODES, Kind.WAIT)) & is_numbered)).tolist():
        event = log.event(row)
        entry = entries[event.attrs - 1]
        group, number = entry["group"], entry["number"]
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
    keys = dict.fromkeys(key for found in each for key in found)
    made = []
    for group, number in keys:
        events = tuple(found.get((group, number)) for found in each)
        log, event = next((log, event) for log, event in zip(logs, events, strict=True) if event is not None)
        made.append(Meeting(group, number, events, members(log.attrs(event.attrs)["ranks"])))
    return made


def _named(entry: dict[str, object]) -> bool:
    return isinstance(entry.get("group"), str) and isinstance(entry.get("number"), int) and "ranks" in entry
