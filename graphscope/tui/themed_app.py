"""What every application of ours on a terminal shares: themes, characters, and that a mistake does not end it."""

from __future__ import annotations

import gc
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from rich.markup import escape
from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.driver import Driver
from textual.screen import Screen

from graphscope.tui.ascii_text import OnlyAscii
from graphscope.tui.chosen_theme import chosen_theme, keep_theme
from graphscope.tui.glyphs import Glyphs, for_terminal
from graphscope.tui.guard import Guarded
from graphscope.tui.terminal_loss import outliving
from graphscope.tui.themes import THEMES


class ThemedApp(Guarded, App[None]):
    """An application in our themes.

    Args:
        glyphs: The characters of pictures; those of this terminal unless given.
        theme_file: Where the theme is kept that a person chooses; None keeps none.
    """

    TITLE = "graphscope"
    CSS_PATH = Path(__file__).with_name("app.tcss")
    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(self, glyphs: Glyphs | None = None, theme_file: Path | None = None) -> None:
        super().__init__()
        self.glyphs = glyphs or for_terminal()
        self.mistakes: list[Exception] = []
        """What has failed inside of graphscope, and was told."""
        for theme in THEMES:
            self.register_theme(theme)
        self._theme_file = theme_file
        wanted = chosen_theme(theme_file)
        self._kept_theme = wanted if wanted in self.available_themes else THEMES[0].name
        self.set_reactive(App.theme, "textual-dark")  # Textual has begun with the one of its variable, ours unknown yet
        self.theme = self._kept_theme
        self.stylesheet.set_variables(self.get_css_variables())
        if self.glyphs.lane.isascii():
            self.add_class("-ascii")
            self._filters.append(OnlyAscii())

    def on_ready(self) -> None:
        """Look for garbage from now on: the first picture is drawn."""
        gc.enable()

    def watch_theme(self, name: str) -> None:
        """Keep what was chosen."""
        if name != self._kept_theme:
            self._kept_theme = name
            keep_theme(self._theme_file, name)

    def refresh_css(self, animate: bool = True) -> None:
        """Read the rules again; not ahead of the first screen, for which they are read with our colours anyway."""
        if self.screen_stack:
            super().refresh_css(animate)

    def get_driver_class(self) -> type[Driver]:
        """What draws on this terminal, and outlives it."""
        return outliving(super().get_driver_class())

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """What the palette offers; who types a part of a theme's name finds that, too."""
        yield from super().get_system_commands(screen)
        for name in self.available_themes:
            change = partial(setattr, self, "theme", name)
            yield SystemCommand(f"Theme {name}", "Change the colours", change, discover=False)

    def notify(self, message: str, **wishes: Any) -> None:
        """Show a message for a while; what looks like markup in it is text."""
        super().notify(escape(message), **wishes)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Colours of ours for themes that are not: those of our first theme that is as dark."""
        return next(theme for theme in THEMES if theme.dark == self.current_theme.dark).variables

    async def run_action(self, *given: Any, **named: Any) -> bool:
        """Do what a key or a click means; where that fails, say so and go on."""
        try:
            return await super().run_action(*given, **named)
        except Exception as error:  # noqa: BLE001 - whatever it is, the session must not be lost to it
            self._handle_exception(error)
            return True

    def action_press(self, key: str) -> None:
        """Press a key that was clicked."""
        self.simulate_key(key)
