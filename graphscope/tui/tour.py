"""The tour: ten keys to begin with, one at a time in a line above the keys; whatever one presses works meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rich.text import Text

from graphscope.tui.config_folder import config_folder
from graphscope.tui.text_widgets import Title, hanging
from graphscope.tui.theme_styles import themed

STOPS: Final[Mapping[str, str]] = {
    "command.next": "the next node; modules and rules are taken as a whole",
    "command.rn": "one back: all that has happened can be walked both ways",
    "tape.fold": "opens what a line is part of, or closes it: a step, a module, a backward pass",
    "command.nextstep": "the next training step",
    "command.other": "from a forward node to its gradient, and back",
    "screen.value": "the value as numbers (v: as a heatmap); 1 to 6 tell more of a node",
    "screen.why": "why is this gradient None, zero, not finite",
    "screen.findings": "what the doctor finds wrong in the whole run, and what to do about it",
    "screen.search": "search while you type, in names, ops, modules, lines; Esc comes back",
    "screen.help": "all keys and commands, and what each region shows",
}
"""By the names of actions: what a newcomer is told of their keys."""


def is_first_time() -> bool:
    """Whether nobody has been shown the tour; from now on somebody has. False where that can't be kept."""
    try:
        seen = config_folder() / "tour-seen"
        seen.parent.mkdir(parents=True, exist_ok=True)
        seen.open("x").close()
    except (OSError, RuntimeError):
        return False
    return True


class Tour(Title):
    """One key after another; pressing it leads to the next.

    Args:
        keys: Keys by the names of actions.
        actions: What each of these actions is to Textual.
    """

    def __init__(self, keys: Mapping[str, str], actions: Mapping[str, str]) -> None:
        super().__init__(id="tour")
        self._keys = keys
        self._actions = actions
        self._left: list[str] = []

    def begin(self) -> None:
        """Show the first key."""
        self._left = list(STOPS)
        self._tell()

    def end(self) -> None:
        """Show no more."""
        self._left.clear()
        self._tell()

    def done(self, action: str) -> None:
        """Go on where it was the key that is told, or one that is to come."""
        name = next((each for each in self._left if self._actions[each] == action), None)
        if name is not None:
            self._left.remove(name)
            self._tell()

    def on_resize(self) -> None:
        """Wrap to another width."""
        self._tell()

    def _tell(self) -> None:
        self.screen.set_class(bool(self._left), "-tour")
        if self._left:
            name = self._left[0]
            number = len(STOPS) - len(self._left) + 1
            made = Text.assemble(
                (f" {number} of {len(STOPS)} ", "bold reverse"),
                (f"  {self._keys[name]}  ", "bold warning"),
                STOPS[name],
                ("   Esc ends the tour", "muted"),
            )
            lines = hanging(themed(made, self.app.theme_variables), self.app.console, self.app.size.width)
            self.styles.height = len(lines)
            self.show(Text("\n").join(lines))
