"""Two runs side by side: the tapes, what is to be said of the line under the cursor, and where its tensors differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.screen import Screen

from graphscope.compare.report_lines import headline
from graphscope.graph import Graph
from graphscope.tui.comparison import details
from graphscope.tui.comparison.paired_tape import Chosen, PairedTape
from graphscope.tui.guard import Guarded
from graphscope.tui.inspector.array import ArrayView
from graphscope.tui.inspector.numbers_view import NumbersView
from graphscope.tui.inspector.panel_table import Numbers
from graphscope.tui.inspector.slice_entry import ask_slice
from graphscope.tui.key_line import KeyLine
from graphscope.tui.screen_text import escape, fit
from graphscope.tui.text_widgets import Title, WrappedText
from graphscope.tui.theme_styles import themed

if TYPE_CHECKING:
    from graphscope.compare import Difference
    from graphscope.diagnose.text_lines import Line
    from graphscope.graph import Node
    from graphscope.tui.glyphs import Glyphs

_MISSING: Final = "No two tensors of one size were kept here."
_STYLES: Final = {"error": "bold error", "warning": "bold warning", "source": "primary", "remark": "muted"}


class ComparisonScreen(Guarded, Screen[None]):
    """The two tapes over what is said of the line under the cursor.

    Args:
        found: The two runs.
        glyphs: Characters.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "compare", "compare tensors, and back", priority=True),
        Binding("v", "turn", "numbers, heatmap, histogram", show=False),
        Binding("i", "slice", "Slice", show=False),
        Binding("escape", "close", "Back to the tapes", show=False),
        Binding("q", "leave", "leave"),
    ]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (140, "-roomy")]  # noqa: RUF012 - as the base class declares it

    def __init__(self, found: Difference, glyphs: Glyphs) -> None:
        super().__init__()
        self._found = found
        self._glyphs = glyphs
        self._graphs = Graph(found.a), Graph(found.b)

    def compose(self) -> ComposeResult:
        """The regions."""
        yield Title(id="heading")
        yield PairedTape(self._found, self._glyphs, id="tapes")
        with Horizontal(id="compared"):
            yield WrappedText(id="words")
            yield NumbersView(self._glyphs, id="numbers")
        yield KeyLine()

    def on_mount(self) -> None:
        """Say where they part."""
        self.query_one(NumbersView).turn()  # to the heatmap
        self.query_one(PairedTape).focus()

    def on_resize(self) -> None:
        """Let each name stand over its tape."""
        tape = self.query_one(PairedTape)
        made = Text(no_wrap=True)
        for name, log, room in zip("ab", (self._found.a, self._found.b), tape.halves(self.size.width), strict=True):
            made.append(f"{name} ", "muted")
            made.append(fit(log.path.name, max(room - 2, 1), self._glyphs.ellipsis), "bold")
        said = " ".join(f"{number} {what}," for what, number in tape.counts().items() if number).rstrip(",")
        said = f" {said or headline(self._found)} "
        made.truncate(max(self.size.width - 2 - len(said), 0))
        made.append(said, "warning" if self._found else "muted")
        self.query_one("#heading", Title).show(themed(made, self.app.theme_variables))

    @on(Chosen)
    def _look(self) -> None:
        """Say what there is of the line under the cursor."""
        a, b = self._chosen()
        text, numbers = self.query_one(WrappedText), self.query_one(NumbersView)
        lines = details.words(self._found, a, b, max(text.size.width - 3, 40))
        text.show(themed(_text(lines), self.app.theme_variables))
        apart = details.excess(a, b)
        if apart is None:
            numbers.show(Numbers("b - a", None, _MISSING), "forward")
        else:
            place = details.worst(apart)
            at = f" at {list(place)}" if place else ""
            numbers.show(Numbers(f"b - a (worst {apart[place]:.3g}{at})", apart), "forward")
            numbers.slice(place[:-2])
            view = self.query_one(ArrayView)
            row, column = (0, 0, *place)[-2:]
            view.cursor = (row, column)
            view.action_move(0, 0)

    def _chosen(self) -> tuple[Node | None, Node | None]:
        """The nodes of the line under the cursor."""
        tape = self.query_one(PairedTape)
        rows = (-1, -1) if not len(tape.lines) else tape.lines[["a", "b"]][tape.cursor].item()
        a, b = (None if row < 0 else graph.node(row) for graph, row in zip(self._graphs, rows, strict=True))
        return a, b

    # Keys ------------------------------------------------------------------------------------------------------------

    def action_compare(self) -> None:
        """Look at where in the tensors the difference lies; back to the tapes."""
        if self.has_class("-numbers"):
            self.action_close()
            return
        self.add_class("-numbers")
        self.query_one(ArrayView).focus()

    def action_leave(self) -> None:
        """Back to the run; where the two runs are all that is shown, end."""
        if len(self.app.screen_stack) > 1:
            self.dismiss()
        else:
            self.app.exit()

    def action_close(self) -> None:
        """Look at the tapes again; from there, back to the run."""
        if not self.has_class("-numbers") and len(self.app.screen_stack) > 1:
            self.dismiss()
            return
        self.remove_class("-numbers")
        self.query_one(PairedTape).focus()

    def action_turn(self) -> None:
        """Numbers, heatmap, histogram, and round."""
        self.query_one(NumbersView).turn()

    def action_slice(self) -> None:
        """Ask for a slice of the difference."""
        ask_slice(self, self.query_one(NumbersView).slice)


def _text(lines: list[Line]) -> Text:
    made = Text()
    for line in lines:
        made.append(f"{escape(line.text)}\n", _STYLES.get(line.meaning, ""))
    return made
