"""Which key means what: those of commands come from the table of commands, the others are told here."""

from __future__ import annotations

from typing import Final

from textual.binding import Binding

from graphscope.debugger import commands as commands  # fills the table
from graphscope.debugger.table import COMMANDS

_SHORT: Final = {"next": "next", "rn": "previous", "step": "into", "continue": "run", "rc": "run back", "other": "other side"}
"""Words for the footer; the rest is in the help."""

OF_COMMANDS: Final = tuple(
    Binding(
        entry.key,
        f"ask('{entry.name}')",
        _SHORT.get(entry.name, entry.name),
        id=f"command.{entry.name}",
        show=entry.name in _SHORT,
        tooltip=entry.doc.partition("\n")[0],
    )
    for entry in COMMANDS.values()
    if entry.key
)
"""Keys that carry out a command as it stands."""

OF_SCREEN: Final = (
    Binding("b", "prefill_break", "break", id="screen.break", tooltip="Begin a breakpoint at what the cursor is on"),
    Binding("B", "breakpoints", "Breakpoints", id="screen.breakpoints", show=False, tooltip="List the breakpoints"),
    Binding("slash", "search", "search", id="screen.search", key_display="/", tooltip="Search nodes by a SPEC"),
    Binding("colon", "prompt", "prompt", id="screen.prompt", key_display=":", tooltip="Type a command"),
    Binding("g", "prefill('goto ')", "Go to", id="screen.goto", show=False, tooltip="Go to a row, a name or a SPEC"),
    Binding("w", "prefill('watch ')", "Watch", id="screen.watch", show=False, tooltip="Watch an expression"),
    Binding("y", "ask('why')", "Why", id="screen.why", show=False, tooltip="Why is this gradient None, zero, not finite"),
    Binding("m", "toggle_map", "map", id="screen.map", tooltip="Show the neighbourhood of the node as a picture"),
    Binding("plus", "radius(1)", "Wider", id="screen.wider", show=False, key_display="+", tooltip="Widen the map"),
    Binding("minus", "radius(-1)", "Closer", id="screen.closer", show=False, key_display="-", tooltip="Narrow the map"),
    Binding("v", "look", "Look", id="screen.look", show=False, tooltip="Numbers, heatmap, histogram"),
    Binding("i", "slice", "Slice", id="screen.slice", show=False, tooltip="Choose a slice of the value: [0, :, 3:7]"),
    Binding("e", "export", "Export", id="screen.export", show=False, tooltip="Save a picture of the screen"),
    Binding("question_mark", "help", "help", id="screen.help", key_display="?", tooltip="All keys and commands"),
    Binding("q", "quit", "quit", id="screen.quit", tooltip="Leave"),
    *(
        Binding(str(place), f"tab('{name}')", name, id=f"screen.{name}", show=False, tooltip=f"Inspector: {name}")
        for place, name in enumerate(("formula", "value", "gradient", "about", "steps"), 1)
    ),
)
"""Keys of the screen itself."""
