"""Ways to the screen: a log, or a program that an adapter runs."""

from __future__ import annotations

import contextlib
import gc
import os
import shlex
import socket
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from graphscope.compare import Difference

_SELDOM: Final = 500
"""Searches for young garbage for one among all."""
_COLOURS: Final = ("auto", "standard", "256", "truecolor", "windows")
_GIVES_WAY: Final = 0.0005
"""Seconds until a thread that reads the log gives way to the one that draws."""
_WORKERS: Final = "OPENBLAS_THREAD_TIMEOUT"
"""The variable by which threads of OpenBLAS are told how long to wait for work on a processor before they sleep."""
_LOADING: Final = 0.0001
"""The same while modules are loaded: the thread that reads needs its turn often, each time for a moment."""


def has_terminal() -> bool:
    """Whether there is a terminal that a screen can be drawn on, or a browser behind `textual serve`."""
    return bool(os.environ.get("TEXTUAL_DRIVER")) or (_is_at_terminal() and not _is_dumb())


def is_wanted(*, console: bool) -> bool:
    """Whether to draw a screen; to who sits at a terminal that is said to draw none, that is told.

    Args:
        console: The prompt is asked for.
    """
    if not console and not has_terminal() and _is_at_terminal():
        sys.stderr.write(
            f"graphscope: TERM is {os.environ.get('TERM', 'unset')}, so this is the prompt; "
            "a terminal that can draw shows the screen with TERM=xterm-256color\n"
        )
    return has_terminal() and not console


def _is_at_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _is_dumb() -> bool:
    return os.environ.get("TERM", "dumb") == "dumb"


def open_screen(path: str | os.PathLike[str]) -> int:
    """Look around in a log, finished or growing.

    Returns:
        The exit status.
    """
    with _undisturbed():
        _load_numpy()
        from graphscope.tui.read_ahead import ReadAhead

        ahead = ReadAhead(path)
        from graphscope.debugger.debugger import Debugger  # these are loaded when it is known that the log can be read
        from graphscope.debugger.session_file import restore, save
        from graphscope.tui.app import GraphscopeApp
        from graphscope.tui.screen_session import RecordedSession
        from graphscope.tui.tour import is_first_time

        debugger = Debugger(ahead.ours)
        session = RecordedSession(debugger, restore(debugger))
        app = GraphscopeApp(
            ahead.shown, session, **_settings(), is_first_time=is_first_time(), finish_reading=ahead.finish
        )
    try:
        app.run()
    finally:
        save(debugger, session.arranged)
    return app.return_code or 0


def compare_screen(found: Difference) -> None:
    """Look at two runs side by side."""
    with _undisturbed():
        from graphscope.tui.chosen_theme import theme_file
        from graphscope.tui.comparison.comparison_app import ComparisonApp

        app = ComparisonApp(found, theme_file=theme_file())
    app.run()


def debug_screen(
    connection: socket.socket,
    name: str,
    wishes: dict[str, Any],
    *,
    breakpoints: Sequence[str] = (),
    commands: Sequence[str] = (),
) -> int:
    """Run a program, and step through its graph on the screen.

    Args:
        connection: A connection to a debug adapter.
        name: What the program is called.
        wishes: The arguments of the adapter's `launch`.
        breakpoints: What is given to `break` ahead of the first stop.
        commands: Commands that are carried out at the first stop.

    Returns:
        The exit status of the program, as a shell tells it; 0 when the person left it, 1 when it had failed.

    Raises:
        GraphscopeError: The program can't be started, or a breakpoint is not understood.
    """
    from graphscope.tui.live.program_session import ProgramSession

    session = ProgramSession(connection, name)
    try:
        session.launch(wishes, breakpoints, commands)
        with _undisturbed():
            from graphscope.tui.app import GraphscopeApp
            from graphscope.tui.tour import is_first_time

            is_new = not (breakpoints or commands) and is_first_time()
            app = GraphscopeApp(session.open_log(), session, **_settings(), is_first_time=is_new)
        app.run()
        if session.released:
            session.go_on(sys.stdout)
        status = _status(session.code) if session.code is not None else int(session.state == "failed")
    finally:
        session.close()
    if (kept := session.kept or session.named) is not None:
        with contextlib.suppress(OSError):  # the terminal may be gone
            sys.stderr.write(f"graphscope: the recording is {kept} (look: graphscope open {shlex.quote(str(kept))})\n")
    return app.return_code or status


def _status(code: int) -> int:
    """The exit status that a shell tells of a program: of one that a signal has killed, 128 and its number."""
    return code if code >= 0 else 128 - code


def _believe_terminal() -> None:
    """Ask the terminal alone how large it is: what a shell has exported may be of another one, or of another time.
    Of colours that there are not, it has those that it says.
    """
    if os.environ.get("TEXTUAL_COLOR_SYSTEM", "auto") not in _COLOURS:
        del os.environ["TEXTUAL_COLOR_SYSTEM"]
    with contextlib.suppress(OSError, ValueError, AttributeError):
        if all(os.get_terminal_size(sys.__stdout__.fileno())):  # type: ignore[union-attr]
            for name in ("COLUMNS", "LINES"):
                os.environ.pop(name, None)


def _load_numpy() -> None:
    """Load NumPy, with threads of its OpenBLAS that sleep at once while there is no work: else they go round for 0.1 s
    when they are made, on processors that the thread needs which reads the log.
    """
    is_set = _WORKERS in os.environ
    os.environ.setdefault(_WORKERS, "4")  # the least that it takes; programs that are run from here get none of it
    try:
        import numpy as numpy
    finally:
        if not is_set:
            del os.environ[_WORKERS]


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """No garbage is looked for until the first picture is drawn, nor ever in what is loaded, and seldom in all that
    lives long: that would cost a key 50 ms at times, so the screen does it while nobody presses one.
    Nor is a key held up by threads that read.
    """
    gc.disable()
    sys.setswitchinterval(_LOADING)
    _believe_terminal()
    try:
        yield
    finally:
        sys.setswitchinterval(_GIVES_WAY)
        gc.freeze()
        gc.set_threshold(*gc.get_threshold()[:2], _SELDOM)


def _settings() -> dict[str, Any]:
    """What a person has settled for every screen: keys, the theme, and lines typed before."""
    from graphscope.tui import key_table
    from graphscope.tui.chosen_theme import theme_file
    from graphscope.tui.key_file import keymap_file, read_keymap

    keymap = read_keymap(keymap_file(), key_table.everywhere())
    return {"history": _history(), "keymap": keymap, "theme_file": theme_file()}


def _history() -> Path | None:
    from graphscope.tui.prompt.history import FILE

    try:
        return Path.home() / FILE
    except RuntimeError:
        return None
