"""A question with one line for an answer."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from graphscope.tui.guard import Guarded


class TextEntry(Guarded, ModalScreen[str | None]):
    """Asks for a line of text; None when the person leaves."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Close")]

    def __init__(self, title: str, value: str = "", placeholder: str = "") -> None:
        super().__init__()
        self._title = title
        self._value = value
        self._placeholder = placeholder

    def compose(self) -> ComposeResult:
        """The line."""
        with Vertical(id="dialog", classes="-entry"):
            yield Input(self._value, placeholder=self._placeholder)

    def on_mount(self) -> None:
        """Name it."""
        self.query_one("#dialog").border_title = self._title

    def on_key(self, event: events.Key) -> None:
        """Type what was pressed before the line had the focus."""
        entry = self.query_one(Input)
        if event.is_printable and event.character is not None and not entry.has_focus:
            event.stop()
            entry.insert_text_at_cursor(event.character)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer."""
        self.dismiss(event.value)
