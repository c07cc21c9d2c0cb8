"""`%%graphscope`: a cell is recorded while it runs, and shown."""

from __future__ import annotations

import argparse
import shlex
import sys
from contextlib import ExitStack
from typing import Any, Final, NoReturn

from IPython.core.error import UsageError
from IPython.display import display

from graphscope.errors import GraphscopeError
from graphscope.eventlog.reader import Log
from graphscope.eventlog.record import CAPTURES, record
from graphscope.notebook import surroundings
from graphscope.notebook.cell import run
from graphscope.notebook.show import show

__all__ = ["enter_magic"]


class Parser(argparse.ArgumentParser):
    """The words behind `%%graphscope`; what is wrong with them is said in a line."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"%%graphscope: {message}; %%graphscope? tells what it takes")


PARSER: Final = Parser(prog="%%graphscope", add_help=False, allow_abbrev=False)
PARSER.add_argument("name", nargs="?")
PARSER.add_argument("--values", choices=("full", "summary", "none"), default="full")
PARSER.add_argument("--capture", choices=CAPTURES, default="calls+backward")
PARSER.add_argument("--steps", type=int)
PARSER.add_argument("--memory", action="store_true")
PARSER.add_argument("--height", type=int, default=560)


class Shown:
    """The view of a recording in the output of a cell: at once where it can follow, else when all was recorded."""

    def __init__(self, log: Log, options: dict[str, Any]) -> None:
        self._log, self._options = log, options
        self.view: Any = None
        if surroundings.has_widgets():
            self.view = show(log, **options)
            self._place = display(self.view, display_id=True)

    def end(self) -> None:
        """Show all of the recording, which has ended."""
        try:
            if self.view is None:
                self.view = show(self._log, **self._options)
                display(self.view)
            else:
                self.view.update()
                self._place.update(self.view)  # a notebook's file keeps what is shown without a kernel
        except GraphscopeError as error:
            sys.stderr.write(f"graphscope: {error}\n")


def enter_magic(shell: Any) -> None:
    """Let a notebook know `%%graphscope`."""

    def graphscope(line: str, cell: str) -> None:
        """Record the cell and show it: `%%graphscope [NAME] [OPTIONS]`.

        NAME is the variable that gets the view: `NAME.selected` is what is chosen in it, `NAME.thing` the recording.
        An exception of the cell shows as always, and what was recorded until then is shown as well.

        --values full|summary|none   what is kept of values
        --capture LEVEL              of a framework's program: calls, calls+backward, ops, compiled
        --steps N                    only the newest N training steps are kept
        --memory                     tell of memory, too
        --height PIXELS              of the view
        """
        options = vars(PARSER.parse_args(shlex.split(line)))
        name, height = options.pop("name"), options.pop("height")
        if name is not None and not name.isidentifier():
            raise UsageError(f"%%graphscope: {name!r} is no name for a variable; %%graphscope? tells what it takes")
        recording = record(**options)
        try:
            log = recording.__enter__()
        except GraphscopeError as error:
            raise UsageError(str(error)) from None
        shown = Shown(log, {"title": f"In[{shell.displayhook.prompt_count}]", "height": height})
        try:
            with ExitStack() as stack:
                stack.push(recording)
                if name is not None:
                    shell.user_ns[name] = shown.view
                run(shell, cell)
        finally:
            shown.end()
            if name is not None:
                shell.user_ns[name] = shown.view

    shell.register_magic_function(graphscope, "cell", "graphscope")
