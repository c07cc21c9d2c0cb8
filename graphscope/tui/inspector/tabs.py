"""The tabs of the inspector: names are never cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.style import Style
from rich.text import Text
from textual.message import Message
from textual.reactive import reactive

from graphscope.tui.inspector.panel_table import Panel
from graphscope.tui.text_widgets import Title

_BETWEEN: Final = " "


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

    def on_resize(self) -> None:
        """Take a second line where one has no room for all names."""
        self.styles.height = len(self._lines())

    @property
    def text(self) -> Text:
        """The lines."""
        colours = self.app.theme_variables
        made = Text(no_wrap=True, overflow="ellipsis")
        for number, names in enumerate(self._lines()):
            made.append("\n" * bool(number))
            for place, name in enumerate(names):
                made.append(_BETWEEN * bool(place))
                start = len(made)
                made.append(f"{self._keys[name]} ", colours["faint"])
                active = name == self.active
                made.append(name, f"bold underline {colours['primary']}" if active else colours["muted"])
                made.stylize(Style(meta={"@click": f"open('{name}')"}), start)
        return made

    def _lines(self) -> list[list[str]]:
        """The names, as many on a line as have room."""
        lines: list[list[str]] = [[]]
        for name, key in self._keys.items():
            used = sum(len(f"{self._keys[other]} {other}{_BETWEEN}") for other in lines[-1])
            if lines[-1] and used + len(f"{key} {name}") > self.size.width:
                lines.append([])
            lines[-1].append(name)
        return lines
