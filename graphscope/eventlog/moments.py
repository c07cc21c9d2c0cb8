"""What makes a recording that keeps the newest steps hold these, and record the next ones in full."""

from __future__ import annotations

from typing import Final

from graphscope.errors import LogError

MOMENTS: Final = {
    "nan": "the loss is NaN or Inf for the first time",
    "signal": "SIGUSR1 comes",
    "exception": "an exception ends the program: what is kept then stays in any case",
    "finding": "the doctor finds something that it has not found before, in a process of its own beside the program",
}
"""What each word of `on` means."""

USUAL: Final = "nan|signal|exception"


def moments(words: str) -> frozenset[str]:
    """Those that are asked for, as `finding|signal`.

    Raises:
        LogError: There is no such moment.
    """
    asked = frozenset(filter(None, words.split("|")))
    if unknown := sorted(asked - MOMENTS.keys()):
        raise LogError(
            f"there is no moment {unknown[0]!r} to hold steps at", hint=f"join some of {', '.join(MOMENTS)} by |"
        )
    return asked
