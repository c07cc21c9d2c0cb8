"""Logs for commands to read: of one that is not all there it is said, on stderr."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from graphscope.eventlog.notices import say

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


def opened(path: Path) -> Log:
    """A log; a word about what is missing of it."""
    from graphscope.eventlog.reader import load
    from graphscope.eventlog.wholeness import cut

    log = load(path)
    if missing := cut(log):
        say_cut(str(path), missing)
    return log


def look_at(paths: Iterable[Path]) -> None:
    """Say of which logs something is missing."""
    for path in paths:
        opened(path)


def say_cut(name: str, missing: str) -> None:
    """Say what is missing of a log."""
    from graphscope.debugger.terminal_text import escape
    from graphscope.eventlog.wholeness import owned_up

    say(f"{escape(name)}: {owned_up(missing)}")
