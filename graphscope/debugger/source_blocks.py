"""What source text says of a module or a function: its variables, and which statements run ahead of a line."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from graphscope.eventlog.syntax_trees import module_tree

if TYPE_CHECKING:
    from graphscope.eventlog.names import Site

MODULE: Final = "<module>"

_Function = ast.FunctionDef | ast.AsyncFunctionDef
Block = ast.Module | _Function
"""What has variables of its own."""


@lru_cache(maxsize=64)
def _tree(text: str) -> ast.Module | None:
    try:
        return module_tree(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def block_at(text: str, function: str, line: int) -> Block | None:
    """The module, or the function of a qualified name that holds a line."""
    tree = _tree(text) if text else None
    if tree is None or function == MODULE:
        return tree
    name = function.rpartition(".")[2]
    held = (
        node
        for node in ast.walk(tree)
        if isinstance(node, _Function) and node.name == name and node.lineno <= line <= last_line(node)
    )
    return max(held, key=lambda node: node.lineno, default=None)


def ahead_of(block: Block, line: int) -> Iterator[ast.stmt]:
    """The statements that have run ahead of a line whenever it runs: those before it in its block, and those around."""
    body: list[ast.stmt] = block.body
    while body:
        inner: list[ast.stmt] = []
        for statement in body:
            if statement.lineno <= line <= last_line(statement):
                inner = next((part for part in _parts(statement) if part[0].lineno <= line <= last_line(part[-1])), [])
                break
            if statement.lineno > line:
                break
            yield statement
        body = inner


def _parts(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The blocks in a statement."""
    for field in ("body", "orelse", "finalbody"):
        part = getattr(statement, field, None)
        if isinstance(part, list) and part:
            yield part
    for handler in getattr(statement, "handlers", ()):
        yield handler.body
    for case in getattr(statement, "cases", ()):
        yield case.body


def is_plain(statement: ast.stmt) -> bool:
    """Whether a statement computes the same whenever it runs: no branch is in it."""
    branches = (ast.IfExp, ast.BoolOp, ast.comprehension, ast.Lambda)
    simple = isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr | ast.Return)
    return simple and not any(isinstance(node, branches) for node in ast.walk(statement))


def bindings(block: Block) -> dict[str, list[int]]:
    """The lines of the statements that bind each variable of a block."""
    lines = statement_lines(block)
    found: dict[str, list[int]] = {}
    for node in _own(block):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.setdefault(node.id, []).append(lines.get(node.lineno, node.lineno))
    return found


def statement_lines(block: Block) -> dict[int, int]:
    """For each line of a block, the first line of the innermost statement that it belongs to."""
    found: dict[int, int] = {}
    for node in _own(block):
        if isinstance(node, ast.stmt):
            found |= dict.fromkeys(range(node.lineno, last_line(node) + 1), node.lineno)
    return found


@lru_cache(maxsize=64)
def first_lines(text: str) -> dict[int, int]:
    """For each line of a file, the first line of the innermost statement that it belongs to."""
    tree = _tree(text)
    found: dict[int, int] = {}
    for node in () if tree is None else ast.walk(tree):  # what is around comes first
        if isinstance(node, ast.stmt):
            found |= dict.fromkeys(range(node.lineno, last_line(node) + 1), node.lineno)
    return found


def own_names(block: Block) -> set[str]:
    """The names that are a function's own: its parameters, and whatever it binds."""
    arguments = () if isinstance(block, ast.Module) else ast.walk(block.args)
    return {*bindings(block), *(node.arg for node in arguments if isinstance(node, ast.arg))}


def names_read(block: Block) -> set[str]:
    """The names that a block reads."""
    return {node.id for node in _own(block) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def operand_names(text: str, site: Site, op: str, count: int) -> list[str]:
    """The plain names that are the operands of an op, in its order; none where the expression does not say it."""
    place = site.line, site.column, site.end_line, site.end_column
    expression = _expressions(text).get(place)
    match expression:
        case ast.BinOp(left=left, right=right):
            operands = [left, right]
        case ast.UnaryOp(operand=operand):
            operands = [operand]
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args, keywords=[]) if name.rstrip("_") == op:
            operands = [owner, *args] if len(args) + 1 == count else args
        case _:
            return []
    if len(operands) != count:
        return []
    return [operand.id if isinstance(operand, ast.Name) else "" for operand in operands]


@lru_cache(maxsize=64)
def _expressions(text: str) -> dict[tuple[int, int, int, int], ast.expr]:
    tree = _tree(text)
    nodes = () if tree is None else ast.walk(tree)
    found = (node for node in nodes if isinstance(node, ast.BinOp | ast.UnaryOp | ast.Call))
    return {(node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0): node for node in found}


@lru_cache(maxsize=64)
def calls_by_end(text: str) -> dict[tuple[int, int], ast.Call]:
    """The calls of a file by where they end: no two do so at one place, while Python says of some that they begin late.

    So it says of the call of a method whose name is not in the line where its object begins.
    """
    tree = _tree(text)
    nodes = () if tree is None else ast.walk(tree)
    return {(node.end_lineno or 0, node.end_col_offset or 0): node for node in nodes if isinstance(node, ast.Call)}


def _own(block: Block) -> Iterator[ast.AST]:
    """What stands in a block itself, not in the functions and classes in it; what is around comes first."""
    waiting: deque[ast.AST] = deque(block.body)
    while waiting:
        node = waiting.popleft()
        yield node
        if not isinstance(node, _Function | ast.ClassDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))


def last_line(node: ast.stmt) -> int:
    """The last line of a statement."""
    return node.end_lineno or node.lineno
