"""Places in the recorded source of a program that no row stands at: where a class sets an attribute, or mentions it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

from graphscope.diagnose.source.trees import tree_of, trees

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


def attribute_place(log: Log, file: str, line: int, attribute: str) -> tuple[str, int] | None:
    """Where the function at a line sets an attribute of its first argument; None where the source does not say.

    Args:
        log: The log that holds the source.
        file: The file.
        line: Where the function begins, its decorators included.
        attribute: The attribute.
    """
    function = _function(log.source(file), line)
    if function is None or not function.args.args:
        return None
    own = function.args.args[0].arg
    for node in ast.walk(function):
        if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Store) or node.attr != attribute:
            continue
        if isinstance(node.value, ast.Name) and node.value.id == own:
            return file, node.lineno
    return None


def only_call(log: Log, function: str, given: Collection[str] = ()) -> tuple[str, int] | None:
    """Where the recorded source calls a function or method of a name; None where it does so nowhere, or twice.

    Args:
        log: The log that holds the source.
        function: The name.
        given: Counted are calls whose first argument has one of these names; all, where there are none.
    """

    def is_meant(node: ast.Call) -> bool:
        argument = node.args[0] if node.args else None
        return not given or (isinstance(argument, ast.Attribute) and argument.attr in given)

    def called(node: ast.AST) -> list[ast.expr]:
        if not isinstance(node, ast.Call):
            return []
        name = getattr(node.func, "id", "") or getattr(node.func, "attr", "")
        return [node.func] if name == function and is_meant(node) else []

    return _only_line(log, called)


def only_mention(log: Log, method: str) -> tuple[str, int] | None:
    """Where a line of the recorded source names a method and does nothing with it; None where none does, or two."""

    def named(node: ast.AST) -> list[ast.expr]:
        value = node.value if isinstance(node, ast.Expr) else None
        return [value] if isinstance(value, ast.Attribute) and value.attr == method else []

    return _only_line(log, named)


def only_dropped_call(log: Log, method: str) -> tuple[str, int] | None:
    """Where a line of the recorded source calls a method and drops what it returns; None where none does, or two."""

    def dropped(node: ast.AST) -> list[ast.expr]:
        call = node.value if isinstance(node, ast.Expr) else None
        return [call] if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == method else []

    return _only_line(log, dropped)


def only_assignment(log: Log, key: str) -> tuple[str, int] | None:
    """Where the recorded source assigns to an entry of a key: `group["lr"] = ...`; None where nowhere, or twice."""

    def is_key(index: ast.expr) -> bool:
        return isinstance(index, ast.Constant) and bool(index.value == key)

    def assigned(node: ast.AST) -> list[ast.expr]:
        targets = node.targets if isinstance(node, ast.Assign) else []
        return [each for each in targets if isinstance(each, ast.Subscript) and is_key(each.slice)]

    return _only_line(log, assigned)


def is_behind_the_loop(log: Log, inside: tuple[str, int], place: tuple[str, int]) -> bool:
    """Whether one line comes behind the loop that another stands in, in the same file."""
    file, line = inside
    loops = [each for each in ast.walk(tree_of(log.source(file))) if isinstance(each, ast.For | ast.While)]
    around = [each for each in loops if each.lineno <= line <= (each.end_lineno or 0)]
    innermost = max(around, key=lambda each: each.lineno, default=None)
    return file == place[0] and innermost is not None and place[1] > (innermost.end_lineno or 0)


def _only_line(log: Log, meant: Callable[[ast.AST], Iterable[ast.expr]]) -> tuple[str, int] | None:
    """The one line of the recorded source that holds what is meant; None where none does, or several do."""
    known = trees(log)
    if known is None:
        return None
    found = {(file, each.lineno) for file, tree in known for node in ast.walk(tree) for each in meant(node)}
    return found.pop() if len(found) == 1 else None


def mentions(log: Log, attribute: str) -> int:
    """How often the recorded source may read an attribute of this name, also by a text."""
    known = trees(log)
    if known is None:
        return 1  # it can't be ruled out
    count = 0
    for _, tree in known:
        for node in ast.walk(tree):
            is_read = isinstance(node, ast.Attribute) and node.attr == attribute and isinstance(node.ctx, ast.Load)
            is_text = isinstance(node, ast.Constant) and node.value == attribute
            count += is_read or is_text or (isinstance(node, ast.Name) and node.id == "getattr")
    return count


def _function(text: str | None, line: int) -> ast.FunctionDef | None:
    for node in ast.walk(tree_of(text)):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            if first <= line <= node.lineno:
                return node
    return None
