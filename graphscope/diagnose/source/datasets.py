"""Where the source of a program fills the examples of a data set that a loader puts into batches."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from graphscope.diagnose.source.trees import tree_of

if TYPE_CHECKING:
    from graphscope.graph import Node

_GIVING: Final = frozenset({"__getitem__", "__iter__"})
_FAR: Final = 200
"""So many rows before a batch one of its examples was computed, if any was."""


class _Giving(NamedTuple):
    """A method that gives the examples of a class."""

    file: str
    function: ast.FunctionDef
    owner: ast.ClassDef


def is_collated(node: Node) -> bool:
    """Whether a leaf was made by a loader, of numbers: the line it stands at does not call what made it."""
    return node.kind == "leaf" and node.op in ("tensor", "as_tensor") and node.op not in node.source_line


def example_place(node: Node, last: bool) -> tuple[str, int] | None:
    """Where the program fills what a loader made a leaf of; None where its source does not say.

    Args:
        node: The leaf.
        last: Whether it is the last of what an example has, as labels are; else the first.
    """
    found = _giving(node)
    given = None if found is None else _given(found.function)
    if found is None or given is None:
        return None
    value = given.elts[-1 if last else 0] if isinstance(given, ast.Tuple) and given.elts else given
    return found.file, _line(found, value, given.lineno)


def _giving(node: Node) -> _Giving | None:
    """The method that gave the examples of a batch: the only one, or the one that ran an op right before."""
    log = node.graph.log
    entries = [each for each in log.table("sources") if isinstance(each, dict)]
    found = [each for entry in entries for each in _methods(str(entry.get("file", "")), str(entry.get("text", "")))]
    if len(found) < 2:
        return found[0] if found else None
    for row in range(node.row - 1, max(node.row - _FAR, log.first), -1):
        site = log.site(int(log.raw(row)["site"]))
        for each in found:
            end = each.function.end_lineno or each.function.lineno
            if site is not None and site.file == each.file and each.function.lineno <= site.line <= end:
                return each
    return None


@lru_cache(maxsize=32)
def _methods(file: str, text: str) -> tuple[_Giving, ...]:
    owners = [each for each in ast.walk(tree_of(text)) if isinstance(each, ast.ClassDef)]
    return tuple(
        _Giving(file, each, owner)
        for owner in owners
        for each in owner.body
        if isinstance(each, ast.FunctionDef) and each.name in _GIVING
    )


def _given(function: ast.FunctionDef) -> ast.expr | None:
    """What a method gives, where it says so at one place."""
    found = [each.value for each in ast.walk(function) if isinstance(each, (ast.Return, ast.Yield)) and each.value]
    return found[0] if len(found) == 1 else None


def _line(found: _Giving, value: ast.expr, otherwise: int) -> int:
    """Where a value was computed: the assignment of a variable, or of the attribute that it was picked out of."""
    while isinstance(value, ast.Subscript):
        value = value.value
    if isinstance(value, ast.Name):
        lines = [(each.lineno, computed) for name, computed, each in _assigned(found.function) if name == value.id]
        before = [each for each in lines if each[0] <= otherwise]
        return otherwise if not before else _line_of_picked(found, *before[-1])
    return _line_of_picked(found, value.lineno, value)


def _line_of_picked(found: _Giving, line: int, value: ast.expr | None) -> int:
    while isinstance(value, ast.Subscript):
        value = value.value
    if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
        own = [(each.lineno, computed) for name, computed, each in _assigned(found.owner) if name == f".{value.attr}"]
        if own and not isinstance(own[-1][1], (ast.Name, type(None))):  # else another has computed it
            return own[-1][0]
    return line


def _assigned(tree: ast.AST) -> Iterator[tuple[str, ast.expr | None, ast.stmt]]:
    """The assignments of a tree, in the order of its lines: variables by name, attributes behind a dot."""
    statements = [each for each in ast.walk(tree) if isinstance(each, (ast.Assign, ast.AnnAssign))]
    for statement in sorted(statements, key=lambda each: each.lineno):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            several = isinstance(target, ast.Tuple)
            for each in target.elts if isinstance(target, ast.Tuple) else [target]:
                name = (
                    each.id
                    if isinstance(each, ast.Name)
                    else f".{each.attr}"
                    if isinstance(each, ast.Attribute)
                    else ""
                )
                yield name, None if several else statement.value, statement
