"""Interleaved timing: every candidate once a round, in shuffled order, each in a loop long enough to be read."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Final, Protocol

ROUNDS: Final = 25
BATCH: Final = 0.02
"""Seconds that one candidate runs in one round, at least."""
WARM: Final = 3
"""Calls before the first that is timed: compilers look at several."""
PATIENCE: Final = 3.0
"""Seconds after which a candidate has run often enough, if it had `FEWEST` rounds: one call of some takes a second."""
FEWEST: Final = 3


class Timed(Protocol):
    """What can be timed: a call, and the context that it is timed in."""

    @property
    def run(self) -> Callable[[], object]: ...

    @property
    def session(self) -> Callable[[], AbstractContextManager[object]]: ...


@dataclass(frozen=True)
class Timings:
    """Seconds a call, of each candidate, round by round; slow ones are left out of the last rounds."""

    rounds: dict[str, list[float]]

    def median(self, name: str) -> float:
        """The median of a candidate's seconds a call."""
        return median(self.rounds[name])

    def ratio(self, name: str, reference: str) -> float:
        """The median over rounds of one candidate's time over another's in the same round."""
        pairs = zip(self.rounds[name], self.rounds[reference], strict=False)
        return median(mine / theirs for mine, theirs in pairs)


def batch(run: Callable[[], object], number: int, clock: Callable[[], float] = perf_counter) -> float:
    """Seconds that `number` calls took."""
    calls = range(number)
    start = clock()
    for _ in calls:
        run()
    return clock() - start


def calibrate(run: Callable[[], object]) -> int:
    """How many calls fill a batch; ends warm."""
    batch(run, WARM)
    number = 1
    while (seconds := batch(run, number)) < BATCH:
        number = max(number * 2, int(number * BATCH / max(seconds, 1e-9)))
    return number


def interleave(
    candidates: Mapping[str, Timed],
    *,
    rounds: int = ROUNDS,
    batches: int = 1,
    patience: float = PATIENCE,
    clock: Callable[[], float] = perf_counter,
) -> Timings:
    """Time all candidates against each other.

    Where a session takes long to begin, several batches of it make up for that: their median is the round's time.

    The collector stays on; each batch starts with no garbage of others, and what they keep is not looked through.
    """
    numbers: dict[str, int] = {}
    for name, candidate in candidates.items():
        with candidate.session():
            numbers[name] = calibrate(candidate.run)
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    order = list(candidates)
    shuffle = random.Random(0).shuffle
    gc.collect()
    gc.freeze()
    for _ in range(rounds):
        shuffle(order)
        for name in order:
            if len(seconds[name]) >= FEWEST and sum(seconds[name]) * numbers[name] > patience:
                continue
            gc.collect()
            with candidates[name].session():
                times = [batch(candidates[name].run, numbers[name], clock) for _ in range(batches)]
            seconds[name].append(median(times) / numbers[name])
    gc.unfreeze()
    return Timings(seconds)
