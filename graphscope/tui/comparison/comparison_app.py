"""The application that shows two runs side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphscope.tui.comparison.comparison_screen import ComparisonScreen
from graphscope.tui.guard import sentence
from graphscope.tui.themed_app import ThemedApp

if TYPE_CHECKING:
    from pathlib import Path

    from graphscope.compare import Difference
    from graphscope.tui.glyphs import Glyphs


class ComparisonApp(ThemedApp):
    """The terminal UI over two runs.

    Args:
        found: The two runs.
        glyphs: The characters of pictures; those of this terminal unless given.
        theme_file: Where the theme is kept that a person chooses; None keeps none.
    """

    def __init__(self, found: Difference, *, glyphs: Glyphs | None = None, theme_file: Path | None = None) -> None:
        super().__init__(glyphs, theme_file)
        self._found = found

    def get_default_screen(self) -> ComparisonScreen:
        """The two tapes."""
        return ComparisonScreen(self._found, self.glyphs)

    def _handle_exception(self, error: Exception) -> None:
        """Tell of a mistake of ours; Textual would end here."""
        if not self.is_running or not self.screen.is_running:
            super()._handle_exception(error)
            return
        self.mistakes.append(error)
        self.notify(sentence(error), severity="error")
