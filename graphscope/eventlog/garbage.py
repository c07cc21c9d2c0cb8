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


def grow_old() -> None:
    """Search what is there now when everything is searched, and not before: modules were loaded just now.

    Else what a recording makes in the program's first steps would have them all looked through.
    """
    if gc.get_freeze_count() == 0:  # else the program leaves out some of it
        gc.freeze()
        gc.unfreeze()


def leave_out() -> None:
    """Search nothing of what is there now, ever: the program is about to begin."""
    gc.freeze()


def take_in() -> None:
    """Let all objects be found again: Python does not look for what refers to something among those that it leaves out.

    The variables of the program's own module are among them, which was there before the program began.
    """
    gc.unfreeze()
