"""`%%graphscope`: a cell is recorded while it runs, and shown."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from IPython.core.error import UsageError
from IPython.display import display

from graphscope.errors import GraphscopeError
from graphscope.eventlog.reader import Log
from graphscope.eventlog.record import record
from graphscope.notebook import surroundings
from graphscope.notebook.cell import run
from graphscope.notebook.cell_options import cell_options
from graphscope.notebook.show import show

__all__ = ["enter_magic"]


class Shown:
    """The view of a recording in the output of a cell: at once where it can follow, else when all was recorded."""

    def __init__(self, log: Log, keep: Callable[[Any], None], **options: Any) -> None:
        self._log, self._keep, self._options = log, keep, options
        self._view: Any = None

    def begin(self) -> None:
        """Show what there is, and what comes."""
        if surroundings.has_widgets():
            self._view = show(self._log, **self._options)
            self._keep(self._view)
            self._place = display(self._view, display_id=True)

    def end(self) -> None:
        """Show all of the recording, which has ended."""
        try:
            if self._view is None:
                self._view = show(self._log, **self._options)
                self._keep(self._view)
                display(self._view)
            else:
                self._view.update()
                self._place.update(self._view)  # a notebook's file keeps what is shown without a kernel
        except GraphscopeError as error:
            sys.stderr.write(f"graphscope: {error}\n")


def enter_magic(shell: Any) -> None:
    """Let a notebook know `%%graphscope`."""

    def graphscope(line: str, cell: str) -> None:
        """Record the cell and show it: `%%graphscope [NAME] [OPTIONS]`.

        NAME is the variable that gets the view: `NAME.selected` is what is chosen in it, `NAME.thing` the recording.
        An exception of the cell shows as always, and what was recorded until then is shown as well.

        --height PIXELS              of the view
        --values full|summary|none   what is kept of values
        --capture LEVEL              of a framework's program: calls, calls+backward, ops, compiled
        --keep-last N                only the newest N training steps are kept
        --every N                    only each Nth training step is recorded
        --memory                     tell of memory, too
        """
        try:
            options = cell_options(line)
            recording = record(**options.recording)
            log = recording.__enter__()
        except GraphscopeError as error:
            raise UsageError(str(error)) from None

        def keep(view: Any) -> None:
            if options.name is not None:
                shell.user_ns[options.name] = view

        title = f"In[{shell.displayhook.prompt_count}]"
        shown = Shown(log, keep, title=title, height=options.height)
        with ExitStack() as stack:
            stack.callback(shown.end)
            stack.push(recording)  # it ends before all of it is shown
            shown.begin()
            run(shell, cell)

    shell.register_magic_function(graphscope, "cell", "graphscope")
