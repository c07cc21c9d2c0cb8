"""Where a program puts a tensor into a list or a dict, as its source says."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from graphscope.diagnose.source.trees import tree_of

if TYPE_CHECKING:
    from graphscope.graph import Node

_STORING: Final = frozenset({"append", "add", "extend", "insert", "appendleft", "setdefault", "update", "push", "put"})


def storing_line(node: Node) -> int:
    """The line of a tensor's own file that stores it, by its name or where it is made; 0 where none, or several, do."""
    site = node.site
    text = None if site is None else node.graph.log.source(site.file)
    if site is None or text is None:
        return 0
    name = node.name.rpartition(".")[2]
    found = {line for line, end, names in _stores(text) if name in names or line <= site.line <= end}
    here = {line for line, end, _ in _stores(text) if line <= site.line <= end}
    chosen = here or found
    return chosen.pop() if len(chosen) == 1 else 0


@lru_cache(maxsize=32)
def _stores(text: str) -> tuple[tuple[int, int, frozenset[str]], ...]:
    """The calls and assignments that store something: first and last line, and the names of what they store whole."""
    found = []
    for each in ast.walk(tree_of(text)):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in _STORING:
            given = [*each.args, *(keyword.value for keyword in each.keywords)]
        elif isinstance(each, ast.Assign) and any(isinstance(target, ast.Subscript) for target in each.targets):
            given = [each.value]
        else:
            continue
        names = frozenset(name for value in given for name in _whole(value))
        found.append((each.lineno, each.end_lineno or each.lineno, names))
    return tuple(found)


def _whole(value: ast.expr) -> list[str]:
    """The names of what a value holds as it is: not of what is computed from it."""
    if isinstance(value, ast.Name):
        return [value.id]
    if isinstance(value, ast.Attribute):
        return [value.attr]
    if isinstance(value, (ast.Tuple, ast.List, ast.Set)):
        return [name for each in value.elts for name in _whole(each)]
    if isinstance(value, ast.Dict):
        return [name for each in value.values for name in _whole(each)]
    return []
