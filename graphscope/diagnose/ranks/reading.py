"""Reads the logs of ranks, each by itself: in this process, or wherever somebody maps the function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from graphscope.diagnose.ranks.track import Track, track
from graphscope.errors import LogError
from graphscope.eventlog.reader import load


@dataclass(frozen=True, slots=True)
class Unread:
    """A log that can't be read."""

    path: Path
    name: str
    why: str


Work = Callable[[tuple[Path, str]], "Track | Unread"]

Map = Callable[[Work, "Iterable[tuple[Path, str]]"], "Iterable[Track | Unread]"]
"""Calls a function for each of some things, somewhere, and gives what it returns in their order."""


def read(named: tuple[Path, str]) -> Track | Unread:
    """What a log says, which is to be called so."""
    path, name = named
    try:
        log = load(path)
        found = track(log)
        log.release()
    except LogError as error:
        return Unread(path, name, error.message)
    return replace(found, name=name)


def names_of(logs: Iterable[Path], titles: Callable[[Path], str]) -> Iterator[tuple[Path, str]]:
    """Each log with what its rank is called; without a number in its name, by its place among those named."""
    for place, log in enumerate(logs):
        told = titles(log)
        yield log, told if told.startswith("rank ") else f"rank {place}"
