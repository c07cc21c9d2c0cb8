"""What a view would be shown in: which notebook runs, and whether somebody sits at it."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Any

__all__ = ["has_widgets", "shell"]


def shell() -> Any:
    """IPython, where it runs; else None."""
    return sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None


def has_widgets() -> bool:
    """Whether a widget can be shown, and somebody sits there whom it could be shown to.

    Who runs a notebook from end to end can't be asked for input, and what is chosen in a widget would go nowhere.
    """
    if find_spec("anywidget") is None:
        return False
    kernel = getattr(shell(), "kernel", None)
    return kernel is None or bool(kernel.get_parent().get("content", {}).get("allow_stdin", True))
