"""Which rank trains on data that it, or another rank, has had, where each should have its own."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from graphscope.diagnose.ranks.clock import follow
from graphscope.diagnose.ranks.place import NOWHERE
from graphscope.diagnose.ranks.told import Told, named, told
from graphscope.diagnose.ranks.track import Track
from graphscope.diagnose.ranks.weights import are_replicas

_MOST: Final = 4096
"""So many steps are compared: who shares data does so early, and thousands of ranks are to fit into memory."""

_OWN_PART: Final = (
    "give each rank its own part: DistributedSampler(dataset, rank=..., num_replicas=...), or seed by rank"
)


class _Fed(NamedTuple):
    """What a rank was fed with."""

    name: str
    log: Path
    rows: np.ndarray


class Data:
    """Keeps of each rank a number for each step, the same where the data are."""

    def __init__(self) -> None:
        self._fed: list[_Fed] = []
        self._prints: list[np.ndarray] = []
        self._steps: list[np.ndarray] = []
        """By which steps are the same, of each rank."""
        self._first: Track | None = None
        self._are_replicas = True
        """Whether each computes all of one model, and of its data as much as the others."""

    def add(self, track: Track) -> None:
        """Look at another rank."""
        self._fed.append(_Fed(track.name, track.path, track.data_rows[:_MOST].copy()))
        self._prints.append(track.data[:_MOST].copy())
        self._steps.append(track.steps[:_MOST].copy())
        first = self._first = self._first or track
        self._are_replicas &= are_replicas(first, track) and first.loss == track.loss and not track.shares_forward

    def told(self) -> Iterator[Told]:
        """The first step in which a rank has the data of another, or once more its own."""
        if len(self._prints) < 2:
            return
        steps = functools.reduce(np.intersect1d, self._steps)
        places = [np.searchsorted(own, steps) for own in self._steps]
        prints = np.stack([each[place] for each, place in zip(self._prints, places, strict=True)])
        self._fed = [fed._replace(rows=fed.rows[place]) for fed, place in zip(self._fed, places, strict=True)]
        yield from self._of_another(prints)
        yield from self._of_all(prints)
        yield from self._once_more(prints, follow(steps))

    def _of_another(self, prints: np.ndarray) -> Iterator[Told]:
        """Those of a model in parts share data as well: then all do so, in groups of one size."""
        for step in np.flatnonzero((prints != 0).all(axis=0)).tolist():
            _, which, counts = np.unique(prints[:, step], return_inverse=True, return_counts=True)
            usual = min(Counter(counts.tolist()).items(), key=lambda each: (-each[1], each[0]))[0]
            sharing = np.flatnonzero(counts[which] > usual)
            if not len(sharing):
                continue
            ranks = [int(each) for each in sharing if which[each] == which[sharing[0]]]
            held = prints[ranks][:, step:]
            times = int(((held == held[0]) & (held != 0)).all(axis=0).sum())
            odd = self._fed[ranks[-1]]
            others = named([self._fed[each].name for each in ranks[:-1]])
            yield told(
                odd.log, int(odd.rows[step]), NOWHERE, odd.name, "data of another rank",
                f"{odd.name} trains on the same data as {others}, in {times} of the {prints.shape[1]} steps, "
                "where the others have their own",
                _OWN_PART, {"ranks": len(prints), "steps with the same data": times},
            )  # fmt: skip
            return

    def _of_all(self, prints: np.ndarray) -> Iterator[Told]:
        """Those of a model in parts share data as well: replicas of one that do so learn no more than one rank alone.

        A training on one batch shows nothing: it is one on all data, or a test.
        """
        known = prints[0][prints[0] != 0]
        if not self._are_replicas or len(set(known.tolist())) < 2 or (prints != prints[0]).any():
            return
        last = self._fed[-1]
        yield told(
            last.log, int(last.rows[np.flatnonzero(prints[0])[0]]), NOWHERE, last.name, "data of all ranks",
            f"{named([each.name for each in self._fed])} train one model on the same data, in all of the "
            f"{prints.shape[1]} steps: they learn no more than one of them alone",
            _OWN_PART, {"ranks": len(prints), "steps with the same data": len(known)},
            confidence="likely", kind="ranks_alike", severity="warning",
        )  # fmt: skip

    def _once_more(self, prints: np.ndarray, follows: np.ndarray) -> Iterator[Told]:
        repeats = (prints[:, 1:] == prints[:, :-1]) & (prints[:, 1:] != 0) & follows
        is_rare = repeats.any(axis=0) & (2 * repeats.sum(axis=0) < len(prints))
        for step in (np.flatnonzero(is_rare)[:1] + 1).tolist():
            ranks = np.flatnonzero(repeats[:, step - 1]).tolist()
            odd = self._fed[ranks[0]]
            who = named([self._fed[each].name for each in ranks])
            yield told(
                odd.log, int(odd.rows[step]), NOWHERE, odd.name, "data once more",
                f"{who} {'trains' if len(ranks) == 1 else 'train'} on the data of the step before once more, "
                "where the others go on to new ones",
                "see that what gives out batches moves on at every rank: a sampler, an iterator, a queue",
                {"ranks": len(prints), "steps with the data of the step before": int(repeats[ranks[0]].sum())},
            )  # fmt: skip
