"""Which key means what: those of commands and panels come from their tables, the others stand here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from textual.binding import Binding

from graphscope import exporting as exporting  # its command enters the table
from graphscope.debugger import commands as commands  # fills the table
from graphscope.debugger.command_table import COMMANDS
from graphscope.tui.inspector import panel_table

_SHORT: Final = {
    "next": "next",
    "rn": "previous",
    "step": "into",
    "continue": "run",
    "rc": "run back",
    "other": "other side",
}
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

_OF_SCREEN: Final = (
    Binding("tab", "region(1)", "Next region", id="screen.region", show=False, tooltip="Go to the next region"),
    Binding(
        "shift+tab",
        "region(-1)",
        "Region before",
        id="screen.region-before",
        show=False,
        tooltip="Go to the one before",
    ),
    Binding("b", "prefill_break", "break", id="screen.break", tooltip="Begin a breakpoint at what the cursor is on"),
    Binding("B", "list('breakpoints')", "Breakpoints", id="screen.breakpoints", show=False, tooltip="List breakpoints"),
    Binding(
        "F",
        "findings",
        "findings",
        id="screen.findings",
        show=False,
        tooltip="What is wrong, where, why, and what to do about it; once more closes it",
    ),
    Binding(
        "f", "next_finding", "Next finding", id="screen.next-finding", show=False, tooltip="Go to the next finding"
    ),
    Binding("W", "list('watches')", "Watches", id="screen.watches", show=False, tooltip="List the watches"),
    Binding("R", "list('ranks')", "Ranks", id="screen.ranks", show=False, tooltip="Turn to another rank of the run"),
    Binding("M", "ask('checkpoint')", "Bookmark", id="screen.bookmark", show=False, tooltip="Remember this place"),
    Binding(
        "'",
        "list('bookmarks')",
        "Bookmarks",
        id="screen.bookmarks",
        show=False,
        key_display="'",
        tooltip="List the bookmarks",
    ),
    Binding(
        "N",
        "search_back",
        "Match before",
        id="screen.search-back",
        show=False,
        tooltip="In a search: the match before this; n is the next, Esc ends it",
    ),
    Binding(
        "escape", "close", "Close", id="screen.close", show=False, tooltip="End the search, then close the findings"
    ),
    Binding(
        "ctrl+c",
        "interrupt",
        "Interrupt",
        id="screen.interrupt",
        show=False,
        tooltip="Stop the program that runs, or a long search",
    ),
    Binding(
        "/",
        "search",
        "search",
        id="screen.search",
        key_display="/",
        tooltip="Search a text in names, ops, modules, lines, shapes; or a SPEC",
    ),
    Binding(":", "prompt", "prompt", id="screen.prompt", key_display=":", tooltip="Type a command"),
    Binding("g", "prefill('goto ')", "Go to", id="screen.goto", show=False, tooltip="Go to a row, a name or a SPEC"),
    Binding("w", "prefill('watch ')", "Watch", id="screen.watch", show=False, tooltip="Watch an expression"),
    Binding(
        "y", "ask('why')", "Why", id="screen.why", show=False, tooltip="Why is this gradient None, zero, not finite"
    ),
    Binding("t", "program", "Program", id="screen.program", show=False, tooltip="The program's own terminal, and back"),
    Binding("ctrl+t", "program", "Program", id="screen.program-back", show=False, tooltip="The same, while typing"),
    Binding(
        "=", "edit", "Edit", id="screen.edit", show=False, key_display="=", tooltip="Change what the program waits with"
    ),
    Binding(
        "m",
        "toggle_map",
        "map",
        id="screen.map",
        tooltip="Show the neighbourhood of the node as a picture, then the modules, then neither",
    ),
    Binding("D", "drawing", "drawing", id="screen.drawing", tooltip="Draw the map as an image, or in boxes"),
    Binding("P", "path", "Path", id="screen.path", show=False, tooltip="Map: path to the loss, to a leaf, or none"),
    Binding("+", "radius(1)", "Wider", id="screen.wider", show=False, key_display="+", tooltip="Widen the map"),
    Binding("-", "radius(-1)", "Closer", id="screen.closer", show=False, key_display="-", tooltip="Narrow the map"),
    Binding(
        ".", "timeline(1)", "Near", id="screen.timeline-in", show=False, key_display=".", tooltip="Timeline: zoom in"
    ),
    Binding(
        "comma",
        "timeline(-1)",
        "Farther",
        id="screen.timeline-out",
        show=False,
        key_display=",",
        tooltip="Timeline: zoom out",
    ),
    Binding("v", "look", "Look", id="screen.look", show=False, tooltip="Numbers, heatmap, histogram"),
    Binding(
        "<",
        "compare(-1)",
        "Older",
        id="screen.older",
        show=False,
        key_display="<",
        tooltip="Compare with an older step",
    ),
    Binding(
        ">", "compare(1)", "Newer", id="screen.newer", show=False, key_display=">", tooltip="Compare with a newer step"
    ),
    Binding("i", "slice", "Slice", id="screen.slice", show=False, tooltip="Choose a slice of the value: [0, :, 3:7]"),
    Binding(
        "e",
        "prefill('export graph.svg ')",
        "Export",
        id="screen.export",
        show=False,
        tooltip="Draw the graph to a file",
    ),
    Binding(
        "Y", "copy", "Copy", id="screen.copy", show=False, tooltip="Copy a value, a line, a path, or what was found"
    ),
    Binding(
        "X",
        "other_run",
        "Other run",
        id="screen.other-run",
        show=False,
        tooltip="Two runs side by side",
    ),
    Binding("E", "picture", "Picture", id="screen.picture", show=False, tooltip="Save the screen as an SVG"),
    Binding(
        "?,f1",
        "help",
        "help",
        id="screen.help",
        key_display="?",
        tooltip="What this region shows, and all keys and commands",
    ),
    Binding("q", "quit", "quit", id="screen.quit", tooltip="Leave"),
    *(
        Binding(
            panel.key, f"panel('{panel.name}')", panel.name, id=f"screen.{panel.name}", show=False, tooltip=panel.doc
        )
        for panel in panel_table.every()
    ),
)

WORDS_FOLLOW: Final = ("prompt", "search", "slice", "edit", "prefill", "prefill_break")
"""Actions behind which a person types words, perhaps at once: keys ahead of them must not be taken for commands."""

OF_SCREEN: Final = tuple(
    replace(found, priority=found.action.partition("(")[0] in WORDS_FOLLOW) for found in _OF_SCREEN
)
"""Keys of the screen itself."""

_GREETING: Final = {
    ("command.next",): "next",
    ("command.rn",): "back",
    ("command.other",): "forward<->backward",
    tuple(f"screen.{panel.name}" for panel in panel_table.every()): "look closer",
    ("screen.why",): "why",
    ("screen.help",): "all keys",
}
"""What a newcomer is told, by the names of actions: of several, the first and the last key."""


def greeting(bindings: Iterable[Binding]) -> str:
    """What to press first, in one line."""
    keys = {binding.id: binding.key_display or binding.key for binding in bindings}
    return ", ".join(
        f"{'-'.join(dict.fromkeys((keys[names[0]], keys[names[-1]])))} {what}" for names, what in _GREETING.items()
    )


def everywhere() -> list[Binding]:
    """All bindings that a keymap may change: those of the screen and of its regions."""
    from graphscope.tui.region_table import REGIONS

    return [*OF_COMMANDS, *OF_SCREEN, *(found for region in REGIONS for found in region.keys)]
