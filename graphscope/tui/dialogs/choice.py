"""A question with a few answers, a key for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from graphscope.tui.guard import Guarded
from graphscope.tui.screen_text import escape


class Choice(Guarded, ModalScreen[str | None]):
    """Asks; it answers with the key that was pressed, or None.

    Args:
        title: The question.
        answers: What each key means.
        note: Something to know beside.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Close")]

    def __init__(self, title: str, answers: Mapping[str, str], note: str = "") -> None:
        super().__init__()
        self._note = note
        self._title = title
        self._answers = answers

    def compose(self) -> ComposeResult:
        """The answers, one a line."""
        with Vertical(id="dialog"):
            lines = [*self._answers.items(), ("Esc", "stay")]
            yield Static(Text("\n".join(f"{key:<5}{escape(what)}" for key, what in lines)))
            if self._note:
                yield Static(Text(escape(self._note)), id="note")

    def on_mount(self) -> None:
        """Name it."""
        self.query_one("#dialog").border_title = self._title

    def on_key(self, event: events.Key) -> None:
        """Answer."""
        if event.key in self._answers:
            event.stop()
            self.dismiss(event.key)
