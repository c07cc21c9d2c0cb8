"""Loops by the source text: which loops a line lies in, and what each of them counts with."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from graphscope.eventlog.source_blocks import function_block, statement_block
from graphscope.eventlog.source_texts import lines_of
from graphscope.eventlog.syntax_trees import module_tree

_Loop = ast.For | ast.AsyncFor | ast.While
_Own = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda


_LOOP: Final = re.compile(r"\b(for|while)\b")
"""What stands ahead of each line in a loop."""


@dataclass(frozen=True, slots=True)
class Counter:
    """A variable that counts the turns of a loop."""

    name: str
    """As the program writes it: `step`, `self.step`."""
    ahead: int
    """What is to be added to its value at the line for the number that the program prints."""


def counters_at(text: str, line: int, first: int = 0) -> tuple[tuple[Counter, ...], ...]:
    """What each loop around a line may count with, best first; the outermost loop first.

    Args:
        text: The text of the file.
        line: The line.
        first: The one in which the function around it begins; 0 where there is none.
    """
    tree = _around(text, line, first) or _tree(text)
    found: list[tuple[Counter, ...]] = []
    body: list[ast.stmt] = [] if tree is None else tree.body
    while True:
        statement = next((each for each in body if _holds(each, line)), None)
        if statement is None:
            return tuple(found)
        if isinstance(statement, _Own):
            found.clear()
        body = _part(statement, line)
        if isinstance(statement, _Loop) and body is statement.body:
            found.append(tuple(_counters(statement, line)))


def _around(text: str, line: int, first: int) -> ast.Module | None:
    """What is around a line, parsed alone at its place; None where it takes the whole text, and longer."""
    lines = lines_of(text)
    block: Sequence[str] | None
    is_function = first > 0
    if is_function:
        block = function_block(lines, first)
    else:
        first, block = statement_block(lines, line)
    if block is None or not first <= line < first + len(block):
        return None
    if is_function and not any(map(_LOOP.search, block[: line - first + 1])):  # which takes a tenth of the time
        return ast.Module([], [])
    inside = ["if True:"] if block[0][:1].isspace() else []
    return _parsed("\n".join([*[""] * (first - 1 - len(inside)), *inside, *block]))


@lru_cache(maxsize=16)
def _tree(text: str) -> ast.Module | None:
    """That of a whole text, kept for its other lines."""
    return _parsed(text)


def _parsed(text: str) -> ast.Module | None:
    try:
        return module_tree(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _holds(statement: ast.stmt, line: int) -> bool:
    return statement.lineno <= line <= (statement.end_lineno or statement.lineno)


def _part(statement: ast.stmt, line: int) -> list[ast.stmt]:
    """The block in a statement that holds a line."""
    return next((part for part in _parts(statement) if part[0].lineno <= line <= (part[-1].end_lineno or 0)), [])


def _parts(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The blocks in a statement."""
    for field in ("body", "orelse", "finalbody"):
        part = getattr(statement, field, None)
        if isinstance(part, list) and part:
            yield part
    for each in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield each.body


def _counters(loop: _Loop, line: int) -> Iterator[Counter]:
    """The variables that count the turns of a loop: those that it tells the program's reader of come first."""
    found: dict[str, tuple[int, int]] = {}
    if not isinstance(loop, ast.While):
        found = dict.fromkeys(_targets(loop), (0, 0))
    increments = _increments(loop, line)
    tested = {_plain(each) for each in ast.walk(loop.test)} if isinstance(loop, ast.While) else set()
    for name in sorted(increments, key=lambda each: (each not in tested, not _is_counting(each))):
        found.setdefault(name, increments[name])
    told = _told(loop, found)
    for name in sorted(found, key=lambda each: each not in told):
        at, amount = found[name]
        shown, offset = told.get(name, (line, 0))
        yield Counter(name, offset + amount * ((at < shown) - (at < line)) if amount else offset)


def _targets(loop: ast.For | ast.AsyncFor) -> Iterator[str]:
    """The variables of a `for` that count: of `range`, of `enumerate`, or by their names."""
    calls = {_called(each) for each in ast.walk(loop.iter) if isinstance(each, ast.Call)}
    several = isinstance(loop.target, ast.Tuple | ast.List)
    targets = loop.target.elts if isinstance(loop.target, ast.Tuple | ast.List) else [loop.target]
    for place, target in enumerate(targets):
        name = _plain(target)
        is_counted = bool(calls & _COUNTING) and (not several or not calls & {"enumerate"} or place == 0)
        if name and (is_counted or (several and place == 0 and "enumerate" in calls) or _is_counting(name)):
            yield name


def _increments(loop: _Loop, line: int) -> dict[str, tuple[int, int]]:
    """The variables that grow by as much whenever the line runs: where, and by how much."""
    found: dict[str, tuple[int, int]] = {}
    for statement in _together(loop.body, line):
        name, amount = "", None
        if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
            name, amount = _plain(statement.target), _integer(statement.value)
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            name, (base, amount) = _plain(statement.targets[0]), _sum(statement.value)
            name = name if base == name else ""
        if name and amount:
            found[name] = statement.lineno, amount
    return found


def _together(body: list[ast.stmt], line: int) -> Iterator[ast.stmt]:
    """The statements of a block that run whenever a line in it does."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.With | ast.AsyncWith | ast.Try):
            yield from _together(statement.body, line)
        elif isinstance(statement, ast.If) and _holds(statement, line):
            yield from _together(_part(statement, line), line)


def _told(loop: _Loop, names: dict[str, tuple[int, int]]) -> dict[str, tuple[int, int]]:
    """Of the variables that a loop prints: where it first does so, and how much more than their value it prints."""
    found: dict[str, tuple[int, int]] = {}
    for node in _inside(loop.body):
        if isinstance(node, ast.Call) and _called(node) in _TELLING:
            for name, more in _values([*node.args, *(each.value for each in node.keywords)]):
                if name in names:
                    found.setdefault(name, (node.lineno, more))
    return found


def _values(waiting: list[ast.expr]) -> Iterator[tuple[str, int]]:
    """The variables in expressions, each with what is added to it."""
    for node in waiting:
        name, more = _sum(node)
        if name and more is not None:
            yield name, more
        elif not isinstance(node, ast.Compare | ast.Subscript):
            inner = (each.value if isinstance(each, ast.keyword) else each for each in ast.iter_child_nodes(node))
            yield from _values([each for each in inner if isinstance(each, ast.expr)])


def _inside(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """What stands in a block, in its order; not what stands in functions and classes in it."""
    waiting: list[ast.AST] = [*reversed(body)]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _Own):
            waiting += reversed([*ast.iter_child_nodes(node)])


def _sum(node: ast.expr) -> tuple[str, int | None]:
    """The variable and the number of `step + 1`; of `step` alone, 0."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        sign = 1 if isinstance(node.op, ast.Add) else -1
        for one, other in ((node.left, node.right), (node.right, node.left)[:: 1 if sign > 0 else -1]):
            amount = _integer(other)
            if _plain(one) and amount is not None:
                return _plain(one), sign * amount
        return "", None
    name = _plain(node)
    return name, 0 if name else None


def _integer(node: ast.expr) -> int | None:
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def _plain(node: ast.AST) -> str:
    """`step`, `self.step`; empty for all else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return ""


def _called(node: ast.Call) -> str:
    return getattr(node.func, "id", "") or getattr(node.func, "attr", "")


def _is_counting(name: str) -> bool:
    parts = name.rpartition(".")[2].lower().split("_")
    return not _WORDS.isdisjoint(parts)


_COUNTING: Final = frozenset({"range", "trange", "count", "arange"})
_WORDS: Final = frozenset({"step", "steps", "epoch", "batch", "iteration", "iter", "it", "episode", "round"})
_TELLING: Final = frozenset(
    {"print", "info", "debug", "warning", "write", "log", "set_description", "set_postfix", "add_scalar"}
)
"""Functions that show a person what they are given."""
