"""Which rank's numbers are the first that are not finite, and whose losses are lost: where a NaN spreads over ranks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from graphscope.diagnose.ranks.told import Told, named
from graphscope.diagnose.ranks.track import Loss, Origin, Track
from graphscope.eventlog.reader import load
from graphscope.graph import Graph


class _Spoilt(NamedTuple):
    """A rank in which a value came to be not finite, and did harm."""

    name: str
    log: Path
    origin: Origin
    lost: Loss | None


class Nonfinite:
    """Keeps of each rank where its first value that is not finite came from."""

    def __init__(self) -> None:
        self._spoilt: list[_Spoilt] = []
        self._count = 0

    def add(self, track: Track) -> None:
        """Look at another rank."""
        self._count += 1
        if track.origin is not None:
            self._spoilt.append(_Spoilt(track.name, track.path, track.origin, track.lost))

    def told(self) -> Iterator[Told]:
        """The first birth of all ranks: by backward passes, which ranks have alike; what came through a collective was
        born elsewhere.
        """
        if not self._spoilt:
            return
        from graphscope.diagnose.checks.nan import first_of_run  # most runs are healthy, and causes are large tables

        first = min(self._spoilt, key=lambda each: (each.origin.received, each.origin.turn, each.origin.passes))
        same = [each.name for each in self._spoilt if each.origin == first.origin]
        found = next(first_of_run(Graph(load(first.log))), None)
        if found is not None:
            verdict = f"{named(same)}: {found.verdict}{self._losses()}"
            yield Told(replace(found, verdict=verdict), first.log, first.name)

    def _losses(self) -> str:
        lost = [(each.lost, each.name) for each in self._spoilt if each.lost is not None]
        if not lost:
            return ""
        (_, step), name = min(lost)
        one = len(lost) == 1
        who = "all ranks" if not one and len(lost) == self._count else named([name for _, name in lost])
        when = f", first in {step} of {name}" if step else ""
        return f"; then the loss{'es' * (not one)} of {who} {'is' if one else 'are'} not finite{when}"
