"""What a loop counts by its text alone, where that is sure: for steps whose marks do not tell it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog.loops import counters_at
from graphscope.eventlog.syntax_trees import module_tree
from graphscope.graph.loop_turns import Counters, untold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphscope.eventlog.reader import Log

_RANGES: Final = frozenset({"range", "trange"})
_WRAPPERS: Final = frozenset({"tqdm", "track"})
"""What gives the turns of a range on as they are."""


@dataclass(frozen=True, slots=True)
class Turns:
    """What a loop counts."""

    name: str
    """The program's variable."""
    first: int
    by: int


def counters_by_text(log: Log, begins: np.ndarray, count: int) -> Counters:
    """What the loop around the line that began most backward passes counted in each of so many steps; empty where the
    text does not say, or some turns may have left no step.
    """
    unknown = untold(count)
    sites = log.pick("site", begins)
    numbers, times = np.unique(sites[sites > 0], return_counts=True)
    if log.first > 0 or not len(numbers) or not count <= times.max() <= count + 1:
        return unknown
    site = log.site(int(numbers[np.argmax(times)]))
    if site is None or site.function != "<module>":
        return unknown
    turns = turns_at(log.source(site.file) or "", site.line)
    if turns is None:
        return unknown
    counted = turns.first + np.arange(count) * turns.by
    return Counters(((), (turns.name,)), np.ones(count, np.int64), counted[:, None])


@lru_cache(maxsize=16)
def turns_at(text: str, line: int) -> Turns | None:
    """What the only loop around a line counts, if each turn comes to the line and the text tells all numbers."""
    try:
        tree = module_tree(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    loop = _around(tree.body, line)
    if not isinstance(loop, ast.For) or not isinstance(_around(loop.body, line), ast.Expr):
        return None
    target = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) and loop.target.elts else loop.target
    progression = _progression(loop.iter, several=target is not loop.target)
    if not isinstance(target, ast.Name) or progression is None or not _is_plain(loop, target.id):
        return None
    counted = counters_at(text, line)
    if len(counted) != 1 or not counted[0] or counted[0][0].name != target.id:
        return None
    return Turns(target.id, progression[0] + counted[0][0].ahead, progression[1])


def _around(body: Sequence[ast.stmt], line: int) -> ast.stmt | None:
    return next((each for each in body if each.lineno <= line <= (each.end_lineno or 0)), None)


def _progression(counted: ast.expr, *, several: bool) -> tuple[int, int] | None:
    """The first number of `range(2, 10, 2)` or `enumerate(..., 1)`, and by how much they grow."""
    if not isinstance(counted, ast.Call):
        return None
    name = _called(counted)
    if name in _WRAPPERS and counted.args:
        return _progression(counted.args[0], several=several)
    if name == "enumerate" and several:
        starts = [*counted.args[1:], *(each.value for each in counted.keywords if each.arg == "start")]
        first = _integer(starts[0]) if starts else 0
        return None if first is None else (first, 1)
    if name not in _RANGES or several or not counted.args:
        return None
    first = _integer(counted.args[0]) if len(counted.args) > 1 else 0
    by = _integer(counted.args[2]) if len(counted.args) > 2 else 1
    return None if first is None or by is None else (first, by)


def _called(node: ast.Call) -> str:
    return getattr(node.func, "id", "") or getattr(node.func, "attr", "")


def _integer(node: ast.expr) -> int | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if type(value) is int else None


def _is_plain(loop: ast.For, name: str) -> bool:
    """Whether no turn is cut short or recorded on its own, and nothing else sets the variable."""
    for node in (each for statement in loop.body for each in ast.walk(statement)):
        sets = isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
        records = isinstance(node, ast.Call) and _called(node) == "record"
        if isinstance(node, ast.Continue | ast.Try) or sets or records:
            return False
    return True
