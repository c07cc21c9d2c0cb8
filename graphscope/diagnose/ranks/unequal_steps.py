"""Which rank leaves out a step, of those that hold pieces of all parameters: their weights can't be compared."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from graphscope.diagnose.explanation import listed
from graphscope.diagnose.ranks.clock import in_common
from graphscope.diagnose.ranks.told import Told, told
from graphscope.diagnose.ranks.track import Track


class UnequalSteps:
    """Compares behind which backward pass each rank makes an update, and keeps of it no more than where they part."""

    def __init__(self) -> None:
        self._first: Track | None = None
        self._names: list[str] = []
        self._partings: list[tuple[int, int] | None] = []
        """Of each rank the first update that it makes behind another backward pass than the first rank, and how many of
        its own had begun by then."""
        self._is_comparable = True

    def add(self, track: Track) -> None:
        """Look at another rank."""
        first = self._first = self._first or track
        self._is_comparable &= track.counts == first.counts and all(track.pieces) and track.is_whole
        self._is_comparable &= bool(track.pieces) and track.trains_with_others
        if not self._is_comparable:
            return
        self._names.append(track.name)
        here, there = in_common(first.updates, track.updates)
        passes = first.changes["passes"][here, 0], track.changes["passes"][there, 0]
        apart = np.flatnonzero(passes[0] != passes[1])[:1].tolist()
        self._partings.append((int(here[apart[0]]), int(passes[1][apart[0]])) if apart else None)

    def told(self) -> Iterator[Told]:
        """The first update of which some ranks make the one that follows, as they leave it out."""
        first, partings = self._first, [each for each in self._partings if each is not None]
        if first is None or not self._is_comparable or not partings:
            return
        number = min(each[0] for each in partings)
        usual = int(first.changes["passes"][number, 0])
        passes = [each[1] if each is not None and each[0] == number else usual for each in self._partings]
        odd = len(passes) - 1 - int(np.argmax(passes[::-1]))
        verdict = (
            f"{self._names[odd]} makes no step after backward pass {min(passes)}, where the others do: its pieces of "
            f"{listed(first.names, 4)} are those of a step before"
        )
        yield told(
            first.path, int(first.changes["row"][number, 0]), first.stepped, self._names[odd], "step left out", verdict,
            "let every rank decide alike: all_reduce what the decision is made by (a loss that is NaN, a count)",
            {"ranks": len(passes), "parameters": len(first.names)}, first.names,
        )  # fmt: skip
