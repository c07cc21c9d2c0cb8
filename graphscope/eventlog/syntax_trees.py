"""Syntax trees of the program's text, made by one thread at a time.

CPython 3.11 counts how deep it is in a tree once for all threads: of two that make trees at a time, both may fail with
`SystemError: AST constructor recursion depth mismatch` (https://github.com/python/cpython/issues/106905). Where the
program makes one, too, this one is made again.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from threading import RLock
from typing import Final, TypeVar

_Tree = TypeVar("_Tree")
_ALONE: Final = RLock()  # a signal handler may come in the middle of one
_TIMES: Final = 5


def module_tree(text: str | bytes) -> ast.Module:
    """The tree of a module.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: As of `ast.parse`.
    """
    return _made(lambda: ast.parse(text))


def expression_tree(text: str) -> ast.Expression:
    """The tree of an expression.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: As of `ast.parse`.
    """
    return _made(lambda: ast.parse(text, mode="eval"))


def _made(make: Callable[[], _Tree]) -> _Tree:
    with _ALONE:
        for _ in range(_TIMES):
            try:
                return make()
            except SystemError:
                continue
        return make()
