"""Objectives that updates by hand make worse: they go up the gradient of an error, or down that of a likelihood."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from graphscope.diagnose.training.by_hand import Update, updates_by_hand
from graphscope.diagnose.training.objectives import Objective, is_weight, objective, only_losses
from graphscope.graph.reading import once_a_length

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node

_LEAST: Final = 5
"""So many updates of a parameter must show it."""


class Climbing(NamedTuple):
    """Updates by hand that make worse what the program wants."""

    node: Node
    """The first of them."""
    found: Objective
    tensors: tuple[int, ...]


@once_a_length
def climbing(log: Log) -> Climbing | None:
    """Of a program whose only losses are those of weights that it updates by hand, all in one direction: the wrong."""
    known = updates_by_hand(log)
    losses = only_losses(log)
    if not known or not len(losses) or any(len({each.sign for each in made}) != 1 for made in known.values()):
        return None
    signs = {made[0].sign for made in known.values()}
    graph = log.graph
    found = objective(graph, int(losses["root"][0]))
    wrong = -1 if found is not None and found.ascended else 1
    if found is None or signs != {wrong} or min(map(len, known.values())) < _LEAST or not _weigh(log, known.values()):
        return None
    return Climbing(graph.node(min(made[0].row for made in known.values())), found, tuple(known))


def _weigh(log: Log, made: Iterable[Sequence[Update]]) -> bool:
    """Whether layers take some of the parameters that were updated."""
    return any(is_weight(log.graph, each[0].row) for each in made)
