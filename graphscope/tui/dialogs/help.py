"""Help: what the regions show, every key and every command, made from the tables; what is typed narrows it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from graphscope.debugger.command_table import GROUPS, every
from graphscope.tui.glyphs import Glyphs
from graphscope.tui.guard import Guarded
from graphscope.tui.region_table import REGIONS, Region
from graphscope.tui.text_widgets import WrappedText
from graphscope.tui.theme_styles import themed

_SIGNS: Final[tuple[tuple[str, str, str], ...]] = (
    ("op", "forward", "an op has run"),
    ("leaf", "leaf", "a leaf: a parameter, an input, a constant"),
    (
        "grad",
        "backward",
        "a gradient has arrived, and the rule of its op is due; at the left, of the forward node there",
    ),
    ("accumulate", "backward", "a gradient was added to that of a leaf"),
    ("lane", "forward", "a value on its way to who uses it"),
    ("current", "warning", "here one is; what is dim lies ahead"),
    ("breakpoint", "error", "in the margin: a breakpoint"),
    ("finding", "error", "a finding: Enter says which"),
    ("nonfinite", "error", "NaN or infinity"),
    ("in_place", "error", "written in place"),
    ("edited", "error", "edited"),
)
"""By the name of the character: its colour and what it means."""

_PALETTE: Final = ("ctrl+p", "Palette: every key, command and theme by name")
_COLUMN: Final = 10
_CLOSING: Final = ("q", "?")
_NAMES: Final = {"pagedown": "PgDn", "pageup": "PgUp", "down": "↓", "up": "↑", "left": "←", "right": "→"}


@dataclass(frozen=True, slots=True)
class Entry:
    """A line or two of the help."""

    name: str
    """A sign, a key, or a command; empty of a paragraph."""
    what: str
    tone: str = "bold"


@dataclass(frozen=True, slots=True)
class Section:
    """Some entries under a title."""

    title: str
    entries: tuple[Entry, ...]


class Help(Guarded, ModalScreen[None]):
    """The region where one was first, then keys, then commands.

    Args:
        bindings: The keys of the screen.
        glyphs: The characters of pictures.
        about: The region where one was.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Close"),
        Binding("f1", "dismiss", "Close"),
        Binding("down", "scroll(1)", "Down"),
        Binding("up", "scroll(-1)", "Up"),
        Binding("pagedown", "page(1)", "Page down", priority=True),
        Binding("pageup", "page(-1)", "Page up", priority=True),
    ]

    def __init__(self, bindings: Iterable[Binding], glyphs: Glyphs, about: Region | None = None) -> None:
        super().__init__()
        self._sections = list(sections(bindings, glyphs, about))

    def compose(self) -> ComposeResult:
        """What narrows it, above one long text."""
        with Vertical(id="dialog"):
            yield _Wanted(placeholder="type to narrow: step, breakpoint, grad, ctrl ...", id="wanted")
            yield WrappedText(id="help-text")

    def on_mount(self) -> None:
        """Fill and name it."""
        dialog = self.query_one("#dialog")
        dialog.border_title = "help"
        dialog.border_subtitle = "↑ ↓ scroll, Esc closes"
        self._show("")
        self.query_one(Input).focus()

    @on(Input.Changed)
    def _narrow(self, event: Input.Changed) -> None:
        event.stop()
        self._show(event.value)

    def _show(self, wanted: str) -> None:
        shown = self.query_one(WrappedText)
        shown.show(themed(help_text(self._sections, wanted), self.app.theme_variables))
        shown.scroll_home(animate=False)

    def action_back(self) -> None:
        """Show all again; then close."""
        if self.query_one(Input).value:
            self.query_one(Input).value = ""
        else:
            self.dismiss()

    def action_scroll(self, by: int) -> None:
        """Scroll by lines."""
        self.query_one(WrappedText).scroll_relative(y=by, animate=False)

    def action_page(self, by: int) -> None:
        """Scroll by pages."""
        shown = self.query_one(WrappedText)
        shown.scroll_relative(y=by * max(shown.size.height - 1, 1), animate=False)


class _Wanted(Guarded, Input):
    """What is looked for; the keys that close the help do while nothing was typed."""

    async def _on_key(self, event: events.Key) -> None:
        if self.value or event.character not in _CLOSING:
            await super()._on_key(event)
            return
        event.stop()
        event.prevent_default()
        self.screen.dismiss()


def sections(bindings: Iterable[Binding], glyphs: Glyphs, about: Region | None = None) -> Iterator[Section]:
    """All that the help says, the region where one is first."""
    if about is not None:
        yield _region(about)
    signs = tuple(Entry(getattr(glyphs, name), what, colour) for name, colour, what in _SIGNS)
    yield Section("Signs on the tape", signs)
    keys = [(_shown(each), each.tooltip or each.description) for each in bindings]
    yield Section("Keys", tuple(Entry(key, what.removesuffix(".")) for key, what in (*keys, _PALETTE)))
    for region in REGIONS:
        if region is not about:
            yield _region(region)
    commands = every()
    for group in GROUPS:
        found = (Entry(each.usage, _sentence(each.doc)) for each in commands if each.group == group)
        yield Section(f"Commands, at the prompt (:): {group}", tuple(found))


def _region(region: Region) -> Section:
    keys = (Entry(_shown(each), (each.tooltip or each.description).removesuffix(".")) for each in region.keys)
    mouse = (Entry("mouse", region.mouse.removesuffix(".")),) if region.mouse else ()
    return Section(region.title, (Entry("", region.doc), *keys, *mouse))


def _shown(binding: Binding) -> str:
    """The keys of a binding as people name them."""
    return binding.key_display or " ".join(_NAMES.get(key, key) for key in binding.key.split(","))


def help_text(told: Iterable[Section], wanted: str = "") -> Text:
    """Sections as text: those entries in which all the words that are wanted stand."""
    made = Text()
    words = wanted.lower().split()
    for section in told:
        entries = [each for each in section.entries if _has(words, f"{section.title} {each.name} {each.what}")]
        if not entries:
            continue
        made.append(f"{section.title}\n", "bold primary")
        for entry in entries:
            if not entry.name:
                made.append(f"  {entry.what}\n")
            elif len(entry.name) > _COLUMN:
                made.append(f"  {entry.name}\n", entry.tone)
                made.append(f"      {entry.what}\n", "muted")
            else:
                made.append(f"  {entry.name:<{_COLUMN}}", entry.tone)
                made.append(f"{entry.what}\n")
        made.append("\n")
    if not made:
        made.append(f"Nothing is said of {wanted.strip()!r}: Esc shows all")
    return made


def _has(words: Iterable[str], text: str) -> bool:
    lowered = text.lower()
    return all(word in lowered for word in words)


def _sentence(text: str) -> str:
    """The first sentence, without its full stop."""
    first = text.partition("\n\n")[0].replace("\n", " ")
    return re.split(r"[.:] ", first, maxsplit=1)[0].rstrip(".")
