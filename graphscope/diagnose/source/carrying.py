"""Which line of a program carries a state from one training step to the next."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from graphscope.diagnose.source.trees import tree_of

if TYPE_CHECKING:
    from graphscope.eventlog.names import Site
    from graphscope.eventlog.reader import Log

_FRESH: Final = frozenset({"zeros", "zeros_like", "new_zeros", "ones", "empty", "randn", "detach", "detach_"})
"""What is called where a state begins anew."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module


def carrying_line(log: Log, taking: Sequence[Site], stepping: Sequence[Site]) -> tuple[str, int] | None:
    """The line that stores the state, or the one in a loop over steps that passes the old one in; None if none does.

    Args:
        log: The log that holds the source.
        taking: The lines that led to the op that takes the old state, from the innermost outward.
        stepping: Those that led to the end of a step.
    """
    for site in taking:
        text = log.source(site.file)
        if text is None:
            continue
        stored = _stored(text, site)
        if stored:
            return site.file, stored
        ends = [each.line for each in stepping if (each.file, each.function) == (site.file, site.function)]
        if any(_in_one_loop(text, site.line, end) for end in ends):
            return site.file, site.line
    return None


def _in_one_loop(text: str, line: int, other: int) -> bool:
    loops = (each for each in ast.walk(tree_of(text)) if isinstance(each, (ast.For, ast.While, ast.AsyncFor)))
    return any(_holds(loop, line) and _holds(loop, other) for loop in loops)


def _holds(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _stored(text: str, site: Site) -> int:
    """Where an attribute that a line takes is stored anew with what was computed; 0 where none is, or several are."""
    taken = frozenset[str]().union(
        *(_values(statement) for statement in _statements(tree_of(text)) if _holds(statement, site.line))
    )
    here, found = set(), set()
    for function, statement, names in _stores(text):
        if names & taken:
            found.add(statement.lineno)
            if _holds(statement, site.line) or (isinstance(function, ast.stmt) and _holds(function, site.line)):
                here.add(statement.lineno)
    chosen = here or found
    return chosen.pop() if len(chosen) == 1 else 0


def _values(statement: ast.stmt) -> set[str]:
    """The attributes that a statement takes as values: neither to call them nor for what they hold."""
    nodes = [*ast.walk(statement)]
    others = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    others |= {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    return {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and id(node) not in others
    }


def _stores(text: str) -> Iterator[tuple[_Function, ast.stmt, frozenset[str]]]:
    """The statements that store something computed in attributes, behind the making of an object."""
    for function in ast.walk(tree_of(text)):
        if not isinstance(function, _Function) or getattr(function, "name", "") == "__init__":
            continue
        for statement in _statements(function):
            if not isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)) or statement.value is None:
                continue
            if _is_fresh(statement.value):
                continue
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            names = frozenset(
                node.attr
                for target in targets
                for node in ast.walk(target)
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
            )
            if names:
                yield function, statement, names


def _is_fresh(value: ast.expr) -> bool:
    """Whether a value has no graph: a constant, or what a call makes anew."""
    calls = [node for node in ast.walk(value) if isinstance(node, ast.Call)]
    names = {getattr(call.func, "attr", getattr(call.func, "id", "")) for call in calls}
    return bool(names & _FRESH) or not any(isinstance(node, (ast.Name, ast.Attribute)) for node in ast.walk(value))


def _statements(function: _Function) -> Iterator[ast.stmt]:
    """The simple statements of a function, without those of functions in it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, _Function | ast.ClassDef) and not isinstance(function, ast.Module):
            continue
        inner = [
            each
            for each in ast.iter_child_nodes(node)
            if isinstance(each, (ast.stmt, ast.ExceptHandler, ast.match_case))
        ]
        if inner:
            waiting += inner
        elif isinstance(node, ast.stmt):
            yield node
