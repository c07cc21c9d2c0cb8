"""Where the recorded source of a program catches an exception, so that it goes on."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from graphscope.diagnose.source.trees import tree_of

if TYPE_CHECKING:
    from graphscope.eventlog.names import Site
    from graphscope.eventlog.reader import Log

_LEAVING: Final = frozenset({"exit", "_exit", "quit", "abort"})


def is_handled_at(log: Log, site: Site) -> bool:
    """Whether a line stands in a `try` of its own function whose handlers all go on."""
    tree = tree_of(log.source(site.file))
    around = [each for each in ast.walk(tree) if isinstance(each, ast.Try) and _holds(each.body, site.line)]
    functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    inner = max((each.lineno for each in functions if _holds([each], site.line)), default=0)
    return any(
        each.lineno >= inner and each.handlers and not any(_leaves(handler) for handler in each.handlers)
        for each in around
    )


def _holds(body: Sequence[ast.stmt], line: int) -> bool:
    return any(each.lineno <= line <= (each.end_lineno or 0) for each in body)


def _leaves(handler: ast.ExceptHandler) -> bool:
    """Whether a handler may end the program."""
    nodes = [*ast.walk(handler)]
    calls = (each.func for each in nodes if isinstance(each, ast.Call))
    names = {getattr(each, "id", "") or getattr(each, "attr", "") for each in calls}
    return any(isinstance(each, ast.Raise) for each in nodes) or not names.isdisjoint(_LEAVING)
