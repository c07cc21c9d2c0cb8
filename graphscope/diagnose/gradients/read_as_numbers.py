"""Parameters that a program reads as plain numbers, so that no op takes them in and no gradient comes to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.source.reading import reading_line
from graphscope.diagnose.training.parameter_rows import parameter_rows
from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.graph import Graph

_LEAST: Final = 3
"""So many steps must pass it over."""
_MOST: Final = 64
"""So many parameters are looked at."""


class ReadAsNumber(NamedTuple):
    """Such a parameter."""

    row: int
    """The step that shows it."""
    first: int
    """The first step that passed it over."""
    name: str
    place: tuple[str, int]


def read_as_numbers(graph: Graph) -> Iterator[ReadAsNumber]:
    """The parameters of modules that an optimizer holds and no op takes, and whose numbers one line reads."""
    log, read = graph.log, training(graph.log)
    steps = read.rows("step")
    steps = steps[steps <= graph.now]
    if len(steps) < _LEAST:
        return
    grown = set(parameter_rows(log).grown.tensors.tolist())
    held = [(name, tensor) for each in read.modules.values() for name, tensor in each.parameters.items()]
    idle = [(name, each) for name, each in held if each is not None and each in read.optimized and each not in grown]
    idle = idle[:_MOST]
    flags = log.pick("flags", np.array([tensor for _, tensor in idle], np.int64)).tolist()
    for (name, tensor), known in zip(idle, flags, strict=True):
        if not known & Flag.REQUIRES_GRAD or _is_taken(graph, tensor):
            continue
        place = reading_line(log, name.rpartition(".")[2])
        if place is not None:
            yield ReadAsNumber(int(steps[_LEAST - 1]), int(steps[0]), name, place)


def _is_taken(graph: Graph, tensor: int) -> bool:
    stop = graph.now + 1
    users = [user for row in (tensor, *graph.index.versions(tensor, stop)) for user in graph.index.using(row, stop)]
    events = [graph.index.event(user) for user in users]
    return any(each.kind == Kind.OP and each.graph_pass == Pass.FORWARD and each.tensor != tensor for each in events)
