"""What an optimizer does to its parameters over a run, and where the program says so."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.explanation import Step, listed, step_of
from graphscope.diagnose.source.places import only_assignment, only_call
from graphscope.diagnose.source.written_numbers import written_number
from graphscope.eventlog.each_once import each_once
from graphscope.eventlog.grouping import grouped, those
from graphscope.eventlog.schema import DTYPES, Kind
from graphscope.graph import series
from graphscope.graph.reading import once_a_length
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node

LEAST: Final = 5
"""So many updates of a parameter are looked at before anything is said of it."""

_HALVES: Final = ("float16", "bfloat16")
_CASTS: Final = ("set", "to", "bfloat16", "half", "float16")


@dataclass(frozen=True)
class Group:
    """The updates of the parameters that one line of the program updates, in the order of the log."""

    log: Log
    updates: np.ndarray

    @property
    def losses(self) -> np.ndarray:
        """The losses of those backward passes."""
        values: np.ndarray = self.passes["value"]
        return values

    @property
    def passes(self) -> np.ndarray:
        """The backward passes that these updates follow, those of the line that most of them began at: a LOSS each."""
        found = series.losses(self.log)
        place = np.searchsorted(found["begin"], each_once(self.updates["row"])) - 1
        found = found[each_once(place[place >= 0])]
        if not len(found):
            return np.zeros(0, series.LOSS)
        sites, counts = np.unique(found["site"], return_counts=True)
        passes: np.ndarray = found[found["site"] == sites[np.argmax(counts)]]
        return passes


def groups(log: Log) -> Iterator[Group]:
    """The updates of a log by the line that steps and by dtype; those of few updates are left out."""
    found = series.updates(log)
    for members in _members(log):
        yield Group(log, those(found, members))


@once_a_length
def _members(log: Log) -> list[np.ndarray]:
    """Which updates each group has."""
    found = series.updates(log)
    keys = log.pick("site", found["row"]).astype(np.int64) * 256 + log.pick("dtype", found["row"])
    members = []
    for key in np.unique(keys).tolist():
        of_key = keys == key
        tensors, counts = np.unique(found["tensor"][of_key], return_counts=True)
        kept = of_key & np.isin(found["tensor"], tensors[counts >= LEAST])
        if kept.any():
            members.append(kept)
    return members


def late_to_early(losses: np.ndarray, first: int | None = None) -> float:
    """What the last quarter of the losses is, as a multiple of the first, or of the `first` so many: below 1 they fell.

    NaN where that can't be said, as of losses that begin below zero.
    """
    if len(losses) < 2 * LEAST or not np.isfinite(losses[0]):
        return math.nan
    part = max(len(losses) // 4, 2)
    before, after = np.median(losses[: first or part]), np.median(losses[-part:])
    if not np.isfinite(after):
        return math.inf
    return float(after / before) if before > 0 else math.nan


def names_of(graph: Graph, tensors: np.ndarray) -> tuple[str, ...]:
    """What some parameters are called."""
    known = training(graph.log)
    return tuple(known.name(tensor) or f"#{tensor}" for tensor in np.unique(tensors).tolist())


def told(names: tuple[str, ...]) -> str:
    """Names in a sentence."""
    return listed(names, 4)


def optimizer_at(graph: Graph, row: int, note: str) -> Step:
    """Where the optimizer that made an update was made, and its settings stand; else where it steps."""
    node, known = graph.node(row), training(graph.log)
    places = (known.place(each.site) for each in known.optimizers.values() if node.tensor in each.tensors)
    return _at(node, next((place for place in places if place[0]), ("", 0)), note) or step_of(node, note)


def rate_at(graph: Graph, row: int, note: str) -> Step:
    """Where the rate stands that the optimizer of an update was made with; else where the optimizer was made."""
    node, known = graph.node(row), training(graph.log)
    for optimizer in known.optimizers.values():
        site = graph.log.site(optimizer.site) if optimizer.site else None
        for group in optimizer.groups:
            rate = group.settings.get("lr")
            if site is not None and node.tensor in group.tensors and isinstance(rate, int | float):
                place = written_number(graph.log, site, "lr", PLACE_OF_RATE, float(rate))
                return (_at(node, place, note) if place is not None else None) or optimizer_at(graph, row, note)
    return optimizer_at(graph, row, note)


PLACE_OF_RATE: Final = 1
"""The place of `lr` among the arguments of optimizers."""

_FACTOR: Final = 0.01
"""A schedule that begins with so small a part of the rate that its optimizer was made with is no decay."""

_MULTIPLE: Final = 10.0
"""Or gives so many times that rate."""


def scheduled_at(graph: Graph, row: int, rate: float, note: str) -> Step | None:
    """Where a schedule was made, or written, that gave an optimizer a rate far from its own; else None."""
    node, known = graph.node(row), training(graph.log)
    for optimizer in (each for each in known.optimizers.values() if node.tensor in each.tensors):
        rates = [group.settings.get("lr") for group in optimizer.groups]
        made = max((float(each) for each in rates if isinstance(each, int | float)), default=0.0)
        makers = [each.site for each in known.schedulers.values() if each.optimizer == optimizer.number]
        if rate < _FACTOR * made or rate >= _MULTIPLE * made > 0:
            written = None if makers else only_assignment(graph.log, "lr")
            return _at(node, known.place(makers[-1]) if makers else written or ("", 0), note)
    return None


def _at(node: Node, place: tuple[str, int], note: str) -> Step | None:
    """A step at a line of the program; None where that is not known."""
    file, line = place
    text = (node.graph.log.source(file) or "").splitlines()[line - 1 : line] if file else []
    return Step(node.row, node.label, node.name, file, line, "".join(text).strip(), note) if file else None


def cast_at(graph: Graph, tensor: int, note: str) -> Step | None:
    """Where a parameter got its half precision; None where the log does not say."""
    log = graph.log
    if not log.first <= tensor < log.end:
        return None
    for row in [tensor, *graph.index.versions(tensor, log.end)[:8]]:
        event = log.event(row)
        if event.kind == Kind.OP and event.dtype in _HALVES and log.op(event.op).name in _CASTS and event.site:
            return step_of(graph.node(row), note)
    return _at(graph.node(tensor), only_call(log, "set_default_dtype", _HALVES) or ("", 0), note)


def is_half(log: Log, row: int) -> bool:
    """Whether a row is of half precision."""
    return DTYPES[int(log.pick("dtype", np.array([row]))[0])] in _HALVES


def is_matrix(log: Log, tensors: np.ndarray) -> np.ndarray:
    """Which parameters are weights of a layer: of two dimensions or more, each longer than 1, and not few elements."""
    numbers = log.pick("shape", tensors)
    first, which = grouped([numbers])
    shapes = [log.shape(number) for number in numbers[first].tolist()]
    fits = [sum(size > 1 for size in shape) >= 2 for shape in shapes]
    return np.asarray(np.array(fits, bool)[which])
