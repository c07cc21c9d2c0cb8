"""The table of panels: what the inspector can show of the node where one stands, and by which key."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from rich.text import Text

    from graphscope.graph import Node
    from graphscope.graph.modules import Call
    from graphscope.tui.glyphs import Glyphs
    from graphscope.tui.scene import Scene

Pass = Literal["forward", "backward"]


@dataclass(frozen=True, eq=False)
class View:
    """What a panel is made from."""

    scene: Scene
    width: int
    """Cells of a line."""
    glyphs: Glyphs
    away: int = -1
    """How many places away what the node is compared with lies; below zero it is older."""
    found: Any = None
    """What the panel's `search` found."""
    module: Call | None = None
    """The call of a module on which one stands as a whole."""
    findings: int = 0
    """So many were found in that."""

    @property
    def node(self) -> Node | None:
        """The current node."""
        return self.scene.node


@dataclass(frozen=True, eq=False)
class Numbers:
    """An array, to be shown as numbers, as a heatmap or as a histogram."""

    title: str
    array: np.ndarray | None
    missing: str = ""
    """What is said where there is no array."""
    target: str = ""
    """What an element of it is called in an edit, ahead of its index; empty where none can be made."""
    made_of: Callable[[tuple[int, ...]], Text | None] | None = None
    """How one element came to be, by its place; None where nobody knows."""


Draw = Callable[[View], "Text | Numbers"]
"""Styles of a text are words of the theme, as `theme_styles` has them."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One entry of the table."""

    name: str
    """Also what the tab is called."""
    key: str
    """A single character; tabs stand in the order of their keys."""
    doc: str
    """What it shows, in one line."""
    draw: Draw
    numbers_of: Pass | None
    """The pass whose numbers it draws; None of a panel of text."""
    search: Callable[[Scene], object] | None
    """What takes long, and is done off the screen's thread ahead of `draw`."""
    move: Callable[[View, int], int] | None
    """By how much the newer or older step that is compared with is chosen: what `away` becomes."""


PANELS: Final[dict[str, Panel]] = {}
"""The panels that have been loaded, by name; `every` loads them all."""

_Draw = TypeVar("_Draw", bound=Draw)


def panel(
    key: str,
    *,
    numbers_of: Pass | None = None,
    search: Callable[[Scene], object] | None = None,
    move: Callable[[View, int], int] | None = None,
) -> Callable[[_Draw], _Draw]:
    """Enter a function into the table, under its name and with the first line of its docstring.

    Args:
        key: The key that opens it.
        numbers_of: The pass whose numbers it draws, if it returns `Numbers`. Where there is room, a panel of text and
            one of numbers are seen together.
        search: What takes long, and is done off the screen's thread; the function finds it in `view.found`.
        move: What `<` (-1) and `>` (1) make of `view.away`, if it compares with another step.
    """

    def enter(draw: _Draw) -> _Draw:
        name = getattr(draw, "__name__", "")
        doc = (inspect.getdoc(draw) or "").partition("\n")[0].removesuffix(".")
        PANELS[name] = Panel(name, key, doc, draw, numbers_of, search, move)
        return draw

    return enter


@cache
def every() -> tuple[Panel, ...]:
    """The whole table, in the order of keys."""
    import_module("graphscope.tui.inspector.panels")
    return tuple(sorted(PANELS.values(), key=lambda panel: panel.key))
