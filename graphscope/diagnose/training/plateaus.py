"""Schedulers that wait for a number to stop getting better, and look the wrong way."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from graphscope.diagnose.source.definitions import argument, given
from graphscope.graph.training import Scheduler, training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_TYPE: Final = "ReduceLROnPlateau"
_SMALLER_IS_BETTER: Final = frozenset(
    ("loss", "losses", "error", "errors", "err", "nll", "mse", "mae", "rmse", "perplexity", "ppl", "cost")
)
_LARGER_IS_BETTER: Final = frozenset(
    ("acc", "accs", "accuracy", "accuracies", "f1", "auc", "auroc", "bleu", "iou", "miou", "dice", "psnr", "reward")
)


class Misled(NamedTuple):
    """A scheduler that takes what gets better for what gets worse."""

    scheduler: Scheduler
    mode: str
    watched: str
    """What it is given, as the program writes it."""


def misled(log: Log, schedulers: list[Scheduler]) -> Misled | None:
    """The first that is told to wait for the maximum of a loss, or for the minimum of an accuracy, by their names."""
    read = training(log)
    for scheduler in schedulers:
        steps = read.rows("scheduler.step", owner=scheduler.number)
        made = log.site(scheduler.site) if scheduler.site else None
        stepped = log.site(read.call(int(steps[0])).site) if scheduler.type == _TYPE and len(steps) else None
        if made is None or stepped is None:
            continue
        is_told = given(log, made, "mode", 1) is not None
        told = argument(log, made, "mode", 1)
        watched = given(log, stepped, "metrics", 0)
        mode = "min" if not is_told else getattr(told.expression, "value", None) if told is not None else None
        if watched is not None and mode in _BETTER and _is_named(watched.expression, *_BETTER[mode]):
            return Misled(scheduler, mode, ast.unparse(watched.expression))
    return None


_BETTER: Final = {"max": (_SMALLER_IS_BETTER, _LARGER_IS_BETTER), "min": (_LARGER_IS_BETTER, _SMALLER_IS_BETTER)}
"""Which names contradict a mode, and which go with it."""


def _is_named(expression: ast.expr, against: frozenset[str], along: frozenset[str]) -> bool:
    """Whether an expression says by its names that it is of one kind and not of the other."""
    words = {word for name in _names(expression) for word in re.findall(r"[a-z]+[0-9]*", name.lower())}
    return bool(words & against) and not words & along


def _names(node: ast.AST) -> Iterator[str]:
    """The names in an expression, but for those that it may turn round, in a difference or as a divisor."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        yield node.id if isinstance(node, ast.Name) else node.attr
    if isinstance(node, ast.Constant):
        yield str(node.value)
    is_turned = isinstance(node, ast.UnaryOp) or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub))
    parts = [] if is_turned else [node.left] if isinstance(node, ast.BinOp) else ast.iter_child_nodes(node)
    for part in parts:
        yield from _names(part)
