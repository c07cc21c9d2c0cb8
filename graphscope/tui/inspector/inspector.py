"""The inspector: one node's formula, value, gradient, contributions, facts and history, a tab each."""

from __future__ import annotations

import numpy as np
from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.reactive import reactive

from graphscope.debugger.value_results import in_numbers, kept_statistics, statistics
from graphscope.errors import CommandError
from graphscope.tui import neighbours
from graphscope.tui.ascii_text import in_ascii
from graphscope.tui.dialogs.text_entry import TextEntry
from graphscope.tui.glyphs import Glyphs
from graphscope.tui.guard import Guarded
from graphscope.tui.inspector.array import ArrayView, Chosen
from graphscope.tui.inspector.compare import compare
from graphscope.tui.inspector.facts import facts
from graphscope.tui.inspector.formula import formula
from graphscope.tui.inspector.histogram import histogram
from graphscope.tui.inspector.slices import Index, element, plane
from graphscope.tui.inspector.steps import alike, steps
from graphscope.tui.inspector.tabs import TabLine
from graphscope.tui.messages import Edited
from graphscope.tui.passes import Passes
from graphscope.tui.scene import Scene, title
from graphscope.tui.screen_text import escape, shape_text
from graphscope.tui.text_widgets import Title, WrappedText
from graphscope.tui.theme_styles import themed

TABS: tuple[str, ...] = ("formula", "value", "grad", "about", "steps", "compare")
_ARRAYS = ("value", "grad")
_ROOMY = 26
VIEWS: tuple[str, ...] = ("numbers", "heatmap", "histogram")


class Alike(Message):
    """The rows of the nodes that are like the current one were found."""

    def __init__(self, row: int, rows: np.ndarray) -> None:
        super().__init__()
        self.row = row
        self.rows = rows


class Inspector(Guarded, Vertical):
    """Looks at the current node."""

    scene: reactive[Scene | None] = reactive(None)

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._passes = Passes([], [], [])
        self._index: Index = ()
        self._of_gradient = False
        """Whether the numbers are those of the gradient."""
        self._away = -1
        """Which of the nodes like this one it is compared with."""
        self.look = "numbers"
        self.border_title = "inspector"

    def compose(self) -> ComposeResult:
        """Tabs over what they show."""
        yield TabLine(TABS)
        yield WrappedText(id="words")
        with Vertical(id="numbers"):
            yield Title(id="facts")
            yield ArrayView(self._glyphs, id="array")
            yield Title(id="histogram")

    @property
    def tab(self) -> str:
        """The tab that is open."""
        return self.query_one(TabLine).active

    def show(self, passes: Passes) -> None:
        """Take over the passes."""
        self._passes = passes

    def open(self, tab: str) -> None:
        """Open a tab."""
        self.query_one(TabLine).active = tab

    def cycle_look(self) -> None:
        """Numbers, heatmap, histogram, and round; elsewhere, begin with the value."""
        if self.tab not in _ARRAYS:
            self.open("value")
            return
        self.look = VIEWS[(VIEWS.index(self.look) + 1) % len(VIEWS)]
        self._render_tab()

    def slice(self, index: Index) -> None:
        """Show a slice of values and gradients from now on."""
        self._index = index
        if self.tab not in _ARRAYS:
            self.open("value")
        self._render_tab()

    def watch_scene(self, old: Scene | None, scene: Scene | None) -> None:
        """Look at the current node."""
        node = scene.node if scene is not None else None
        if node is None:
            self.border_title = "inspector"
        else:
            shape = shape_text(node.shape, self._glyphs.times) or "scalar"
            goes_on = (
                ": the program goes on with it"
                if scene is not None and scene.stop is not None and scene.stop.live
                else ""
            )
            self.border_subtitle = f"{self._glyphs.edited} edited{goes_on}" if node.edited else ""
            self.border_title = escape(f"#{node.row} {title(node)}  {shape} {node.dtype}").replace("[", "\\[")
        self._render_tab()

    def on_resize(self) -> None:
        """Draw again for another width."""
        self._render_tab()

    @on(TabLine.Opened)
    def _tab_changed(self, event: TabLine.Opened) -> None:
        event.stop()
        self._render_tab()

    def _render_tab(self) -> None:
        if not self.is_mounted or self.scene is None:
            return
        self.set_class(self.tab in _ARRAYS, "-numbers")
        roomy = self.size.height >= _ROOMY
        self.set_class(roomy, "-both")
        if roomy:  # there is room for words and numbers together
            words = "formula" if self.tab in _ARRAYS else self.tab
            node = self.scene.node
            backward = node is not None and node.kind in ("grad", "accumulate")
            numbers = self.tab if self.tab in _ARRAYS else "grad" if backward else "value"
            _RENDERED[words](self)
            _RENDERED[numbers](self)
        else:
            _RENDERED[self.tab](self)

    # Tabs ------------------------------------------------------------------------------------------------------------

    def _formula(self) -> None:
        assert self.scene is not None
        self._say(formula(self.scene))

    def _about(self) -> None:
        assert self.scene is not None
        self._say(facts(self.scene))

    def _value(self) -> None:
        self._array(self._shown("value"), "value")

    def _gradient(self) -> None:
        self._array(self._shown("grad"), "gradient")

    def _shown(self, what: str) -> np.ndarray | None:
        """The value or the gradient."""
        scene = self.scene
        if scene is None or scene.node is None:
            return None
        if what == "grad":
            return neighbours.gradient(scene.node)
        return None if scene.subject is None else scene.subject.value

    def _missing(self, what: str) -> str:
        """Why there is no array to show."""
        scene = self.scene
        node = None if scene is None else scene.subject if what == "value" else scene.node
        arrived = node is not None and (what == "value" or node.kind in ("grad", "accumulate"))
        found = kept_statistics(node) if node is not None and arrived else None
        if found is not None:
            return f"Only statistics were kept: {in_numbers(found)}."
        return "The value was not kept." if arrived else "No gradient up to now."

    @on(Chosen)
    def _cell_chosen(self, event: Chosen) -> None:
        event.stop()
        what = "grad" if self._of_gradient else "value"
        array = self._shown(what)
        if array is None:
            return
        target = f"{what}{element(np.asarray(array), self._index, event.row, event.column)}"

        def change(text: str | None) -> None:
            if text is not None and text.strip():
                self.post_message(Edited(target, text.strip()))

        self.app.push_screen(
            TextEntry(f"{target} =", placeholder="a number, or Python over value, grad, inputs"), change
        )

    def _steps(self) -> None:
        assert self.scene is not None
        if self.scene.node is not None:
            self._find_alike(self.scene)

    def _say(self, text: Text) -> None:
        if self._glyphs.lane.isascii():
            text = in_ascii(text)
        self.query_one(WrappedText).show(themed(text, self.app.theme_variables))

    def _array(self, array: np.ndarray | None, what: str) -> None:
        facts, bars = self.query_one("#facts", Title), self.query_one("#histogram", Title)
        view = self.query_one(ArrayView)
        self._of_gradient = what == "gradient"
        view.display = array is not None and self.look != "histogram"
        bars.display = array is not None and self.look == "histogram"
        if array is None:
            facts.show(themed(Text(self._missing(what), "muted"), self.app.theme_variables))
            return
        array = np.asarray(array)
        try:
            chosen, where = plane(array, self._index)
        except CommandError:
            chosen, where = plane(array, ())
        facts.show(themed(_facts(array, what, where, self.look), self.app.theme_variables))
        if self.look == "histogram":
            width = max(self.size.width - 4, 8)
            drawn = histogram(chosen, width, max(self.query_one("#numbers").size.height - 4, 3), self._glyphs.bars)
            bars.show(themed(drawn, self.app.theme_variables))
        else:
            view.show(chosen, heat=self.look == "heatmap")

    @work(thread=True, exclusive=True, group="alike")
    def _find_alike(self, scene: Scene) -> None:
        node = scene.node
        if node is not None:
            self.post_message(Alike(node.row, alike(scene.log, node)))

    def on_alike(self, message: Alike) -> None:
        """Draw the history of the node, if it is still the one that is looked at."""
        message.stop()
        if self.scene is None or self.scene.now != message.row:
            return
        if self.tab == "steps":
            self._say(steps(self.scene, self._passes, message.rows, self.size.width - 4, self._glyphs.bars))
        elif self.tab == "compare":
            here = int(np.searchsorted(message.rows, message.row))
            self._away = max(-here, min(self._away, len(message.rows) - 1 - here)) or (-1 if here else 1)
            self._say(compare(self.scene, self._passes, message.rows, self._away, self.size.width - 4))

    def compare_with(self, by: int) -> None:
        """Compare with a step that is older, or newer, by so many."""
        if self.tab != "compare":
            self.open("compare")
        else:
            self._away += by if self._away + by else 2 * by
            self._render_tab()


_RENDERED = {
    "formula": Inspector._formula,
    "value": Inspector._value,
    "grad": Inspector._gradient,
    "about": Inspector._about,
    "steps": Inspector._steps,
    "compare": Inspector._steps,
}


def _facts(array: np.ndarray, what: str, where: str, look: str) -> Text:
    made = Text()
    made.append(f"{what} ", f"bold {'backward' if what == 'gradient' else 'forward'}")
    made.append(f"{shape_text(array.shape) or 'scalar'} {array.dtype} {where}", "bold")
    made.append(f"  v {VIEWS[(VIEWS.index(look) + 1) % len(VIEWS)]}  i slice", "muted")
    found = statistics(array)
    if found is not None:
        none_finite = found.nan + found.inf == array.size
        numbers = f"min {found.min:.3g}  max {found.max:.3g}  mean {found.mean:.2g}  std {found.std:.2g}"
        made.append("\nnone is finite" if none_finite else f"\n{numbers}")
        odd = [f"{count} {name}" for name, count in (("nan", found.nan), ("inf", found.inf)) if count]
        if odd:
            made.append("  " + "  ".join(odd), "bold error")
        if found.zero:
            made.append(f"  {100 * found.zero / max(array.size, 1):.0f}% zero", "muted")
    return made
