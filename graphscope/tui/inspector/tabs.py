"""The tabs of the inspector, in one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.style import Style
from rich.text import Text
from textual.message import Message
from textual.reactive import reactive

from graphscope.tui.inspector.panel_table import Panel
from graphscope.tui.text_widgets import Title

_LEAST: Final = 2


class TabLine(Title):
    """Panels by key and name, one of which is open; a click opens another.

    Args:
        panels: What can be opened.
    """

    active: reactive[str] = reactive("")
    """The name of the one that is open."""

    class Opened(Message):
        """Another one is open."""

    def __init__(self, panels: Sequence[Panel]) -> None:
        super().__init__()
        self._keys = {panel.name: panel.key for panel in panels}
        self.set_reactive(TabLine.active, panels[0].name)

    def watch_active(self) -> None:
        """Tell of it."""
        self.post_message(self.Opened())

    def action_open(self, name: str) -> None:
        """Open the one that was clicked."""
        self.active = name

    @property
    def text(self) -> Text:
        """The line."""
        colours = self.app.theme_variables
        made = Text(no_wrap=True, overflow="ellipsis")
        letters, behind, between = self._letters()
        for name, key in self._keys.items():
            start = len(made)
            made.append(f"{key}{behind}", colours["faint"])
            active = name == self.active
            look = f"bold underline {colours['primary']}" if active else colours["muted"]
            made.append(name if active else name[:letters], look)
            made.stylize(Style(meta={"@click": f"open('{name}')"}), start)
            made.append(between if letters or active else " ")
        made.rstrip()
        return made

    def _letters(self) -> tuple[int, str, str]:
        """So many letters of the names that are not open have room; what stands behind numbers, and behind names."""
        longest = max(map(len, self._keys))
        cut = ((letters, behind, " ") for letters in range(longest, _LEAST - 1, -1) for behind in (" ", ""))
        for letters, behind, between in ((longest, " ", "  "), (longest, " ", " "), (longest, "", " "), *cut):
            shown = [name if name == self.active else name[:letters] for name in self._keys]
            room = (1 + len(behind) + len(between)) * len(shown) - len(between)
            if sum(map(len, shown)) + room <= self.size.width:
                return letters, behind, between
        return (0, " ", "  ") if self.size.width >= longest + 3 * len(self._keys) - 1 else (0, "", " ")
