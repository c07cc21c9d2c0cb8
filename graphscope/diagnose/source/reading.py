"""Where a program reads an attribute as a plain number, and nowhere as what it is."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from graphscope.diagnose.source.trees import trees

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_METHODS: Final = frozenset({"item", "tolist", "numpy", "detach", "data"})
_FUNCTIONS: Final = frozenset({"float", "int", "list"})


def reading_line(log: Log, attribute: str) -> tuple[str, int] | None:
    """The one line that reads the numbers of an attribute; None where there are several, or another use of it."""
    known = trees(log)
    if known is None:
        return None
    found: set[tuple[str, int]] = set()
    for file, tree in known:
        nodes = [*ast.walk(tree)]
        uses = [each for each in nodes if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Load)]
        wanted = {id(each): each for each in uses if each.attr == attribute}
        numbers = {id(each.value) for each in uses if each.attr in _METHODS}
        for each in nodes:
            if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id in _FUNCTIONS:
                numbers |= {id(argument) for argument in each.args}
        if any(key not in numbers for key in wanted):
            return None
        found |= {(file, each.lineno) for each in wanted.values()}
    return found.pop() if len(found) == 1 else None
