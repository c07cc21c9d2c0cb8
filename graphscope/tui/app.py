"""The application: the main screen over a session, and what the palette offers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from textual.app import SystemCommand
from textual.binding import Binding
from textual.screen import Screen

from graphscope.debugger.command_table import every
from graphscope.eventlog.reader import Log
from graphscope.tui import key_table
from graphscope.tui.dialogs.choice import Choice
from graphscope.tui.glyphs import Glyphs
from graphscope.tui.guard import sentence
from graphscope.tui.key_file import remapped
from graphscope.tui.main_screen import Main
from graphscope.tui.messages import CommandRequested, Notice
from graphscope.tui.prompt.history import History
from graphscope.tui.region_table import REGIONS
from graphscope.tui.screen_session import Session
from graphscope.tui.themed_app import ThemedApp
from graphscope.tui.tour import Tour


class GraphscopeApp(ThemedApp):
    """The terminal UI.

    Args:
        log: What the regions read; not the object that the session reads, which is on another thread.
        session: Who carries out commands.
        glyphs: The characters of pictures; those of this terminal unless given.
        history: The file of lines typed before; None keeps none.
        keymap: Keys by the names of actions, where they are to be others.
        is_first_time: Show the tour.
        theme_file: Where the theme is kept that a person chooses; None keeps none.
        finish_reading: Called before anything is read of the log.
    """

    ENABLE_COMMAND_PALETTE = True

    def __init__(
        self,
        log: Log,
        session: Session,
        *,
        glyphs: Glyphs | None = None,
        history: Path | None = None,
        keymap: Mapping[str, str] | None = None,
        is_first_time: bool = False,
        theme_file: Path | None = None,
        finish_reading: Callable[[], object] = lambda: None,
    ) -> None:
        super().__init__(glyphs, theme_file)
        self.log_read = log
        self._session = session
        self._history = History(history)
        self._keys = dict(keymap or {})
        self._is_first_time = is_first_time
        self._finish_reading = finish_reading
        self.set_keymap(self._keys)

    def get_default_screen(self) -> Main:
        """The main screen."""
        return Main(
            self.log_read,
            self._session,
            self.glyphs,
            self._history,
            self._keys,
            self.size,
            is_first_time=self._is_first_time,
            finish_reading=self._finish_reading,
        )

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """What the palette offers: themes and the like, every key, and every command."""
        yield from super().get_system_commands(screen)
        for binding in remapped([*key_table.OF_COMMANDS, *key_table.OF_SCREEN], self._keys):
            yield SystemCommand(*_told(binding), partial(self._act, binding.action))
        for region in REGIONS:
            for binding in remapped(region.keys, self._keys) if not region.is_typed_in else ():
                said, what = _told(binding)
                act = partial(self._act_in, region.widget, binding.action)
                yield SystemCommand(f"{region.title.removeprefix('The ').capitalize()}: {said}", what, act)
        for entry in every():
            doc = entry.doc.partition("\n")[0]
            yield SystemCommand(entry.usage, doc, partial(self._act, f"prefill('{entry.name} ')"))

    async def action_quit(self) -> None:
        """Leave as `q` does; who asks for it while that is being asked means it."""
        main = next((screen for screen in self.screen_stack if isinstance(screen, Main)), None)
        if main is None or isinstance(self.screen, Choice):
            await super().action_quit()
        else:
            main.action_quit()

    async def run_action(self, *given: Any, **named: Any) -> bool:
        """Do what a key or a click means; the tour goes on where it was the key that it tells."""
        done = await super().run_action(*given, **named)
        main = next((screen for screen in self.screen_stack if isinstance(screen, Main)), None)
        if main is not None and main.is_open and given and isinstance(given[0], str):
            main.query_one(Tour).done(given[0])
        return done

    def _handle_exception(self, error: Exception) -> None:
        """Tell of a mistake of ours; Textual would end here, and the session with it."""
        main = next((screen for screen in self.screen_stack if isinstance(screen, Main)), None)
        if main is None or not main.is_open:
            super()._handle_exception(error)
            return
        if self._exit or not self.is_running or not main.is_running:  # it is being taken down, regions first
            return
        shown = {sentence(each) for each in self.mistakes}
        self.mistakes.append(error)
        if sentence(error) not in shown:  # what can't be drawn fails with each frame
            main.post_message(Notice(sentence(error), error=True))

    async def _act(self, action: str) -> None:
        await self.run_action(action, self.screen)

    async def _act_in(self, region: str, action: str) -> None:
        """Do what a key means in a region."""
        name = action.partition("(")[0]
        inside = self.screen.query_one(f"#{region}").walk_children(with_self=True)
        found = next((each for each in inside if hasattr(each, f"action_{name}")), None)
        if found is not None:
            await self.run_action(action, found)

    def action_go(self, row: int) -> None:
        """Go to a row that was clicked."""
        self.screen.post_message(CommandRequested(f"goto {row}", quiet=True))


def _told(binding: Binding) -> tuple[str, str]:
    """What the palette calls a key, and says of it."""
    shown = binding.key_display or binding.key.split(",")[0]
    return f"{binding.description.capitalize()} ({shown})", binding.tooltip or binding.description
