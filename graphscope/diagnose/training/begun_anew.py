"""Batches that are always the same one, as the program begins to go through its data anew for each."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from math import prod
from types import UnionType
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
    (taken,) = places
    file, line, _ = taken
    graph = log.graph
    for group in first_layers(log):
        layers = np.array(group)
        is_trained = (log.pick("flags", layers) & int(Flag.REQUIRES_GRAD)) != 0
        rows = layers[is_trained][: 4 * _LEAST].tolist()
        given = [graph.node(row).inputs[0].source for row in rows]
        batches = {batch.tensor for each in given if (batch := _batch(each, file, line)) is not None}
        if len(batches) < _LEAST:
            continue  # one tensor, which the program keeps
        told = {_told(log, each.row) for each in given}
        if len(told) == 1 and None not in told and _is_part(given[-1]):
            return BegunAnew(rows[-1], given[-1].row, file, taken.begins, len(rows))
    return None


def _batch(node: Node, file: str, line: int) -> Node | None:
    """What came about at a line, of what a layer is given."""
    found = ((each, each.site) for each in ancestors(node))
    return next((each for each, site in found if site is not None and (site.file, site.line) == (file, line)), None)


def _is_part(node: Node) -> bool:
    """Whether a batch is a part of something larger."""
    return any(prod(each.shape) > prod(node.shape) for each in ancestors(node))


def _told(log: Log, row: int) -> tuple[float, ...] | None:
    """What is known of the numbers of a tensor; None where they are all one, or not known."""
    known = log.summary(row, 0)
    if known is None or not known.count or known.minimum == known.maximum:
        return None
    return known.count, known.minimum, known.maximum, known.mean, known.std


class _Place(NamedTuple):
    """Where the first element of a new iterator is taken."""

    file: str
    line: int
    begins: int
    """The line that makes the iterator."""


def _places(log: Log) -> set[_Place]:
    """Where a loop of the program does so; where none does, where a function does, which may be called in one."""
    known = list(trees(log) or ())
    return _within(known, ast.For | ast.While) or _within(known, ast.FunctionDef)


def _within(known: list[tuple[str, ast.Module]], kind: type[ast.AST] | UnionType) -> set[_Place]:
    return {
        _Place(file, line, begins)
        for file, tree in known
        for block in ast.walk(tree)
        if isinstance(block, kind)
        for line, begins in (*_in_one_go(block), *_in_two_lines(block))
    }


def _in_one_go(block: ast.AST) -> Iterator[tuple[int, int]]:
    """`next(iter(...))` and `iter(...).__next__()`."""
    for node in ast.walk(block):
        if isinstance(node, ast.Call):
            taken = node.args[0] if _is_call(node, "next") and node.args else _next_of(node)
            if taken is not None and _is_call(taken, "iter"):
                yield node.lineno, node.lineno


def _in_two_lines(block: ast.AST) -> Iterator[tuple[int, int]]:
    """`batches = iter(...)` and `next(batches)` in the statements of one block, and no inner loop between them."""
    made: dict[str, int] = {}
    for statement in getattr(block, "body", []):
        inner = isinstance(statement, ast.For | ast.While | ast.FunctionDef | ast.ClassDef)
        for node in [] if inner else ast.walk(statement):
            taken = node.args[0] if isinstance(node, ast.Call) and _is_call(node, "next") and node.args else None
            if isinstance(taken, ast.Name) and taken.id in made:
                yield taken.lineno, made[taken.id]
        if isinstance(statement, ast.Assign) and _is_call(statement.value, "iter"):
            made |= {each.id: statement.lineno for each in statement.targets if isinstance(each, ast.Name)}


def _next_of(node: ast.Call) -> ast.AST | None:
    """What `__next__` is called of."""
    return node.func.value if isinstance(node.func, ast.Attribute) and node.func.attr == "__next__" else None


def _is_call(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == name
