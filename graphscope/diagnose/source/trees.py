"""The recorded source of a program as trees of syntax; each text is read once."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING

from graphscope.eventlog.syntax_trees import module_tree

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


@lru_cache(maxsize=512)  # a program that trains a model of a library leads through a hundred files
def parsed(text: str) -> ast.Module | None:
    """The tree of a text; None where that is not Python."""
    try:
        return module_tree(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def tree_of(text: str | None) -> ast.Module:
    """The same, empty where the text is not Python, or there is none."""
    return parsed(text or "") or ast.Module([], [])


def trees(log: Log) -> list[tuple[str, ast.Module]] | None:
    """File and tree of all that a log holds of the program; None where some of that is not Python: what it does can't
    be ruled out then.
    """
    found = []
    for entry in log.table("sources"):
        if isinstance(entry, dict):
            tree = parsed(str(entry.get("text", "")))
            if tree is None:
                return None
            found.append((str(entry.get("file", "")), tree))
    return found
