"""Which rank's weights part from those of the others: replicas of one model that do not stay the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from graphscope.diagnose.explanation import listed
from graphscope.diagnose.finding import Confidence
from graphscope.diagnose.ranks.clock import in_common, turn_of
from graphscope.diagnose.ranks.gradients import Update, Ways
from graphscope.diagnose.ranks.place import Place
from graphscope.diagnose.ranks.told import Told, named, told
from graphscope.diagnose.ranks.track import CHANGE, Track
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
        self._unseen: set[int] = set()
        """Updates ahead of which logs have let go of others, or left them out."""
        self._had_alike = True
        """Whether all ranks made updates with the same gradients until weights parted."""
        self._met_again = False
        """Whether weights that had parted were the same again later: they are averaged now and then."""
        self._is_comparable = True
        self._exchanges = False
        self._train_together = False

    def add(self, track: Track) -> None:
        """Look at another rank."""
        first = self._first = self._first or track
        self._is_comparable &= bool(track.counts) and track.counts == first.counts
        if not self._is_comparable:
            return
        self._names.append(track.name)
        self._paths.append(track.path)
        self._exchanges |= track.exchanges
        self._train_together |= track.trains_with_others
        here, there = in_common(first.updates, track.updates)
        weights = np.stack([first.changes["weight"][here], track.changes["weight"][there]])
        apart: np.ndarray = np.asarray(_apart(weights).any(axis=1))
        if not apart.any():
            self._partings.append(None)
            return
        place = int(np.argmax(apart))
        number, own = int(here[place]), int(there[place])
        gradients = np.stack([first.changes["gradient"][here], track.changes["gradient"][there]])[:, : place - 1]
        self._had_alike &= place > 1 and not _apart(gradients).any()
        self._met_again |= not apart[place:].all()
        self._partings.append((number, _around(track, own).copy()))
        if not _are_seen(first.updates[: number + 1], track.updates[: own + 1]):
            self._unseen.add(number)

    def told(self) -> Iterator[Told]:
        """The first update at which the parameters of ranks part that train one model."""
        partings = [each for each in self._partings if each is not None]
        first = self._first
        if first is None or not self._is_comparable or not partings:
            return
        number = min(number for number, _ in partings)
        usual = _around(first, number)
        changes = np.stack([usual if each is None or each[0] > number else each[1] for each in self._partings])
        if number == 0 or number in self._unseen:
            found = self._at_once(first, changes, number)
        else:
            found = self._after(first, changes, number - 1)
        if found is not None:
            yield found

    def _at_once(self, first: Track, changes: np.ndarray, number: int) -> Told | None:
        """Where the weights of the first update that all have are others."""
        weights, gradients = changes["weight"][:, 1], changes["gradient"][:, 1]
        apart = np.flatnonzero(_apart(weights))
        if _apart(gradients)[apart].any() or not (gradients[:, apart] > 0).all():
            return None  # each has a part of a model, or one of its own
        odd = _odd(weights[:, apart[0]])
        if number in self._unseen:
            what = "has other weights than the others, though all apply the same gradients"
            cure = "record the steps from the beginning on, and compare what the optimizers were set to"
            return self._told(first, weights, number, odd, apart, "weights apart", what, cure, first.stepped)
        what = "begins with other weights than the others, though all apply the same gradients"
        cure = "broadcast the weights of rank 0 after this line (DistributedDataParallel does), or seed all ranks alike"
        who = ""
        if len(weights) > 2 and not _alike(weights[:, apart[0]]):
            who, what = named(self._names), "begin each with weights of its own, though all apply the same gradients"
        return self._told(first, weights, 0, odd, apart, "initialisation", what, cure, first.model, who)

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
        if first.is_whole and len(np.unique(passes)) > 1:
            odd = len(passes) - 1 - int(np.argmax(passes[::-1]))
            what = f"makes no step after backward pass {passes.min()}, where the others do"
            cure = "let every rank decide alike: all_reduce what the decision is made by (a loss that is NaN, a count)"
            return self._told(first, weights, number, odd, apart, "step left out", what, cure, first.stepped)
        if not np.isin(apart, differing).any():
            if np.ptp(rates) > _CLOSE * np.abs(rates).max():
                if not self._train_together:
                    return None  # a search that begins alike, on the same data
                usual = float(np.median(rates)) if len(rates) > 2 else float(rates[0])
                what = f"takes another step than the others: its learning rate is {rates[odd]:.6g}, not {usual:.6g}"
                cure = "give the optimizers of all ranks the same settings"
                line = first.optimizer if first.optimizer[0] else first.stepped
                return self._told(first, weights, number, odd, apart, "other settings", what, cure, line)
            return self._of_write(first, changes, number, apart)
        if self._exchanges and not self._met_again and np.ptp(rates) == 0:
            alone = _alone(made["gradient"][:, differing])
            ranks = self._pair(number, alone)
            ways = Ways(*(Update(self._paths[rank], int(made["row"][rank, place])) for rank in ranks))
            if alone is not None or self._had_alike or ways.are_averaged():
                return self._of_gradients(first, weights, number, apart, ranks, ways, is_sure=alone is not None)
        synchronised = len(differing) < len(first.counts)
        if np.ptp(rates) > 0 or (not synchronised and self._exchanges):
            return None  # a search over settings; a model in parts, or one that is averaged now and then
        if any(first.pieces):
            what = "goes on with other gradients of parameters that all ranks hold whole"
            cure = "give ranks that hold pieces of one model the same data, or average these gradients over them"
            return self._told(first, weights, number, odd, apart, "gradients of replicas", what, cure, first.stepped)
        what = "goes on with other gradients than the others: nothing averages them over the ranks"
        cure = "wrap the model in DistributedDataParallel and call the wrapper, or all_reduce the gradients before step"
        return self._told(first, weights, number, odd, apart, "gradients not averaged", what, f"{cure}()", first.model)

    def _pair(self, number: int, alone: int | None) -> list[int]:
        """The rank that differs from most, if one does, else one that parts from the first, and one to compare with."""
        if alone is not None:
            return [alone, int(alone == 0)]
        return [next(rank for rank, each in enumerate(self._partings) if each is not None and each[0] == number + 1), 0]

    def _of_gradients(
        self, first: Track, weights: np.ndarray, number: int, apart: np.ndarray, ranks: list[int],
        ways: Ways, *, is_sure: bool,
    ) -> Told:  # fmt: skip
        """Gradients that were the same on all ranks, as something averages them, and that one rank made others.

        Of two that differ, and no others, it is the one that does something more.
        """
        deed, updates = ways.unlike(), ways.updates
        if deed is not None and not deed.is_own and not is_sure:
            ranks, updates, deed = ranks[::-1], updates[::-1], deed._replace(is_own=True)
        what, place = "updates with other gradients than the others", first.stepped
        if deed is not None:
            at = f"{deed.call} at {short_place(*deed.place)}"
            what += f": behind the last collective it {'runs' if deed.is_own else 'does not run'} {at}"
            if any(deed.limits):
                what += f" with {deed.limits[0]}, where {self._names[ranks[1]]} gives {deed.limits[1]}"
            else:
                what += ", which the others don't" if deed.is_own else ", which the others do"
            place = deed.place
        cure = "let every rank do the same to the gradients behind what averages them"
        found = self._told(first, weights, number, ranks[0], apart, "other gradients", what, cure, place)
        if deed is None:
            return found
        log = updates[not deed.is_own].log
        return found._replace(log=log, finding=replace(found.finding, row=deed.row, node=deed.row))

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
        cure: str, place: Place, who: str = "",
    ) -> Told:  # fmt: skip
        names = tuple(first.names[each] for each in apart.tolist())
        row = int(first.changes["row"][number, apart[0]])
        name = self._names[odd]
        when = f"in update {number + 1}" if first.is_whole else f"in step {turn_of(int(first.updates[number])) + 1}"
        verdict = f"{who or name} {what}; so {listed(names, 4)} part {'at once' if cause == 'initialisation' else when}"
        if cause == "weights apart":
            verdict = f"{name} {what}: {listed(names, 4)} differ {when}, and what came ahead of it is not recorded"
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
    here, there = in_common(first.updates, other.updates)
    weights = np.stack([first.changes["weight"][here], other.changes["weight"][there]])
    return len(here) > 0 and not np.isnan(weights).any() and not _apart(weights).any()


def _are_seen(one: np.ndarray, two: np.ndarray) -> bool:
    """Whether the update ahead of the last is there in two logs, or the last is the first of all."""
    if len(one) == 1 or len(two) == 1:
        return bool(one[-1] == two[-1] == 0)
    return bool(one[-2] == two[-2]) and turn_of(int(one[-1])) - turn_of(int(one[-2])) <= 1


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


def _alike(values: np.ndarray) -> bool:
    """Whether two of some ranks have the same value."""
    ordered = np.sort(values)
    return bool((np.diff(ordered) <= _CLOSE * np.abs(values).max()).any())


def _alone(values: np.ndarray) -> int | None:
    """The first rank of a few whose values are others than those that most ranks have; None where most have none."""
    middle = values[np.argsort(values[:, 0])[len(values) // 2]]  # what most have is in the middle
    pairs = np.stack([np.broadcast_to(middle, values.shape), values])
    odd = np.flatnonzero(_apart(pairs).any(axis=1))
    return int(odd[0]) if len(odd) and 2 * len(odd) < len(values) else None


def _shown(odd: int, count: int) -> list[int]:
    """The ranks whose numbers are told: all of a few, else the first ones and the odd one."""
    return [*range(count)] if count <= _FEW else sorted({0, 1, odd})


_FEW: Final = 8
