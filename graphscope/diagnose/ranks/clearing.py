"""Which rank goes on with gradients that its step before has used, where others clear them: all get them then."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from graphscope.diagnose.ranks.left_over import clear_ahead
from graphscope.diagnose.ranks.told import Told, named, told
from graphscope.diagnose.ranks.track import Track
from graphscope.eventlog.names import place_of, short_place
from graphscope.eventlog.reader import load


class _Rank(NamedTuple):
    """A rank, and where it parts from the first one."""

    name: str
    log: Path
    step: int | None
    """The first step in which one of the two goes on with old gradients, and the other does not; None: in none."""
    is_keeping: bool
    """Whether it is this one."""


class Clearing:
    """Compares each rank with the first one, and keeps of it no more than where it parts from that."""

    def __init__(self) -> None:
        self._first: Track | None = None
        self._ranks: list[_Rank] = []
        self._train_one_model = True

    def add(self, track: Track) -> None:
        """Look at another rank."""
        first = self._first = self._first or track
        self._train_one_model &= track.counts == first.counts and track.trains_with_others
        both = np.intersect1d(first.steps, track.steps)
        apart = np.intersect1d(np.setxor1d(first.left_over, track.left_over), both)
        step = int(apart[0]) if len(apart) else None
        self._ranks.append(_Rank(track.name, track.path, step, step in track.left_over))

    def told(self) -> Iterator[Told]:
        """The first step in which some ranks of one model go on with old gradients, and others do not."""
        apart = [each for each in self._ranks if each.step is not None]
        if not apart or not self._train_one_model:
            return
        first = min(apart, key=lambda each: each.step or 0)
        those = [each for each in self._ranks if each.step == first.step]
        others = [each for each in self._ranks if each.step != first.step]
        keeping, clearing = (those, others) if first.is_keeping else (others, those)
        log = load(clearing[0].log)
        row = clear_ahead(log, first.step or 0)
        place = place_of(log.site(log.event(row).site))
        who, s = named([each.name for each in keeping]), "s" * (len(keeping) == 1)
        at = f" at {short_place(*place)}" if place[0] else ""
        verdict = (
            f"{who} add{s} to gradients that a step has used already, where {clearing[0].name} clears them{at}: with "
            "what is averaged, the old ones get into the steps of all ranks"
        )
        cure = "call zero_grad() on every rank, once for each step, whatever a condition says"
        evidence = {"ranks": len(self._ranks), "ranks that keep old gradients": len(keeping)}
        yield told(
            clearing[0].log, row, place, keeping[0].name, "gradients pile up on one rank", verdict, cure, evidence
        )
