"""Parameters that get gradients and that nothing changes: in no optimizer, and written by nobody."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.training.parameter_rows import parameter_rows
from graphscope.eventlog.each_once import each_once
from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.reading import once_a_length
from graphscope.graph.training import Module, Optimizer, Training, Unregistered, training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_LEAST: Final = 3
"""In so many backward passes they must get gradients."""


@dataclass(frozen=True, slots=True)
class Unlearned:
    """A parameter that gets gradients and is changed by nothing."""

    tensor: int
    name: str
    row: int
    """Where its gradient grew for the third time."""
    first: int
    """Where it grew first."""
    last: int
    """Where it grew last."""
    module: Module | None
    """The outermost module that it belongs to, if any."""
    unregistered: Unregistered | None
    """Where it hangs on a module that does not know of it."""
    passes: int


@once_a_length
def unlearned(log: Log) -> list[Unlearned]:
    """All of a log, in the order of the log; none where the log does not tell of all optimizers what they hold."""
    return list(_unlearned(log))


def _unlearned(log: Log) -> Iterator[Unlearned]:
    read = training(log)
    stepping = stepping_optimizers(read)
    if not stepping or not all(each.is_told for each in read.optimizers.values()):
        return
    rows = parameter_rows(log)
    grown = rows.grown
    candidates = np.setdiff1d(grown.tensors, np.fromiter(read.optimized, np.int64))
    candidates = candidates[(candidates >= log.first) & (candidates < log.end)]
    candidates = candidates[log.pick("kind", candidates) == Kind.LEAF]
    modules = {tensor: each for each in read.modules.values() for tensor in each.parameters.values()}
    hanging = {
        tensor: each
        for module in read.modules.values()
        for each in module.unregistered
        for tensor in each.parameters.values()
        if not each.is_made or _is_used_once(log, tensor)
    }
    for tensor in candidates.tolist():
        if not log.event(tensor).flags & Flag.PARAMETER and tensor not in hanging:
            continue
        mine = grown.rows[grown.tensors == tensor]
        passes = each_once(np.searchsorted(read.backward_begins, mine))
        if len(passes) < _LEAST or (rows.written.of([tensor]).rows > mine[0]).any():
            continue
        third = mine[np.searchsorted(read.backward_begins, mine) >= passes[_LEAST - 1]][0]
        name = read.name(tensor) or next((place for place in _places(hanging.get(tensor), tensor)), "")
        yield Unlearned(
            tensor, name, int(third), int(mine[0]), int(mine[-1]), modules.get(tensor), hanging.get(tensor), len(passes)
        )


def _is_used_once(log: Log, tensor: int | None) -> bool:
    """Whether one op took a parameter; what is made of one again and again is kept for another reason."""
    return tensor is not None and len(log.graph.index.using(tensor, log.end)) == 1


def made_or_stepped_at(read: Training, optimizer: Optimizer) -> tuple[str, int]:
    """The line that made an optimizer, else that of its first step."""
    made = read.place(optimizer.site)
    return made if made[0] else read.place(read.call(int(read.rows("step", owner=optimizer.number)[0])).site)


def stepping_optimizers(read: Training) -> list[Optimizer]:
    """The optimizers that made some steps."""
    return [each for each in read.optimizers.values() if len(read.rows("step", owner=each.number)) >= _LEAST]


def elements(log: Log, tensor: int) -> int:
    """How many elements a tensor has."""
    return prod(log.event(tensor).shape)


def _places(held: Unregistered | None, tensor: int) -> Iterator[str]:
    if held is not None:
        for place, each in held.parameters.items():
            if each == tensor:
                yield f"{held.module}.{place}".lstrip(".")
