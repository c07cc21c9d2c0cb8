"""Help: every key and every command, made from the tables."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from graphscope.debugger.table import COMMANDS, GROUPS
from graphscope.tui.look import dressed

_LEGEND = (
    ("tape", "● op   ◆ leaf   ▲ gradient due   ◇ gradient added   │ where a value runs"),
    ("", "▲ beside a forward node: its gradient has arrived   ! not finite   ✎ in place   ✱ edited"),
)


_OF_REGIONS = (
    ("↑ ↓", "Move through time, a line of the tape at a time"),
    ("Home End", "Go to the first, the last node"),
    ("Enter", "Open or close a fold of the tape; Z all of them"),
    ("Tab", "Go to the next region; Esc leaves the prompt"),
    ("ctrl+p", "Palette: every action and theme by name"),
)


class Help(ModalScreen[None]):
    """Keys first, then commands."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,?", "dismiss", "Close")]

    def __init__(self, bindings: Iterable[Binding]) -> None:
        super().__init__()
        self._keys = list(bindings)

    def compose(self) -> ComposeResult:
        """One long text."""
        with VerticalScroll(id="dialog"):
            yield Static(dressed(help_text(self._keys), self.app.theme_variables))

    def on_mount(self) -> None:
        """Name it."""
        dialog = self.query_one("#dialog")
        dialog.border_title = "help"
        dialog.border_subtitle = "Esc closes"
        dialog.focus()


def help_text(bindings: Iterable[Binding]) -> Text:
    """Keys and commands as text."""
    made = Text()
    made.append("Keys\n", "bold primary")
    told = [(binding.key_display or binding.key, binding.tooltip or binding.description) for binding in bindings]
    for key, what in (*_OF_REGIONS, *told):
        made.append(f"  {key:<9}", "bold")
        made.append(f"{_sentence(what)}\n")
    made.append("\nSigns\n", "bold primary")
    for name, text in _LEGEND:
        made.append(f"  {name:<6} {text}\n")
    made.append("\nCommands, at the prompt (:)\n", "bold primary")
    for group in GROUPS:
        made.append(f"  {group}\n", "secondary")
        for entry in COMMANDS.values():
            if entry.group == group:
                made.append(f"    {entry.usage}\n", "bold")
                made.append(f"        {_sentence(entry.doc)}\n", "muted")
    return made


def _sentence(text: str) -> str:
    """The first sentence, without its full stop."""
    first = text.partition("\n\n")[0].replace("\n", " ")
    return re.split(r"[.:] ", first, maxsplit=1)[0].rstrip(".")
