"""An array with its statistics: numbers, a heatmap or a histogram of it, or of a slice."""

from __future__ import annotations

from itertools import accumulate
from operator import itemgetter
from typing import TYPE_CHECKING, Final

import numpy as np
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical

from graphscope.debugger.value_results import statistics
from graphscope.errors import CommandError
from graphscope.tui.dialogs.text_entry import TextEntry
from graphscope.tui.guard import Guarded
from graphscope.tui.inspector.array import ArrayView, Chosen, Moved
from graphscope.tui.inspector.histogram import histogram
from graphscope.tui.inspector.panel_table import Numbers
from graphscope.tui.inspector.slices import Index, element, plane
from graphscope.tui.messages import Edited
from graphscope.tui.screen_text import shape_text
from graphscope.tui.text_widgets import Title
from graphscope.tui.theme_styles import themed

if TYPE_CHECKING:
    from graphscope.debugger.results import Statistics
    from graphscope.tui.glyphs import Glyphs
    from graphscope.tui.inspector.panel_table import Pass

Fact = tuple[str, str, int]
"""Text, its style, and how late it is told where there is little room."""

FORMS: Final = ("numbers", "heatmap", "histogram")
_MOST_NUMBERS: Final = 16
_BETWEEN: Final = 2
_UNKNOWN: Final = 1 << 10
"""The width of what is not laid out yet."""


class NumbersView(Guarded, Vertical):
    """Draws what a panel of numbers shows."""

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._numbers = Numbers("value", None)
        self._pass: Pass = "forward"
        self._index: Index = ()
        self.form = FORMS[0]
        """Which of the forms they are shown in."""

    def compose(self) -> ComposeResult:
        """Statistics over the picture."""
        yield Title(id="facts")
        yield ArrayView(self._glyphs, id="array")
        yield Title(id="histogram")
        yield Title(id="element")

    def show(self, numbers: Numbers, graph_pass: Pass) -> None:
        """Draw another array, in the colour of a pass."""
        self._numbers, self._pass = numbers, graph_pass
        self._render_array()

    def turn(self) -> None:
        """Numbers, heatmap, histogram, and round."""
        self.show_as(_next(self.form))

    def show_as(self, form: str) -> None:
        """Show them in a form from now on."""
        self.form = form if form in FORMS else FORMS[0]
        self._render_array()

    def slice(self, index: Index) -> None:
        """Show a slice of every array from now on."""
        self._index = index
        self._render_array()

    def on_resize(self) -> None:
        """Draw a histogram for another size."""
        self._render_array()

    def _render_array(self) -> None:
        facts, bars = self.query_one("#facts", Title), self.query_one("#histogram", Title)
        view, array = self.query_one(ArrayView), self._numbers.array
        if array is None:
            view.display = bars.display = False
            facts.show(themed(Text(self._numbers.missing, "muted"), self.app.theme_variables))
            return
        array = np.asarray(array)
        try:
            chosen, where = plane(array, self._index)
        except CommandError:
            chosen, where = plane(array, ())
        form = FORMS[0] if _is_short(chosen) else self.form
        view.display, bars.display = form != "histogram", form == "histogram"
        facts.show(themed(self._facts(array, where), self.app.theme_variables))
        if form == "histogram":
            width, height = max(self.size.width - 2, 8), max(self.size.height - 4, 3)
            bars.show(themed(histogram(chosen, width, height, self._glyphs.bars), self.app.theme_variables))
        else:
            view.show(chosen, heat=form == "heatmap")
        self._render_element()

    @on(Moved)
    def _cell_looked_at(self, event: Moved) -> None:
        event.stop()
        self._render_element()

    def _render_element(self) -> None:
        """How the element under the cursor came to be, for as long as the table has the focus."""
        view, line, array = self.query_one(ArrayView), self.query_one("#element", Title), self._numbers.array
        text = None
        if view.has_focus and view.display and array is not None and array.size and self._numbers.made_of is not None:
            text = self._numbers.made_of(element(np.asarray(array), self._index, *view.cursor))
        line.display = text is not None
        if text is not None:
            line.styles.height = text.plain.count("\n") + 1
            line.show(themed(text, self.app.theme_variables))

    def _facts(self, array: np.ndarray, where: str) -> Text:
        made = Text()
        made.append(f"{self._numbers.title} ", f"bold {self._pass}")
        made.append(f"{shape_text(array.shape) or 'scalar'} {array.dtype} {where}", "bold")
        room = self.query_one("#facts").size.width or _UNKNOWN
        hints = [(f"v {_next(self.form)}", "muted", 0), ("i slice", "muted", 1)]
        lines = [Text(" " * _BETWEEN).join([made, *_whole(hints, room - len(made) - _BETWEEN)])]
        if (found := statistics(array)) is not None:
            lines.append(Text(" " * _BETWEEN).join(_whole(_told(found, array.size), room)))
        return Text("\n").join(lines)

    @on(Chosen)
    def _cell_chosen(self, event: Chosen) -> None:
        event.stop()
        array, target = self._numbers.array, self._numbers.target
        if array is None or not target:
            return
        place = element(np.asarray(array), self._index, event.row, event.column)
        cell = f"{target}{list(place) if place else ''}"

        def change(text: str | None) -> None:
            if text is not None and text.strip():
                self.post_message(Edited(cell, text.strip()))

        self.app.push_screen(TextEntry(f"{cell} =", placeholder="a number, or Python over value, grad, inputs"), change)


def _is_short(plane: np.ndarray) -> bool:
    """Whether it is a scalar, or a vector of so few numbers that these tell more than a picture."""
    return plane.size <= _MOST_NUMBERS and 1 in plane.shape


def _told(found: Statistics, size: int) -> list[Fact]:
    """Statistics as facts."""
    odd = [(f"{count} {name}", "bold error", 1) for name, count in (("nan", found.nan), ("inf", found.inf)) if count]
    if found.nan + found.inf == size:
        return [("none is finite", "", 0), *odd]
    zero = [(f"{100 * found.zero / max(size, 1):.0f}% zero", "muted", 4)] if found.zero else []
    ends = f"min {found.min:.3g}  max {found.max:.3g}"
    return [(ends, "", 0), (f"mean {found.mean:.2g}", "", 2), (f"std {found.std:.2g}", "", 3), *odd, *zero]


def _whole(facts: list[Fact], room: int) -> list[Text]:
    """As many facts as have room, none of them cut; those that tell most."""
    ranked = sorted(facts, key=itemgetter(2))
    widths = accumulate(len(text) + _BETWEEN for text, _, _ in ranked)
    kept = ranked[: sum(width - _BETWEEN <= room for width in widths)]
    return [Text(text, style) for text, style, rank in facts if (text, style, rank) in kept]


def _next(form: str) -> str:
    return FORMS[(FORMS.index(form) + 1) % len(FORMS)]
