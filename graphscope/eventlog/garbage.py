"""Python's search for garbage: it is to find no more work, and at no other moments, than if the program were alone."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def unsearched() -> Iterator[None]:
    """Nothing is searched while modules of ours are loaded, which keep what they make."""
    searches = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searches:
            gc.enable()


def leave_out() -> None:
    """Search nothing of what is there now, ever: the program is about to begin."""
    gc.freeze()


def take_in() -> None:
    """Let all objects be found again: Python does not look for what refers to something among those that it leaves out.

    The variables of the program's own module are among them, which was there before the program began.
    """
    gc.unfreeze()
