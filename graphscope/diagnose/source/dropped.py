"""Lines that compute something that the program never looks at again."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

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
        tree = _tree(log.source(site.file) or "")
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
    names = {node.id for target in statement.targets for node in ast.walk(target) if isinstance(node, ast.Name)}
    plain = all(isinstance(target, (ast.Name, ast.Tuple)) for target in statement.targets)
    others = [node for node in ast.walk(function) if isinstance(node, (ast.Global, ast.Nonlocal))]
    read = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return plain and not others and bool(names) and not names & (read | {"locals"})


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


@lru_cache(maxsize=32)
def _tree(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])
