"""The command `export`: the one place that knows both the debugger and the exporters."""

from __future__ import annotations

from graphscope.debugger.command_table import Rest, command
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.results import Message


@command("export", group="looking")
def export(dbg: Debugger, path: str, spec: Rest = "") -> Message:
    """Draw the graph as it is now, or the nodes of a SPEC, to a file: `export g.svg`, `export g.dot backward`.

    The current node and the breakpoints are marked. The end of the file's name says what is made.
    """
    from graphscope.exporters.export import export as write  # layout and pictures are loaded when one is asked for

    marked = [found.spec for found in dbg.breakpoints if found.selector is not None]
    write(dbg.log, path, select=spec or None, at=dbg.now, current=dbg.now, breakpoints=marked)
    return Message(f"Written to {path}")
