"""The names that programs give to parts of their run: each is a scope of the log."""

from __future__ import annotations

from contextlib import AbstractContextManager

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.core.module_scopes import scope

__all__ = ["record_function"]


def record_function(name: str, args: str | None = None) -> AbstractContextManager[None]:
    """Ops inside belong to the scope `name`; a context manager, and a decorator."""
    return scope(name, "record_function")


_answer_for(__name__)
