"""What a recording says to a person: a sentence on standard error, where that can be."""

from __future__ import annotations

import sys

from graphscope.eventlog.interruptions import forgiving


def say(text: str) -> None:
    """Tell a person something that is not worth a warning; there may be nobody to read it."""
    # A program may have closed it, or be in the middle of a print of its own.
    with forgiving(OSError, ValueError, RuntimeError, AttributeError):
        sys.stderr.write(f"graphscope: {text}\n")
