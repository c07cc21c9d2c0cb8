"""The command `export`: the one place that knows both the debugger and the exporters."""

from __future__ import annotations

from typing import Any, Final

from graphscope.debugger.command_table import Rest, command
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.results import Message

VIEW: Final = "view:"
"""Ahead of a SPEC it names the way to draw."""


@command("export", group="looking")
def export(dbg: Debugger, path: str, spec: Rest = "") -> Message:
    """Draw the graph as it is now, or the nodes of a SPEC, to a file: `export g.svg`, `export g.dot backward`.

    The current node and the breakpoints are marked. The end of the file's name says what is made. `view:NAME` draws in
    another way (tensors, neurons, chain, memory, passes): `export g.svg view:chain name:w`.
    """
    from graphscope.exporters.export import export as write  # layout and pictures are loaded when one is asked for
    from graphscope.exporters.views.view_table import DEFAULT, view_by_name

    first, _, behind = spec.partition(" ")
    view, select = (first.removeprefix(VIEW), behind.strip()) if first.startswith(VIEW) else (DEFAULT, spec)
    marked = [found.spec for found in dbg.breakpoints if found.selector is not None]
    here: dict[str, Any] = {"at": dbg.now, "current": dbg.now, "breakpoints": marked}
    takes = view_by_name(view).takes
    told = {name: each for name, each in here.items() if name in takes}
    write(dbg.log, path, view=view, select=select or None, **told)
    return Message(f"Written to {path}")
