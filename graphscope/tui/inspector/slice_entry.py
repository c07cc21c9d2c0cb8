"""Asks for a slice of what is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphscope.errors import CommandError
from graphscope.tui.dialogs.text_entry import TextEntry
from graphscope.tui.inspector.slices import Index, read_slice

if TYPE_CHECKING:
    from textual.screen import Screen


def ask_slice(screen: Screen[Any], show: Callable[[Index], None]) -> None:
    """Ask for a slice, and show it; what is none is told."""

    def choose(text: str | None) -> None:
        if text is None:
            return
        try:
            show(read_slice(text))
        except CommandError as error:
            screen.notify(error.message, title="no slice", severity="warning")

    screen.app.push_screen(TextEntry("slice of the value", placeholder="[0, :, 3:7]; empty shows all"), choose)
