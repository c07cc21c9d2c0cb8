"""A list of leaves to choose one from; what is typed narrows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import DataTable, Input, Static

from graphscope.tui.guard import Guarded
from graphscope.tui.map.path_targets import Leaf
from graphscope.tui.screen_text import escape, shape_text

_MOST: Final = 200
"""So many are listed; the others come when one types."""


class LeafDialog(Guarded, ModalScreen[Leaf | None]):
    """A list over the screen; it answers with the leaf that was chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close"),
        Binding("up", "move(-1)", "Up", priority=True),
        Binding("down", "move(1)", "Down", priority=True),
    ]

    def __init__(self, title: str, leaves: Sequence[Leaf], note: str, times: str) -> None:
        super().__init__()
        self._title = title
        self._leaves = leaves
        self._note = note
        self._times = times
        self._shown: list[Leaf] = []

    def compose(self) -> ComposeResult:
        """A line to type in, the list, and what can be done."""
        with Vertical(id="dialog"):
            yield Input(placeholder="type to narrow the list", id="wanted")
            table: DataTable[Text] = DataTable(cursor_type="row", zebra_stripes=False)
            table.can_focus = False
            table.add_columns("leaf", "row", "shape", "away", "")
            yield table
            yield Static(id="note")

    def on_mount(self) -> None:
        """Show all."""
        self.query_one("#dialog").border_title = Content(self._title)
        self._fill("")

    @on(Input.Changed)
    def _narrow(self, event: Input.Changed) -> None:
        self._fill(event.value)

    @on(Input.Submitted)
    def _choose(self) -> None:
        if self._shown:
            self.dismiss(self._shown[self.query_one(DataTable).cursor_row])

    @on(DataTable.RowSelected)
    def _clicked(self, event: DataTable.RowSelected) -> None:
        self.dismiss(self._shown[event.cursor_row])

    def action_move(self, by: int) -> None:
        """Go up or down the list."""
        table = self.query_one(DataTable)
        table.move_cursor(row=table.cursor_row + by)

    def _fill(self, wanted: str) -> None:
        words = wanted.lower().split()
        fitting = [leaf for leaf in self._leaves if all(word in f"{leaf.name} #{leaf.row}".lower() for word in words)]
        self._shown = fitting[:_MOST]
        table = self.query_one(DataTable)
        table.clear()
        for leaf in self._shown:
            kind = "parameter" if leaf.trained else ""
            shape = shape_text(leaf.shape, self._times) or "scalar"
            cells = (leaf.name, f"#{leaf.row}", shape, str(leaf.length), kind)
            table.add_row(*(Text(escape(cell)) for cell in cells))
        more = f"{len(fitting) - _MOST} more: type to find them.  " if len(fitting) > _MOST else ""
        none = "" if fitting else "No leaf is called so.  "
        self.query_one("#note", Static).update(Text(f"{more}{none}{self._note}Enter show the path  Esc none"))
