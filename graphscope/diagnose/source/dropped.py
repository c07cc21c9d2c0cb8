"""Lines that compute something that the program never looks at again."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphscope.diagnose.source.trees import tree_of

if TYPE_CHECKING:
    from graphscope.eventlog.names import Site
    from graphscope.eventlog.reader import Log

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def dropping_line(log: Log, lines: Sequence[Site]) -> Site | None:
    """Of the lines that led to a result, the one that drops it: as a statement of its own, or into an unread name.

    Args:
        log: The log that holds the source.
        lines: From the innermost outward; one that returns hands on to the next.
    """
    for site in lines:
        tree = tree_of(log.source(site.file))
        function = _around(tree, site.line)
        statement = _statement(function or tree, site.line)
        if isinstance(statement, ast.Expr):
            return site if isinstance(statement.value, ast.Call) and _makes(statement.value, site) else None
        if isinstance(statement, ast.Assign) and function is not None:
            return site if _is_unread(function, statement) else None
        if not isinstance(statement, ast.Return):
            return None
    return None


def _makes(call: ast.Call, site: Site) -> bool:
    """Whether what a site makes is the value of a whole call, and no argument of one that uses it."""
    return (call.lineno, call.col_offset) == (site.line, site.column)


def _is_unread(function: _Function, statement: ast.Assign) -> bool:
    """Whether nothing reads the names that a statement fills, or the next that looks at each fills it anew."""
    names = {node.id for target in statement.targets for node in ast.walk(target) if isinstance(node, ast.Name)}
    plain = all(isinstance(target, (ast.Name, ast.Tuple)) for target in statement.targets)
    others = [node for node in ast.walk(function) if isinstance(node, (ast.Global, ast.Nonlocal))]
    if not plain or others or not names or _reads(function, "locals"):
        return False
    inside = _read(statement)
    elsewhere = {name for name in names if _reads(function, name) > inside.count(name)}
    return all(_is_overwritten(function, statement, name) for name in elsewhere)


def _is_overwritten(function: _Function, statement: ast.stmt, name: str) -> bool:
    """Whether what a statement puts into a name is never read, as another one fills it first."""
    nested = (node for node in ast.walk(function) if isinstance(node, (_Function, ast.Lambda)) and node is not function)
    if any(name in _read(each) for each in nested):
        return False  # it may run at any time
    block = _block(function, statement)
    while block is not None:
        holder, following = block
        for each in following:
            if name in _read(each):
                return False
            if isinstance(each, ast.Assign) and any(_fills(target, name) for target in each.targets):
                return True
            if isinstance(each, (ast.Return, ast.Raise)):
                return True
            if isinstance(each, (ast.Break, ast.Continue)):
                return False
        if holder is function:
            return True
        if not isinstance(holder, (ast.If, ast.With)):
            return False  # a loop comes back to what stands before
        block = _block(function, holder)
    return False


def _block(function: _Function, statement: ast.AST) -> tuple[ast.AST, list[ast.stmt]] | None:
    """What holds a statement, and what follows it there."""
    for holder in ast.walk(function):
        for _, part in ast.iter_fields(holder):
            if isinstance(part, list) and any(each is statement for each in part):
                return holder, part[[each is statement for each in part].index(True) + 1 :]
    return None


def _fills(target: ast.expr, name: str) -> bool:
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    return any(isinstance(each, ast.Name) and each.id == name for each in parts)


def _read(node: ast.AST) -> list[str]:
    """The names that a part of a program reads, also those that an update in place reads first."""
    found = [each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)]
    updates = [each.target for each in ast.walk(node) if isinstance(each, ast.AugAssign)]
    return [*found, *(each.id for each in updates if isinstance(each, ast.Name))]


def _reads(node: ast.AST, name: str) -> int:
    return _read(node).count(name)


def _around(tree: ast.Module, line: int) -> _Function | None:
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, _Function) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return max(found, key=lambda node: node.lineno, default=None)


def _statement(around: ast.AST, line: int) -> ast.stmt | None:
    """The innermost statement that holds a line."""
    found = [
        node
        for node in ast.walk(around)
        if isinstance(node, ast.stmt) and node is not around and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return max(found, key=lambda node: (node.lineno, -(node.end_lineno or 0)), default=None)
