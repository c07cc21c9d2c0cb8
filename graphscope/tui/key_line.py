"""The last line: the keys that matter where one is; a click presses one."""

from __future__ import annotations

from typing import Final

from rich.style import Style
from rich.text import Text
from textual.binding import ActiveBinding
from textual.reactive import reactive

from graphscope.tui import key_table
from graphscope.tui.screen_text import escape
from graphscope.tui.text_widgets import Title

_KEPT: Final = 2
_FINDINGS: Final = "screen.findings"
_ORDER: Final = {each.id: place for place, each in enumerate((*key_table.OF_COMMANDS, *key_table.OF_SCREEN))}
"""Textual tells keys that a person has chosen behind all others."""


class KeyLine(Title):
    """Keys and what they do; those of what has the focus come first. Where room is short, help and quit are kept."""

    search: reactive[str] = reactive("")
    """The search under way, and which match one stands at."""

    found: reactive[bool] = reactive(False)
    """Something was found to be wrong: the key that lists it is told, ahead of all others of the screen."""

    def on_mount(self) -> None:
        """Follow the focus."""
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self.refresh())

    @property
    def text(self) -> Text:
        """The line."""
        colours = self.app.theme_variables
        known = list(self.screen.active_bindings.values())
        found = [each for each in known if self.found and each.binding.id == _FINDINGS]
        once = {each.binding.id or each.binding.key: each for each in reversed(known) if each.binding.show}
        of_screen = sorted((each for each in once.values() if each.node is self.screen), key=_place)
        shown = [*(each for each in reversed(once.values()) if each.node is not self.screen), *found, *of_screen]
        parts = [Text(f" {escape(self.search)} ", f"bold {colours['warning']}")] if self.search else []
        for each in shown:
            binding = each.binding
            part = Text()
            part.append(f" {escape(self.app.get_key_display(binding))}", f"bold {colours['footer-key-foreground']}")
            part.append(f" {escape(binding.description)} ", colours["foreground"])
            part.stylize(Style(meta={"@click": f"app.press('{binding.key}')"}))
            parts.append(part)
        while sum(part.cell_len for part in parts) > self.size.width and len(parts) > _KEPT + len(self.search[:1]):
            del parts[-_KEPT - 1]
        return Text("", no_wrap=True).join(parts)


def _place(active: ActiveBinding) -> int:
    return _ORDER.get(active.binding.id, len(_ORDER))
