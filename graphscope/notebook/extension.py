"""What IPython calls for `%load_ext graphscope`."""

from __future__ import annotations

from typing import Any

__all__ = ["load_ipython_extension"]


def load_ipython_extension(shell: Any) -> None:
    """Let a notebook know `%%graphscope`."""
    from graphscope.notebook.cell_magic import enter_magic  # it needs IPython

    enter_magic(shell)
