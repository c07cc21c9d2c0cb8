"""Places in the recorded source of a program that no row stands at: where a class sets an attribute, or mentions it."""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import TYPE_CHECKING

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
    found = set()
    for entry in log.table("sources"):
        try:
            tree = ast.parse(str(entry.get("text", ""))) if isinstance(entry, dict) else None
        except (SyntaxError, ValueError, RecursionError):
            return None  # it can't be ruled out
        for node in ast.walk(tree) if tree is not None else ():
            called = node.func if isinstance(node, ast.Call) else None
            name = (
                called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""
            )
            argument = node.args[0] if isinstance(node, ast.Call) and node.args else None
            is_meant = not given or (isinstance(argument, ast.Attribute) and argument.attr in given)
            if called is not None and name == function and is_meant:
                found.add((str(entry.get("file", "")), called.lineno))
    return found.pop() if len(found) == 1 else None


def only_assignment(log: Log, key: str) -> tuple[str, int] | None:
    """Where the recorded source assigns to an entry of a key: `group["lr"] = ...`; None where nowhere, or twice."""
    found = set()
    for entry in log.table("sources"):
        try:
            tree = ast.parse(str(entry.get("text", ""))) if isinstance(entry, dict) else None
        except (SyntaxError, ValueError, RecursionError):
            return None  # it can't be ruled out
        for node in ast.walk(tree) if tree is not None else ():
            targets = node.targets if isinstance(node, ast.Assign) else ()
            for target in targets:
                name = target.slice if isinstance(target, ast.Subscript) else None
                if isinstance(name, ast.Constant) and name.value == key:
                    found.add((str(entry.get("file", "")), target.lineno))
    return found.pop() if len(found) == 1 else None


def mentions(log: Log, attribute: str) -> int:
    """How often the recorded source may read an attribute of this name, also by a text."""
    count = 0
    for entry in log.table("sources"):
        try:
            tree = ast.parse(str(entry.get("text", ""))) if isinstance(entry, dict) else None
        except (SyntaxError, ValueError, RecursionError):
            return 1  # it can't be ruled out
        for node in ast.walk(tree) if tree is not None else ():
            is_read = isinstance(node, ast.Attribute) and node.attr == attribute and isinstance(node.ctx, ast.Load)
            is_text = isinstance(node, ast.Constant) and node.value == attribute
            count += is_read or is_text or (isinstance(node, ast.Name) and node.id == "getattr")
    return count


def _function(text: str | None, line: int) -> ast.FunctionDef | None:
    try:
        tree = ast.parse(text or "")
    except (SyntaxError, ValueError, RecursionError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            if first <= line <= node.lineno:
                return node
    return None
