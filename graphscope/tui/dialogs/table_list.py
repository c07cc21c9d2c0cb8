"""A list of what has a table of its own (breakpoints, watches, bookmarks), with a key for each thing to do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Generic, TypeVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import DataTable, Static

from graphscope.debugger.results import Bookmark, BreakpointInfo, Cell, Rank, Result, TableResult, WatchInfo
from graphscope.tui.guard import Guarded
from graphscope.tui.screen_text import escape

Ask = Callable[[str], Awaitable[list[Result]]]
Row = tuple[Cell, ...]
Item = TypeVar("Item", BreakpointInfo, WatchInfo, Bookmark, Rank)


@dataclass(frozen=True)
class Deed(Generic[Item]):
    """What a key does to a row."""

    says: str
    line: Callable[[Item], str]
    """The command."""
    leaves: bool = False
    """The list closes."""
    asks: bool = False
    """The command is put at the prompt, to be completed there."""


@dataclass(frozen=True)
class Listed:
    """A kind of list."""

    title: str
    command: str
    deeds: Mapping[str, Deed[Any]]
    quiet: Mapping[str, Cell] = field(default_factory=dict)
    """Columns that are left out while all rows say this in them."""


LISTS: Final[dict[str, Listed]] = {
    "breakpoints": Listed(
        "breakpoints",
        "info breakpoints",
        {
            "space": Deed[BreakpointInfo]("on/off", lambda at: f"{'disable' if at.enabled else 'enable'} {at.number}"),
            "d": Deed[BreakpointInfo]("remove", lambda at: f"clear {at.number}"),
            "enter": Deed[BreakpointInfo]("condition", lambda at: f"condition {at.number} ", leaves=True, asks=True),
            "i": Deed[BreakpointInfo]("ignore", lambda at: f"ignore {at.number} ", leaves=True, asks=True),
        },
        {"kind": "keep", "ignore": 0, "commands": ""},
    ),
    "watches": Listed(
        "watches",
        "info watches",
        {
            "d": Deed[WatchInfo]("remove", lambda watch: f"unwatch {watch.number}"),
            "enter": Deed[WatchInfo]("last change", lambda watch: f"last {watch.expression}", leaves=True),
        },
    ),
    "bookmarks": Listed(
        "bookmarks",
        "info checkpoints",
        {"enter": Deed[Bookmark]("go there", lambda bookmark: f"goto {bookmark.name}", leaves=True)},
    ),
    "ranks": Listed(
        "ranks",
        "rank",
        {"enter": Deed[Rank]("look at it", lambda rank: f"rank {rank.number}", leaves=True)},
    ),
}
"""The lists, by the name of the action that opens them."""


class TableDialog(Guarded, ModalScreen[tuple[str, bool] | None]):
    """A list over the screen; it answers with a command that is yet to be carried out, and whether it asks for more."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss(None)", "Close")]

    def __init__(self, listed: Listed, ask: Ask) -> None:
        super().__init__()
        self._listed = listed
        self._ask = ask
        self._rows: tuple[Row, ...] = ()
        self._items: tuple[Any, ...] = ()

    def compose(self) -> ComposeResult:
        """A table and what can be done."""
        with Vertical(id="dialog"):
            yield DataTable(cursor_type="row", zebra_stripes=False)
            yield Static(id="note")
        self.border_title = self._listed.title

    async def on_mount(self) -> None:
        """Fill it."""
        self.query_one("#dialog").border_title = self._listed.title
        await self._fill()

    async def _fill(self) -> None:
        results = await self._ask(self._listed.command)
        table = self.query_one(DataTable)
        place = table.cursor_row
        table.clear(columns=True)
        for result in results:
            if isinstance(result, TableResult):
                self._rows, self._items = result.rows, result.items
                shown = [place for place, name in enumerate(result.columns) if self._tells(name, place)]
                table.add_columns(*(result.columns[place] for place in shown))
                for row in result.rows:
                    table.add_row(*(Text(escape("" if row[place] is None else str(row[place]))) for place in shown))
                keys = "  ".join(f"{key} {deed.says}" for key, deed in self._listed.deeds.items())
                self.query_one("#note", Static).update(Text(result.note or f"{keys}  Esc close"))
        table.display = bool(self._rows)
        table.move_cursor(row=min(place, max(len(self._rows) - 1, 0)))

    def _tells(self, name: str, place: int) -> bool:
        quiet = self._listed.quiet
        return not (name in quiet and all(row[place] == quiet[name] for row in self._rows))

    async def on_key(self, event: events.Key) -> None:
        """Do what a key means to the row under the cursor."""
        deed = self._listed.deeds.get(event.key)
        table = self.query_one(DataTable)
        if deed is None or not self._items:
            return
        event.stop()
        event.prevent_default()
        line = deed.line(self._items[table.cursor_row])
        if deed.leaves:
            self.dismiss((line, deed.asks))
        else:
            await self._ask(line)
            await self._fill()
