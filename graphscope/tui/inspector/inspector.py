"""The inspector: what the panels of the table show of one node, a tab each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.reactive import reactive

from graphscope.tui.ascii_text import in_ascii
from graphscope.tui.glyphs import Glyphs
from graphscope.tui.guard import Guarded
from graphscope.tui.inspector.numbers_view import NumbersView
from graphscope.tui.inspector.panel_table import PANELS, Numbers, Panel, View, every
from graphscope.tui.inspector.slices import Index
from graphscope.tui.inspector.tabs import TabLine
from graphscope.tui.scene import Scene, title
from graphscope.tui.screen_text import escape, shape_text
from graphscope.tui.text_widgets import Entitled, WrappedText
from graphscope.tui.theme_styles import themed

if TYPE_CHECKING:
    from graphscope.graph.modules import Call

_ROOMY = 26


class Searched(Message):
    """What a panel searches for was found."""

    def __init__(self, panel: Panel, row: int, found: object) -> None:
        super().__init__()
        self.panel = panel
        self.row = row
        """The row where one stood."""
        self.found = found


class Inspector(Guarded, Entitled, Vertical):
    """Looks at the current node."""

    scene: reactive[Scene | None] = reactive(None, repaint=False)

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._away = -1
        """Which of the nodes like this one it is compared with."""
        self._moves: list[int] = []
        """Keys `<` and `>` that were pressed while the panel's search went on."""
        self._modules: dict[str, Call | None] = {}
        """The module on which one stands as a whole, by the region where one does."""
        self.findings_of: Callable[[Call], int] = lambda call: 0
        """How many findings lie in a module."""
        self.entitle("inspector")

    def compose(self) -> ComposeResult:
        """Tabs over what they show."""
        yield TabLine(every())
        yield WrappedText(id="words")
        yield NumbersView(self._glyphs, id="numbers")

    @property
    def panel(self) -> Panel:
        """The panel that is open."""
        return PANELS[self.query_one(TabLine).active]

    def open(self, name: str) -> None:
        """Open a panel."""
        self.query_one(TabLine).active = name

    def turn(self) -> None:
        """Numbers, heatmap, histogram, and round; elsewhere, begin with the value."""
        if self.panel.numbers_of is None:
            self.open(_numbers("forward").name)
        else:
            self.query_one(NumbersView).turn()

    def slice(self, index: Index) -> None:
        """Show a slice of values and gradients from now on."""
        self.query_one(NumbersView).slice(index)
        if self.panel.numbers_of is None:
            self.open(_numbers("forward").name)

    def compare_with(self, by: int) -> None:
        """Compare with a step that is older, or newer, by so many."""
        if self.panel.move is None:
            self.open(next(panel.name for panel in every() if panel.move is not None))
        else:
            self._moves.append(by)
            self._render_panels()

    def choose(self, by: str, call: Call | None) -> None:
        """Look at a module as a whole, or at the node again.

        Args:
            by: The region where a person stands on it.
            call: A call of the module; None where one stands on none there.
        """
        if self._modules.get(by) != call:
            self._modules[by] = call
            self.watch_scene(self.scene, self.scene)

    @property
    def module(self) -> Call | None:
        """The module on which one stands as a whole."""
        return next((call for call in self._modules.values() if call is not None), None)

    def watch_scene(self, old: Scene | None, scene: Scene | None) -> None:
        """Look at the current node."""
        node = scene.node if scene is not None else None
        if scene is not None and (call := self.module) is not None and self.panel.numbers_of is None:
            from graphscope.tui.inspector.module_text import module_title  # no module is looked at at first

            self.entitle(escape(module_title(scene, call)))
        elif node is None:
            self.entitle("inspector")
        else:
            shape = shape_text(node.shape, self._glyphs.times) or "scalar"
            goes_on = (
                ": the program goes on with it"
                if scene is not None and scene.stop is not None and scene.stop.live
                else ""
            )
            edited = f"{self._glyphs.edited} edited{goes_on}" if node.edited else ""
            self.entitle(escape(f"#{node.row} {title(node)}  {shape} {node.dtype}"), edited)
        self._render_panels()

    def on_resize(self) -> None:
        """Draw again for another width."""
        self._render_panels()

    @on(TabLine.Opened)
    def _tab_changed(self, event: TabLine.Opened) -> None:
        event.stop()
        self._render_panels()

    def _render_panels(self) -> None:
        if not self.is_mounted or self.scene is None:
            return
        shown = self._shown(self.scene)
        self.set_class(self.panel.numbers_of is not None, "-numbers")
        self.set_class(len(shown) > 1, "-both")
        for panel in shown:
            if panel.search is None:
                self._draw(panel, self.scene)
            else:
                self._search(panel, self.scene)

    def _shown(self, scene: Scene) -> tuple[Panel, ...]:
        """The panel that is open, and where there is room for both, the one beside it; a module is told of alone."""
        if self.module is not None and self.panel.numbers_of is None:
            return (self.panel,)
        return (self.panel, _beside(self.panel, scene)) if self.size.height >= _ROOMY else (self.panel,)

    @work(thread=True, exclusive=True, group="search")
    def _search(self, panel: Panel, scene: Scene) -> None:
        if panel.search is not None:
            self.post_message(Searched(panel, scene.now, panel.search(scene)))

    def on_searched(self, message: Searched) -> None:
        """Draw a panel with what it searched for, if it and its node are still looked at."""
        message.stop()
        scene = self.scene
        if scene is not None and scene.now == message.row and message.panel in self._shown(scene):
            self._draw(message.panel, scene, message.found)

    def _draw(self, panel: Panel, scene: Scene, found: object = None) -> None:
        module = self.module
        findings = self.findings_of(module) if module is not None else 0
        view = View(scene, self.size.width - 4, self._glyphs, self._away, found, module, findings)
        if panel.move is not None:
            for by in self._moves:
                view = replace(view, away=panel.move(view, by))
            self._away = view.away
            self._moves.clear()
        made = panel.draw(view)
        if isinstance(made, Numbers):
            self.query_one(NumbersView).show(made, panel.numbers_of or "forward")
        else:
            self._say(made)

    def _say(self, text: Text) -> None:
        if self._glyphs.lane.isascii():
            text = in_ascii(text)
        self.query_one(WrappedText).show(themed(text, self.app.theme_variables))


def _numbers(graph_pass: str) -> Panel:
    """The first panel that has the numbers of a pass."""
    return next(panel for panel in every() if panel.numbers_of == graph_pass)


def _beside(panel: Panel, scene: Scene) -> Panel:
    """What stands beside a panel where there is room for both: text beside numbers, numbers beside text."""
    if panel.numbers_of is not None:
        return next(other for other in every() if other.numbers_of is None)
    node = scene.node
    return _numbers("backward" if node is not None and node.kind in ("grad", "accumulate") else "forward")
