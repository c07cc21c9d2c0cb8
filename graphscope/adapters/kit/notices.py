"""Notices of a recording: a sentence on standard error, or a warning where something was left behind."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable

from graphscope.eventlog.notices import say as say


def opens_all(framework: str, capture: str) -> None:
    """Say of a framework whose compiled functions are always opened that the level which leaves them is not had."""
    if capture == "compiled":
        say(f"{framework} has no level `compiled`: what it compiles is recorded call by call")


def left_changed(framework: str, error: Exception) -> None:
    """Say that something of a framework could not be put back as it was."""
    then = "start the program anew where it behaves otherwise than before"
    warn(f"leaving {framework} as it was failed", error, then)


def warn(what: str, error: Exception, then: str) -> None:
    """Tell of an error of ours, where it was raised, and what becomes of the program."""
    trace = traceback.extract_tb(error.__traceback__)
    place = f" at {trace[-1].filename}:{trace[-1].lineno}" if trace else ""  # compiled code has no lines
    text = f"{what}{place}: {type(error).__name__}: {error}; {then}"
    try:
        warnings.warn(f"graphscope: {text}", RuntimeWarning, stacklevel=4)
    except RuntimeWarning:
        unheard(text)


unheard: Callable[[str], None] = say
"""What is done with a warning where a program lets warnings be errors: ours is no error of the program's."""
