"""Which rank of a run parts from the others: replicas of one model that do not stay the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.explanation import listed
from graphscope.diagnose.finding import Confidence, Finding
from graphscope.eventlog.names import place_of
from graphscope.eventlog.siblings import title
from graphscope.graph import series
from graphscope.graph.collectives import collectives
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_CLOSE: Final = 1e-5
"""Norms that differ by less than this part of them are the same: each rank adds up in the same order."""


@dataclass(frozen=True)
class Replica:
    """The updates that one rank has made of its parameters."""

    log: Log

    @cached_property
    def updates(self) -> np.ndarray:
        """All of them, in the order of the log."""
        return series.updates(self.log)

    @cached_property
    def tensors(self) -> list[int]:
        """The parameters in the order of their first updates."""
        tensors, first = np.unique(self.updates["tensor"], return_index=True)
        found: list[int] = tensors[np.argsort(first)].tolist()
        return found

    @cached_property
    def of_each(self) -> list[np.ndarray]:
        """The updates of each parameter."""
        return [self.updates[self.updates["tensor"] == tensor] for tensor in self.tensors]

    @property
    def name(self) -> str:
        """`rank 1`."""
        return title(self.log.path)

    def passes(self, row: int) -> int:
        """How many backward passes have ended ahead of a row."""
        return int(np.searchsorted(training(self.log).backward_ends, row))

    @property
    def exchanges(self) -> bool:
        """Whether the ranks exchange more than single numbers from the first backward pass to the last update."""
        begins, last = training(self.log).backward_begins, self.updates["row"][-1]
        if not len(begins):
            return False
        events = [each for each in collectives(self.log).values() if begins[0] < each.row < last]
        sizes = [self.log.pick("shape", np.array([source])) for each in events for source, _ in each.inputs]
        return any(int(np.prod(self.log.shape(int(size[0])))) > 1 for size in sizes)


def rank_parting(logs: Sequence[Log]) -> Finding | None:
    """The first update at which the parameters of ranks part that train one model; None where they stay the same.

    Ranks that hold parts of a model, or train models of their own on purpose, are let be: what speaks are weights that
    differ though the ranks give them the same gradients, or weights that were the same and part though their
    optimizers are set up alike.
    """
    ranks = [Replica(log) for log in logs]
    counts = [[int(each["count"][0]) for each in rank.of_each] for rank in ranks]
    if not counts[0] or any(each != counts[0] for each in counts):
        return None
    least = min(len(each) for rank in ranks for each in rank.of_each)
    for number in range(least):
        apart = _apart(ranks, "weight", number)
        if len(apart):
            return _at_start(ranks, apart) if number == 0 else _after(ranks, number - 1, apart)
    return None


def _values(ranks: Sequence[Replica], field: str, number: int) -> np.ndarray:
    """What an update was made with: a row for each rank, a column for each parameter."""
    return np.array([[each[field][number] for each in rank.of_each] for rank in ranks], float)


def _apart(ranks: Sequence[Replica], field: str, number: int) -> np.ndarray:
    """The places of the parameters in which ranks differ."""
    values = _values(ranks, field, number)
    with np.errstate(all="ignore"):
        differ = np.ptp(values, axis=0) > _CLOSE * np.abs(values).max(axis=0)
    return np.flatnonzero(differ & np.isfinite(values).all(axis=0))


def _odd(ranks: Sequence[Replica], field: str, number: int, place: int) -> int:
    """The rank that differs from most of the others, and from the first where all differ."""
    values = _values(ranks, field, number)[:, place]
    alike = (np.abs(values[:, None] - values) <= _CLOSE * np.abs(values).max()).sum(axis=1)
    return len(ranks) - 1 - int(np.argmin(alike[::-1]))


def _at_start(ranks: Sequence[Replica], apart: np.ndarray) -> Finding | None:
    gradients = _values(ranks, "gradient", 0)
    if np.isin(apart, _apart(ranks, "gradient", 0)).any() or not (gradients[:, apart] > 0).all():
        return None  # each has a part of a model, or one of its own
    odd = _odd(ranks, "weight", 0, int(apart[0]))
    what = "begins with other weights than the others, though all apply the same gradients"
    cure = "broadcast the weights of rank 0 after this line (DistributedDataParallel does), or seed all ranks alike"
    return _finding(ranks, 0, odd, apart, "initialisation", what, cure, _model(ranks[0]))


def _after(ranks: Sequence[Replica], number: int, apart: np.ndarray) -> Finding | None:
    place = int(apart[0])
    rows = [int(rank.of_each[place]["row"][number]) for rank in ranks]
    passes = [rank.passes(row) for rank, row in zip(ranks, rows, strict=True)]
    odd = _odd(ranks, "weight", number + 1, place)
    stepped = _line(ranks[0].log, rows[0])
    if len(set(passes)) > 1:
        odd = len(ranks) - 1 - int(np.argmax(passes[::-1]))
        what = f"makes no step after backward pass {min(passes)}, where the others do"
        cure = "let every rank decide alike: all_reduce what the decision is made by (a loss that is NaN, a count)"
        return _finding(ranks, number, odd, apart, "step left out", what, cure, stepped)
    rates = _values(ranks, "rate", number)[:, place]
    differing = _apart(ranks, "gradient", number)
    if not np.isin(apart, differing).any():
        if np.ptp(rates) > _CLOSE * np.abs(rates).max():
            what = f"takes another step than the others: its learning rate is {rates[odd]:.6g}, not {rates[0]:.6g}"
            cure = "give the optimizers of all ranks the same settings"
            return _finding(ranks, number, odd, apart, "other settings", what, cure, _optimizer(ranks[0]) or stepped)
        return None
    synchronised = len(differing) < len(ranks[0].tensors)
    if np.ptp(rates) > 0 or (not synchronised and any(rank.exchanges for rank in ranks)):
        return None  # a search over settings; a model in parts, or one that is averaged now and then
    what = "goes on with other gradients than the others: nothing averages them over the ranks"
    cure = "wrap the model in DistributedDataParallel and call the wrapper, or all_reduce the gradients before step()"
    return _finding(ranks, number, odd, apart, "gradients not averaged", what, cure, _model(ranks[0]))


def _model(rank: Replica) -> tuple[str, int]:
    """The line that made the model that is trained, else its optimizer."""
    known = training(rank.log)
    held = set(rank.tensors)
    modules = [each for each in known.modules.values() if held & set(each.parameters.values())]
    sites = [each.sites.get("", 0) for each in modules]
    return next((place for site in sites if (place := known.place(site))[0]), None) or _optimizer(rank) or ("", 0)


def _optimizer(rank: Replica) -> tuple[str, int] | None:
    """The line that made the optimizer."""
    known, held = training(rank.log), set(rank.tensors)
    sites = [each.site for each in known.optimizers.values() if held & each.tensors]
    return next((place for site in sites if (place := known.place(site))[0]), None)


def _line(log: Log, row: int) -> tuple[str, int]:
    return place_of(log.site(log.event(row).site))


def _finding(
    ranks: Sequence[Replica], number: int, odd: int, apart: np.ndarray, cause: str, what: str, cure: str,
    place: tuple[str, int],
) -> Finding:  # fmt: skip
    known = training(ranks[0].log)
    tensors = [ranks[0].tensors[each] for each in apart.tolist()]
    names = tuple(known.name(tensor) or f"#{tensor}" for tensor in tensors)
    first = int(apart[0])
    row = int(ranks[0].of_each[first]["row"][number])
    when = number + (cause != "initialisation")
    norms = _values(ranks, "weight", when)[:, first]
    verdict = f"{ranks[odd].name} {what}; so {listed(names, 4)} part {'at once' if not when else f'in update {when}'}"
    evidence = {"ranks": len(ranks), "parameters apart": len(names), "parameters": len(ranks[0].tensors)}
    evidence |= {f"norm on {rank.name}": norm for rank, norm in zip(ranks, norms.tolist(), strict=True)}
    confidence: Confidence = "likely" if cause == "gradients not averaged" else "certain"
    return Finding("rank_differs", "error", row, row, *place, names, cause, verdict, cure, evidence, confidence)
