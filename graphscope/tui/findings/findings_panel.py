"""The panel of findings: what is wrong, where, why, and what to do about it, beside everything else on the screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.layouts.horizontal import HorizontalLayout
from textual.message import Message
from textual.widgets import OptionList

from graphscope.debugger.result_lines import lines_of_finding
from graphscope.diagnose import Finding
from graphscope.tui.glyphs import Glyphs
from graphscope.tui.guard import Guarded
from graphscope.tui.prompt.answers import styled
from graphscope.tui.screen_text import escape
from graphscope.tui.text_widgets import WrappedText
from graphscope.tui.theme_styles import themed

NOTHING: Final = "Nothing was found"

_LEAST: Final = 20
_FRAME: Final = 2
_LISTED: Final = 3
"""So many lines the list has above what is told, at most: as in the style sheet."""


class FindingChosen(Message):
    """A person wants to see where a finding is."""

    def __init__(self, finding: Finding) -> None:
        super().__init__()
        self.finding = finding


class FindingList(Guarded, OptionList):
    """One line a finding; beneath it, what came of it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", "go there", id="findings.go"),
        Binding("down,j", "cursor_down", "Down", id="findings.down", show=False),
        Binding("up,k", "cursor_up", "Up", id="findings.up", show=False),
    ]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A list that has no room to be seen in has no pages to turn."""
        return self.size.height > 0 or not action.startswith("page_")


class FindingsPanel(Guarded, Vertical):
    """A list of findings, and all that is to be said of the one under the cursor: the verdict first."""

    def __init__(self, glyphs: Glyphs, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._findings: tuple[Finding, ...] = ()
        self._effects: set[int] = set()
        """Places in the list of what came of the finding before."""
        self._nothing = ""

    def compose(self) -> ComposeResult:
        """The list over what is told."""
        yield FindingList(id="finding-list", markup=False)
        yield WrappedText(id="finding-told")

    def on_mount(self) -> None:
        """Follow the theme."""
        self.query_one(WrappedText).can_focus = False
        self.app.theme_changed_signal.subscribe(self, lambda _: self.show(self._roots, self._nothing))

    @property
    def chosen(self) -> Finding | None:
        """The finding under the cursor."""
        place = self.query_one(FindingList).highlighted
        return self._findings[place] if place is not None and place < len(self._findings) else None

    @property
    def _roots(self) -> tuple[Finding, ...]:
        return tuple(each for place, each in enumerate(self._findings) if place not in self._effects)

    def show(self, roots: Sequence[Finding], nothing: str = "") -> None:
        """List findings, or say that there are none, in other words if some are given.

        The cursor stays at the one that it was on.
        """
        before, self._nothing = self.chosen, nothing
        told = [(is_effect, each) for root in roots for is_effect, each in _with_effects(root)]
        self._findings = tuple(each for _, each in told)
        self._effects = {place for place, (is_effect, _) in enumerate(told) if is_effect}
        found = self.query_one(FindingList)
        found.clear_options()
        found.add_options(self._titles())
        if before in self._findings:
            self.choose(before)
        elif self._findings:
            found.highlighted = 0
        self._tell()

    def enter(self) -> None:
        """Let keys mean the list."""
        self.screen.set_focus(self.query_one(FindingList))

    def choose(self, finding: Finding | None) -> None:
        """Put the cursor on a finding."""
        if finding in self._findings:
            self.query_one(FindingList).highlighted = self._findings.index(finding)

    def _titles(self) -> list[Text]:
        """The lines of the list, in columns."""
        rows = [
            (f"{'  so ' * (place in self._effects)}{each.kind}", each.place, each.step, each.severity)
            for place, each in enumerate(self._findings)
        ]
        widths = [max((len(row[column]) for row in rows), default=0) for column in range(2)]
        return [
            themed(
                Text.assemble(
                    (f"{self._glyphs.finding} ", severity),
                    (f"{escape(kind):<{widths[0]}}  ", "bold"),
                    f"{escape(place):<{widths[1]}}  ",
                    (escape(step), "muted"),
                    no_wrap=True,
                    overflow="ellipsis",
                ),
                self.app.theme_variables,
            )
            for kind, place, step, severity in rows
        ]

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        self._tell()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if (finding := self.chosen) is not None:
            self.post_message(FindingChosen(finding))

    def on_resize(self) -> None:
        """Tell the same in another width."""
        self._tell()

    def _tell(self) -> None:
        finding, told = self.chosen, self.query_one(WrappedText)
        count = len(self._findings)
        if finding is None:
            self.border_title, self.border_subtitle = "findings", "Esc closes"
            told.show(Text(escape(self._nothing or NOTHING)))
            return
        self.border_title = f"finding {self._findings.index(finding) + 1} of {count}" if count > 1 else "finding"
        self.border_subtitle = "Enter goes there, Esc closes"
        lines = lines_of_finding(finding, max(told.scrollable_content_region.width, _LEAST))
        told.show(themed(styled(lines), self.app.theme_variables))
        told.scroll_home(animate=False)
        self.styles.height = (
            len(lines) + _FRAME + (0 if isinstance(self.layout, HorizontalLayout) else min(count, _LISTED))
        )


def _with_effects(root: Finding) -> list[tuple[bool, Finding]]:
    """A finding and what came of it, each with whether it is that."""
    return [(False, root), *((True, each) for each in root.consequences)]
