"""Which rank's weights part from those of the others: replicas of one model that do not stay the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from graphscope.diagnose.explanation import listed
from graphscope.diagnose.finding import Confidence
from graphscope.diagnose.ranks.told import Told, told
from graphscope.diagnose.ranks.track import CHANGE, Place, Track
from graphscope.eventlog.names import place_of, short_place
from graphscope.eventlog.reader import load
from graphscope.graph import Graph

_CLOSE: Final = 1e-5
"""Norms that differ by less than this part of them are the same: each rank adds up in the same order."""


class Weights:
    """Compares each rank with the first one, and keeps of it no more than where it parts from that.

    Ranks that hold parts of a model, or train models of their own on purpose, are let be: what speaks are weights that
    differ though the ranks give them the same gradients, or weights that were the same and part though their
    optimizers are set up alike.
    """

    def __init__(self) -> None:
        self._first: Track | None = None
        self._names: list[str] = []
        self._paths: list[Path] = []
        self._partings: list[tuple[int, np.ndarray] | None] = []
        """Of each rank the first update that finds other weights than the first rank's, and the changes around it."""
        self._is_comparable = True
        self._exchanges = False

    def add(self, track: Track) -> None:
        """Look at another rank."""
        first = self._first = self._first or track
        self._is_comparable &= bool(track.counts) and track.counts == first.counts
        if not self._is_comparable:
            return
        self._names.append(track.name)
        self._paths.append(track.path)
        self._exchanges |= track.exchanges
        least = min(len(first.changes), len(track.changes))
        apart = np.flatnonzero(_apart(np.stack([first.changes["weight"][:least], track.changes["weight"][:least]])))
        number = int(apart[0]) // len(first.counts) if len(apart) else None
        self._partings.append(None if number is None else (number, _around(track, number).copy()))

    def told(self) -> Iterator[Told]:
        """The first update at which the parameters of ranks part that train one model."""
        partings = [each for each in self._partings if each is not None]
        first = self._first
        if first is None or not self._is_comparable or not partings:
            return
        number = min(number for number, _ in partings)
        usual = _around(first, number)
        changes = np.stack([usual if each is None or each[0] > number else each[1] for each in self._partings])
        found = self._at_start(first, changes) if number == 0 else self._after(first, changes, number - 1)
        if found is not None:
            yield found

    def _at_start(self, first: Track, changes: np.ndarray) -> Told | None:
        weights, gradients = changes["weight"][:, 1], changes["gradient"][:, 1]
        apart = np.flatnonzero(_apart(weights))
        if _apart(gradients)[apart].any() or not (gradients[:, apart] > 0).all():
            return None  # each has a part of a model, or one of its own
        odd = _odd(weights[:, apart[0]])
        what = "begins with other weights than the others, though all apply the same gradients"
        cure = "broadcast the weights of rank 0 after this line (DistributedDataParallel does), or seed all ranks alike"
        return self._told(first, weights, 0, odd, apart, "initialisation", what, cure, first.model)

    def _after(self, first: Track, changes: np.ndarray, number: int) -> Told | None:
        weights = changes["weight"][:, 1]
        apart = np.flatnonzero(_apart(weights))
        if np.isinf(weights[:, apart]).any():
            return None  # where that was born says why
        made = changes[:, 0]
        place = int(apart[0])
        passes = made["passes"][:, place]
        rates = made["rate"][:, place]
        differing = np.flatnonzero(_apart(made["gradient"]))
        odd = _odd(weights[:, place])
        if len(np.unique(passes)) > 1:
            odd = len(passes) - 1 - int(np.argmax(passes[::-1]))
            what = f"makes no step after backward pass {passes.min()}, where the others do"
            cure = "let every rank decide alike: all_reduce what the decision is made by (a loss that is NaN, a count)"
            return self._told(first, weights, number, odd, apart, "step left out", what, cure, first.stepped)
        if not np.isin(apart, differing).any():
            if np.ptp(rates) > _CLOSE * np.abs(rates).max():
                usual = float(np.median(rates)) if len(rates) > 2 else float(rates[0])
                what = f"takes another step than the others: its learning rate is {rates[odd]:.6g}, not {usual:.6g}"
                cure = "give the optimizers of all ranks the same settings"
                line = first.optimizer if first.optimizer[0] else first.stepped
                return self._told(first, weights, number, odd, apart, "other settings", what, cure, line)
            return self._of_write(first, changes, number, apart)
        synchronised = len(differing) < len(first.counts)
        if np.ptp(rates) > 0 or (not synchronised and self._exchanges):
            return None  # a search over settings; a model in parts, or one that is averaged now and then
        what = "goes on with other gradients than the others: nothing averages them over the ranks"
        cure = "wrap the model in DistributedDataParallel and call the wrapper, or all_reduce the gradients before step"
        return self._told(first, weights, number, odd, apart, "gradients not averaged", what, f"{cure}()", first.model)

    def _of_write(self, first: Track, changes: np.ndarray, number: int, apart: np.ndarray) -> Told | None:
        """A write to a weight between two updates that one rank makes and another does not; None where all make it.

        Then settings that the log does not compare may be others, as in a search over them.
        """
        place = int(apart[0])
        parted = next(rank for rank, each in enumerate(self._partings) if each is not None and each[0] == number + 1)
        ranks = (0, parted)
        writes = [_writes(self._paths[rank], *changes["row"][rank, :, place].tolist()) for rank in ranks]
        if len(writes[0]) == len(writes[1]):
            return None
        odd = ranks[len(writes[1]) > len(writes[0])]
        row, op, line = max(writes, key=len)[-1]
        norms = changes["weight"][:, 1]
        what = f"writes to a weight, which the others don't: {op} at {short_place(*line)}"
        cure = "let every rank do so alike, or broadcast the weights behind it"
        found = self._told(first, norms, number, odd, apart, "written by one rank", what, cure, line)
        return found._replace(log=self._paths[odd], finding=replace(found.finding, row=row, node=row))

    def _told(
        self, first: Track, weights: np.ndarray, number: int, odd: int, apart: np.ndarray, cause: str, what: str,
        cure: str, place: Place,
    ) -> Told:  # fmt: skip
        names = tuple(first.names[each] for each in apart.tolist())
        row = int(first.changes["row"][number, apart[0]])
        when = number + (cause != "initialisation")
        name = self._names[odd]
        verdict = f"{name} {what}; so {listed(names, 4)} part {'at once' if not when else f'in update {when}'}"
        norms = weights[:, apart[0]]
        evidence: dict[str, float] = {"ranks": len(self._names)}
        evidence |= {"parameters apart": len(names), "parameters": len(first.names)}
        evidence |= {f"norm on {self._names[each]}": float(norms[each]) for each in _shown(odd, len(norms))}
        confidence: Confidence = "likely" if cause == "gradients not averaged" else "certain"
        return told(first.path, row, place, name, cause, verdict, cure, evidence, names, confidence)


def are_replicas(first: Track, other: Track) -> bool:
    """Whether two ranks hold the same weights at all updates: not the parts of a model, not models of their own."""
    if first.counts != other.counts or not first.counts:
        return False
    least = min(len(first.changes), len(other.changes))
    weights = np.stack([first.changes["weight"][:least], other.changes["weight"][:least]])
    return least > 0 and not np.isnan(weights).any() and not _apart(weights).any()


def _writes(path: Path, row: int, following: int) -> list[tuple[int, str, Place]]:
    """What writes to a parameter between two of its updates: row, op and line."""
    graph = Graph(load(path))
    found = graph.index.versions(graph.index.event(row).tensor, following)
    nodes = (graph.node(each) for each in found if each > row)
    return [(node.row, node.op, place_of(node.site)) for node in nodes]


def _around(track: Track, number: int) -> np.ndarray:
    """The changes of the update ahead of one, and its own; zeros ahead of the first."""
    ahead = track.changes[number - 1] if number else np.zeros(len(track.counts), CHANGE)
    return np.stack([ahead, track.changes[number]])


def _apart(values: np.ndarray) -> np.ndarray:
    """Where values differ among ranks, which are the first axis: not where one is not known."""
    values = _comparable(values)
    with np.errstate(all="ignore"):
        differ = np.ptp(values, axis=0) > _CLOSE * np.abs(values).max(axis=0)
    return np.asarray(differ & np.isfinite(values).all(axis=0))


def _odd(values: np.ndarray) -> int:
    """The rank that differs from most of the others, and the last where all differ."""
    values = _comparable(values)
    ordered = np.sort(values)
    room = _CLOSE * np.abs(values).max()
    alike = np.searchsorted(ordered, values + room, "right") - np.searchsorted(ordered, values - room, "left")
    return len(values) - 1 - int(np.argmin(alike[::-1]))


def _comparable(norms: np.ndarray) -> np.ndarray:
    """Norms among which what is not finite is the same, and another than all that is."""
    return np.where(np.isinf(norms), -1.0, norms)


def _shown(odd: int, count: int) -> list[int]:
    """The ranks whose numbers are told: all of a few, else the first ones and the odd one."""
    return [*range(count)] if count <= _FEW else sorted({0, 1, odd})


_FEW: Final = 8
