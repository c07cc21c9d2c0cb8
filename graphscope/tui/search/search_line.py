"""The line that a search is typed in: in the place of the keys, while one types."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.geometry import Size
from textual.message import Message
from textual.reactive import Reactive
from textual.widgets import Input, Static

from graphscope.tui.guard import Guarded
from graphscope.tui.text_widgets import Title

HINT = "a name, op, module, line or shape: attn  cross_entropy(  8x12;  or a SPEC: op:tanh backward"
_COUNT = 24
"""Cells of `1,234,567 of 1,234,567`, and some: the place of the count stays as wide whatever that is."""


class Typed(Message):
    """What is looked for is another by now."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class Walked(Message):
    """A person wants to see the next match, or the one before."""

    def __init__(self, by: int) -> None:
        super().__init__()
        self.by = by


class Left(Message):
    """The search has ended: to stay at what was found, or to go back to where one stood."""

    def __init__(self, text: str, *, stays: bool) -> None:
        super().__init__()
        self.text = text
        self.stays = stays


class _Text(Guarded, Input):
    virtual_size = Reactive(Size(0, 0))
    """What is typed is drawn without the screen being laid out again."""

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Whatever prints is typed, `/` too, whose key Textual knows by a name that Unicode has not."""
        return super().check_consume_key(key, character) or key == "slash"


class SearchLine(Guarded, Horizontal):
    """The text, and how many matches it has."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "back to where you were", id="search.leave"),
        Binding("down", "walk(1)", "next match", id="search.next"),
        Binding("up", "walk(-1)", "match before", id="search.previous"),
    ]

    def compose(self) -> ComposeResult:
        """The line."""
        yield Static("/", id="search-sign")
        yield _Text(placeholder=HINT, id="search-text", select_on_focus=False)
        yield Title(id="search-count")

    @property
    def text(self) -> str:
        """What is looked for."""
        return self.query_one(Input).value

    def open(self) -> None:
        """Begin a search."""
        line = self.query_one(Input)
        with self.prevent(Input.Changed):
            line.value = ""
        self.count("")
        self.screen.set_class(True, "-searching")
        self.screen.set_focus(line)

    def close(self) -> None:
        """Give the place back to the keys."""
        self.screen.set_class(False, "-searching")

    def count(self, words: str) -> None:
        """Say how many matches there are; where nothing is typed yet, its room is the hint's."""
        title = self.query_one("#search-count", Title)
        title.display = bool(words)
        title.show(Text(f"{words:>{_COUNT}}"))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Look for what is typed by now."""
        event.stop()
        self.post_message(Typed(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Stay at what was found."""
        event.stop()
        self.post_message(Left(event.value, stays=True))

    def action_leave(self) -> None:
        """Go back to where one stood."""
        self.post_message(Left(self.text, stays=False))

    def action_walk(self, by: int) -> None:
        """Look at another match."""
        self.post_message(Walked(by))
