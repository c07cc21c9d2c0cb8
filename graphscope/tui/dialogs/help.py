"""Help: every key and every command, made from the tables."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from graphscope.debugger.command_table import GROUPS, every
from graphscope.tui.glyphs import Glyphs
from graphscope.tui.guard import Guarded
from graphscope.tui.text_widgets import WrappedText
from graphscope.tui.theme_styles import themed

_SIGNS: tuple[tuple[str, str, str], ...] = (
    ("op", "forward", "an op has run"),
    ("leaf", "leaf", "a leaf: a parameter, an input, a constant"),
    (
        "grad",
        "backward",
        "a gradient has arrived, and the rule of its op is due; at the left, of the forward node there",
    ),
    ("accumulate", "backward", "a gradient was added to that of a leaf"),
    ("lane", "forward", "a value on its way to who uses it"),
    ("current", "warning", "here one is; what is dim lies ahead"),
    ("breakpoint", "error", "in the margin: a breakpoint"),
    ("nonfinite", "error", "NaN or infinity"),
    ("in_place", "error", "written in place"),
    ("edited", "error", "edited"),
)
"""By the name of the character: its colour and what it means."""

_OF_REGIONS = (
    ("↑ ↓", "Move through time, a line of the tape at a time"),
    ("Home End", "Go to the first, the last line"),
    ("Enter", "Open or close a section of the tape; Z all of a step, l a loop, J what libraries made"),
    ("Tab", "Go to the next region; Esc leaves the prompt"),
    ("ctrl+p", "Palette: every action and theme by name"),
)


class Help(Guarded, ModalScreen[None]):
    """Keys first, then commands."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,?", "dismiss", "Close")]

    def __init__(self, bindings: Iterable[Binding], glyphs: Glyphs) -> None:
        super().__init__()
        self._keys = list(bindings)
        self._glyphs = glyphs

    def compose(self) -> ComposeResult:
        """One long text."""
        yield WrappedText(id="dialog")

    def on_mount(self) -> None:
        """Fill and name it."""
        dialog = self.query_one("#dialog", WrappedText)
        dialog.show(themed(help_text(self._keys, self._glyphs), self.app.theme_variables))
        dialog.border_title = "help"
        dialog.border_subtitle = "↑ ↓ scroll, Esc closes"
        dialog.focus()


def help_text(bindings: Iterable[Binding], glyphs: Glyphs) -> Text:
    """Signs, keys and commands as text."""
    made = Text()
    made.append("Signs on the tape\n", "bold primary")
    for name, colour, what in _SIGNS:
        made.append(f"  {getattr(glyphs, name):<10}", colour)
        made.append(f"{what}\n")
    made.append("\nKeys\n", "bold primary")
    lines = [(binding.key_display or binding.key, binding.tooltip or binding.description) for binding in bindings]
    for key, what in (*_OF_REGIONS, *lines):
        made.append(f"  {key:<10}", "bold")
        made.append(f"{what.removesuffix('.')}\n")
    made.append("\nCommands, at the prompt (:)\n", "bold primary")
    commands = every()
    for group in GROUPS:
        made.append(f"  {group}\n", "secondary")
        for entry in commands:
            if entry.group == group:
                made.append(f"    {entry.usage}\n", "bold")
                made.append(f"        {_sentence(entry.doc)}\n", "muted")
    return made


def _sentence(text: str) -> str:
    """The first sentence, without its full stop."""
    first = text.partition("\n\n")[0].replace("\n", " ")
    return re.split(r"[.:] ", first, maxsplit=1)[0].rstrip(".")
