"""Batches that are always the same one, as the program begins to go through its data anew for each."""

from __future__ import annotations

import ast
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.source.trees import trees
from graphscope.diagnose.training.batches import ancestors, first_layers
from graphscope.eventlog.schema import Flag
from graphscope.graph.reading import once_a_length
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node

_LEAST: Final = 5
"""So many batches must be the same."""


class BegunAnew(NamedTuple):
    """A line that takes the first batch again and again."""

    row: int
    """The layer that was given the same for the last time that was looked at."""
    data: int
    file: str
    line: int
    batches: int


@once_a_length
def begun_anew(log: Log) -> BegunAnew | None:
    """The line of a loop that takes the first element of a new iterator, where all batches were the same."""
    places = _places(log)
    if len(places) != 1 or not training(log).step_ends.size:
        return None
    ((file, line),) = places
    graph = log.graph
    for group in first_layers(log):
        layers = np.array(group)
        is_trained = (log.pick("flags", layers) & int(Flag.REQUIRES_GRAD)) != 0
        rows = layers[is_trained][: 4 * _LEAST].tolist()
        given = [graph.node(row).inputs[0].source for row in rows]
        if len({each.row for each in given}) < _LEAST:
            continue  # one tensor, which the program keeps
        told = {_told(log, each.row) for each in given}
        if len(told) == 1 and None not in told and _is_first_of_many(given[-1], file, line):
            return BegunAnew(rows[-1], given[-1].row, file, line, len(rows))
    return None


def _is_first_of_many(node: Node, file: str, line: int) -> bool:
    """Whether a batch came about at a line, and is a part of something larger."""
    parts = [*ancestors(node)]
    sites = [each.site for each in parts]
    here = any(each is not None and (each.file, each.line) == (file, line) for each in sites)
    return here and any(prod(each.shape) > prod(node.shape) for each in parts)


def _told(log: Log, row: int) -> tuple[float, ...] | None:
    """What is known of the numbers of a tensor; None where they are all one, or not known."""
    known = log.summary(row, 0)
    if known is None or not known.count or known.minimum == known.maximum:
        return None
    return known.count, known.minimum, known.maximum, known.mean, known.std


def _places(log: Log) -> set[tuple[str, int]]:
    """Where a loop of the program says `next(iter(...))`."""
    return {
        (file, node.lineno)
        for file, tree in trees(log) or ()
        for loop in ast.walk(tree)
        if isinstance(loop, ast.For | ast.While)
        for node in ast.walk(loop)
        if isinstance(node, ast.Call) and _is_call(node, "next") and node.args and _is_call(node.args[0], "iter")
    }


def _is_call(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == name
