"""All that is compared among ranks, and in which order it is told."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Protocol

from graphscope.diagnose.ranks.clearing import Clearing
from graphscope.diagnose.ranks.data import Data
from graphscope.diagnose.ranks.deaths import Deaths
from graphscope.diagnose.ranks.meetings import Meetings
from graphscope.diagnose.ranks.nonfinite import Nonfinite
from graphscope.diagnose.ranks.settings import Settings
from graphscope.diagnose.ranks.told import Told
from graphscope.diagnose.ranks.track import Track
from graphscope.diagnose.ranks.unequal_steps import UnequalSteps
from graphscope.diagnose.ranks.unreceived import Unreceived
from graphscope.diagnose.ranks.waiting import Waiting
from graphscope.diagnose.ranks.weights import Weights


class Judge(Protocol):
    """Is shown one rank after the other, keeps little of each, and tells what it has found."""

    def add(self, track: Track) -> None:
        """Look at another rank."""

    def told(self) -> Iterable[Told]:
        """What is found among those that were looked at."""


JUDGES: Final = (
    Meetings, Waiting, Deaths, Settings, Clearing, Weights, UnequalSteps, Unreceived, Nonfinite, Data,
)  # fmt: skip
"""What follows from something is told behind it: once ranks meet in other collectives, their weights part."""


class Judgement:
    """All judges together."""

    def __init__(self) -> None:
        self._judges: list[Judge] = [judge() for judge in JUDGES]

    def add(self, track: Track) -> None:
        """Look at another rank."""
        for judge in self._judges:
            judge.add(track)

    def told(self) -> list[Told]:
        """What the first judge says who says anything, and what is found of numbers that are not finite and of data."""
        *others, nonfinite, data = (list(judge.told()) for judge in self._judges)
        return [*next(filter(None, others), []), *nonfinite, *data]
