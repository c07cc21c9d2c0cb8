"""Ways to the screen: a log."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from graphscope.debugger.session import Debugger
from graphscope.eventlog.reader import load
from graphscope.tui.prompt.history import FILE
from graphscope.tui.session import RecordedSession


def has_terminal() -> bool:
    """Whether there is a terminal that a screen can be drawn on."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def open_screen(path: str | os.PathLike[str]) -> int:
    """Look around in a log, finished or growing.

    Returns:
        The exit status.
    """
    session = RecordedSession(Debugger(load(path)))
    from graphscope.tui.app import GraphscopeApp  # Textual is loaded when it is known that the log can be read

    app = GraphscopeApp(load(path), session, history=_history())
    app.run()
    return app.return_code or 0


def _history() -> Path | None:
    try:
        return Path.home() / FILE
    except RuntimeError:
        return None
