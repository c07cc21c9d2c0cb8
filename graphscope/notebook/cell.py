"""Running a cell inside of a magic as a notebook runs it: its last value is shown, its exceptions look as always."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["run"]


def run(shell: Any, cell: str) -> None:
    """Run a cell in the notebook's names.

    Args:
        shell: The notebook's IPython.
        cell: The text of the cell.
    """
    text = "# %%graphscope\n" + shell.transform_cell(cell)  # lines have the numbers that a person sees
    number = shell.displayhook.prompt_count
    file = shell.compile.cache(text, number, raw_code=text)  # from where tracebacks read its lines
    tree = shell.transform_ast(shell.compile.ast_parse(text, filename=file))
    last = [tree.body.pop()] if tree.body and isinstance(tree.body[-1], ast.Expr) else []
    with _as_always(shell):
        for part, mode in ((tree, "exec"), (ast.Interactive(last), "single")):
            if part.body:
                exec(shell.compile(part, file, mode), shell.user_ns)  # noqa: S102 - what a person has asked to run


@contextmanager
def _as_always(shell: Any) -> Iterator[None]:
    """Let IPython show an exception as if the cell had no magic above it: from its own line on."""
    try:
        yield
    except (Exception, KeyboardInterrupt) as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_globals is not shell.user_ns:
            trace = trace.tb_next
        lines = shell.InteractiveTB.structured_traceback(type(error), error, trace)
        error._render_traceback_ = lambda: lines  # type: ignore[union-attr]
        raise
