"""The table of views: what draws a recording in one way, under its name, with the options that it declares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from graphscope.errors import ExportError
from graphscope.exporters.options import Option, alternatives, options_of, summary_of

if TYPE_CHECKING:
    from graphscope.exporters.views.figure import Figure
    from graphscope.graph.view import GraphView

__all__ = ["DEFAULT", "VIEWS", "View", "check_said", "view", "view_by_name"]

Draw: TypeAlias = "Callable[..., GraphView | Figure]"
"""A view's function: from what a person asked for and keyword-only options to boxes and arrows, or a whole figure."""

Drawing = TypeVar("Drawing", bound=Draw)

DEFAULT: Final = "ops"
"""The view that is drawn where none is named."""

EVERYTHING: Final = ("select", "graph_pass", "step", "at", "radius", "current", "breakpoints", "fold")


@dataclass(frozen=True)
class View:
    """One entry of the table."""

    name: str
    draw: Draw
    takes: tuple[str, ...] = EVERYTHING
    """What may be said of what it draws: fields of a `Choice`, and `fold`."""

    @property
    def doc(self) -> str:
        """What it draws, in one line."""
        return summary_of(self.draw)

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """Its keyword-only parameters, described."""
        return options_of(self.draw)


VIEWS: Final[dict[str, View]] = {}
"""Every view under its name."""


def view(name: str, *, takes: tuple[str, ...] = EVERYTHING) -> Callable[[Drawing], Drawing]:
    """Enter a function into the table.

    Args:
        name: What it is called on a command line.
        takes: What may be said of what it draws.
    """

    def enter(draw: Drawing) -> Drawing:
        VIEWS[name] = View(name, draw, takes)
        return draw

    return enter


def view_by_name(name: str) -> View:
    """The view of this name.

    Raises:
        ExportError: There is none.
    """
    if name not in VIEWS:
        raise ExportError(f"there is no view {name!r}", alternatives(name, VIEWS))
    return VIEWS[name]


def check_said(entry: View, said: set[str]) -> None:
    """Look whether a view takes all that was said of what it draws.

    Raises:
        ExportError: It does not.
    """
    unmeant = sorted(said - set(entry.takes))
    if unmeant:
        words: list[Any] = [f"{each}=..." for each in entry.takes]
        takes = f"it takes {', '.join(words)}" if words else "it draws a whole log"
        raise ExportError(f"the view {entry.name} takes no {' and no '.join(unmeant)}", takes)
