"""The prompt: reads the command language and keeps what was answered; beside it the program's own terminal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ClassVar, Final

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.scroll_view import ScrollView
from textual.suggester import Suggester
from textual.widgets import Input

from graphscope.debugger import interpreter
from graphscope.debugger.result_lines import lines_of
from graphscope.debugger.results import Result
from graphscope.graph.quantities import count_text
from graphscope.tui.guard import Guarded
from graphscope.tui.messages import CommandRequested, Typed
from graphscope.tui.prompt.answers import styled
from graphscope.tui.prompt.history import History
from graphscope.tui.prompt.output import Output
from graphscope.tui.prompt.transcript import Transcript
from graphscope.tui.screen_text import escape
from graphscope.tui.text_widgets import Title
from graphscope.tui.theme_styles import themed

Complete = Callable[[str, str], Awaitable[list[str]]]

_TALLEST: Final = 16
"""Nowhere does the style sheet let it be taller, but for an answer: that may take half of the screen."""
_BREAKS = " \t(,=[{+-*/<>!&|;\"'"


class Prompt(Guarded, Vertical):
    """A line to type in, and above it what was said; of a program that runs, in another tab, what it prints.

    Args:
        complete: Asks what a word may become.
        history: Lines typed before.
        live: Whether there is a program that prints, or has printed.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "back to the tape", id="prompt.leave"),
    ]

    def __init__(self, complete: Complete, history: History, *, live: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self._complete = complete
        self._history = history
        self._live = live
        self._unseen = 0
        """Lines that the program has printed while its tab was closed."""
        self.answer = ""
        """What was answered last."""
        self._wanted = 0
        """The lines of an answer that the prompt has grown for."""
        self._room: int | None = None
        self._block: list[str] | None = None
        self._of_block = ""
        self._goes_back = False
        """A key began the line: behind it the keys are given back."""

    def compose(self) -> ComposeResult:
        """The transcript and the line."""
        yield Transcript(id="transcript")
        if self._live:
            yield Output(id="output")
            with Horizontal(id="entry"):
                yield Title(id="tabs")
                yield Line(self._complete, self._history)
        else:
            yield Line(self._complete, self._history)

    def on_mount(self) -> None:
        """Name the tabs."""
        self.add_class("-silent")
        self._show_tabs()

    # The program's terminal ------------------------------------------------------------------------------------------

    @property
    def of_program(self) -> bool:
        """Whether the tab of the program is open: what is typed goes to it."""
        return self.has_class("-program")

    @property
    def shown(self) -> ScrollView:
        """What is above the line: what was said, or what the program has printed."""
        return self.query_one(Output) if self.of_program else self.query_one(Transcript)

    def show_program(self, shown: bool) -> None:
        """Open the tab of the program, or that of the debugger."""
        if not self._live:
            return
        self.set_class(shown, "-program")
        if shown:
            self.styles.height = None
            self.make_room(0)
        else:
            self._fit()
        self._unseen = 0
        line = self.query_one(Line)
        line.placeholder = TO_PROGRAM if shown else HINT
        self._show_tabs()
        if shown:
            self.screen.set_focus(line)

    def printed(self, text: str) -> None:
        """The program has printed something."""
        self.query_one(Output).printed(text)
        self._unseen += 0 if self.of_program else text.count("\n")
        self._show_tabs()

    def _show_tabs(self) -> None:
        if not self._live:
            return
        asks = not self.of_program and self.query_one(Output).asks
        unseen = " ?" if asks else f" {count_text(self._unseen)}" if self._unseen else ""
        made = Text(no_wrap=True)
        key = "" if self.of_program else "t "
        for name, text in (("gs", " (gs) "), ("program", f" {key}program{unseen} ")):
            shown = self.of_program == (name == "program")
            made.append(text, "reverse bold" if shown else "bold warning" if asks else "dim")
        made.append(" ")
        tabs = self.query_one("#tabs", Title)
        tabs.show(themed(made, self.app.theme_variables))
        tabs.styles.width = made.cell_len

    @on(events.Click, "#tabs")
    def _other_tab(self) -> None:
        self.show_program(not self.of_program)
        self.screen.set_focus(self.query_one(Line))

    # The debugger's --------------------------------------------------------------------------------------------------

    def say(self, results: tuple[Result, ...], typed: str = "") -> int:
        """Add what a command answered; how many lines that are."""
        transcript = self.query_one(Transcript)
        width = max((transcript.scrollable_content_region.width or self.size.width - 1) - 2, 40)
        answers = [text for result in results if (text := styled(lines_of(result, width))).plain]
        self.answer = "\n".join(text.plain for text in answers) or self.answer
        echo = [Text(f"(gs) {escape(typed)}", "dim")] if typed else []
        transcript.say([*echo, *answers])
        self._fit()
        if not transcript.rows:  # it is not seen yet, and wraps what was said when it is
            self.call_after_refresh(self._fit)
            return sum(len(line) // width + 1 for text in answers for line in text.plain.split("\n"))
        return transcript.rows - transcript.newest

    def _fit(self) -> None:
        """Take as many lines as were said, as far as the style sheet lets; the program's tab has its own height."""
        if self.of_program:
            return
        self.remove_class("-silent")
        lines = max(self.query_one(Transcript).rows, 1) + 1  # one, until it is known how wide they are
        lines = min(lines, max(self.screen.size.height // 2, _TALLEST))  # else each answer would lay out the screen
        if self.styles.height is None or self.styles.height.value != lines:
            self.styles.height = lines
        self.call_after_refresh(self._reveal)

    def make_room(self, lines: int) -> None:
        """Grow until an answer of so many lines can be seen, at most to half of the screen; 0 shrinks again."""
        self._wanted = lines
        room = min(lines + 1, self.screen.size.height // 2) if lines and not self.of_program else None
        if room != self._room:  # else the screen would be laid out again
            self._room = self.styles.max_height = room
            self.screen.set_class(room is not None, "-answered")

    def on_resize(self) -> None:
        """Keep the newest answer in sight, in at most half of the screen."""
        self.make_room(self._wanted)
        if not self.has_class("-silent"):
            self.call_after_refresh(self._fit)

    def _reveal(self) -> None:
        """Show the end of what was said; where the newest answer does not fit, its beginning."""
        transcript = self.query_one(Transcript)
        transcript.scroll_to(y=min(transcript.newest, transcript.max_scroll_y), animate=False)

    def greet(self, keys: str) -> None:
        """Tell a newcomer what to press."""
        self.query_one(Transcript).say([Text(keys, "muted")])
        self._fit()
        self.call_after_refresh(self._fit)

    def offer(self, words: str) -> None:
        """Tell what a word may become."""
        self.query_one(Transcript).say([Text(escape(words), "dim")])
        self._fit()

    def prefill(self, line: str) -> None:
        """Begin a line that the person may change."""
        self.show_program(False)
        entry = self.query_one(Line)
        self._goes_back = True
        entry.value = line
        self.screen.set_focus(entry)  # at once: the next key may be there already
        entry.cursor_position = len(line)

    def enter(self, entry: Input) -> None:
        """Take what was typed, and empty the line."""
        typed, entry.value = entry.value, ""
        if self.of_program:
            self.post_message(Typed(f"{typed}\n"))
            self.query_one(Output).printed(f"{typed}\n")
            return
        line = typed.strip()
        if self._block is not None:
            self._in_block(line)
            return
        line = line or self._history.last
        self._history.add(line)
        if not line:
            return
        if interpreter.wants_block(line):
            self._block, self._of_block = [], line
            entry.placeholder = "one command a line, then `end`"
            return
        self.post_message(CommandRequested(line))
        if self._goes_back:
            self.action_leave()

    def _in_block(self, line: str) -> None:
        assert self._block is not None
        if line != "end":
            self._block.append(line)
            return
        block, self._block = tuple(self._block), None
        self.query_one(Line).placeholder = HINT
        self.post_message(CommandRequested(self._of_block, block))

    def action_leave(self) -> None:
        """Give the keys back to the tape."""
        self._goes_back = False
        self.query_one(Line).value = ""
        self.screen.set_focus(self.screen.query_one("#tape"))


TO_PROGRAM = "typed into the program (ctrl+d: that was all); ctrl+t goes back to the debugger"
HINT = "a command, or Python over value, grad, inputs; help lists them"


class Line(Guarded, Input):
    """The line that is typed in."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "history(-1)", "earlier lines", id="prompt.earlier"),
        Binding("down", "history(1)", "Later", id="prompt.later", show=False),
        Binding("pageup", "page(-1)", "Page up", id="prompt.page-up", show=False),
        Binding("pagedown", "page(1)", "Page down", id="prompt.page-down", show=False),
        Binding("tab", "complete", "complete", id="prompt.complete"),
        Binding("ctrl+d", "end_of_input", "End of input", id="prompt.end-of-input", show=False),
    ]

    def __init__(self, complete: Complete, history: History) -> None:
        super().__init__(placeholder=HINT, id="line", suggester=_Completer(complete), select_on_focus=False)
        self._ask = complete
        self._history = history

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Whatever prints is typed, `/` too, whose key Textual knows by a name that Unicode has not."""
        return super().check_consume_key(key, character) or key == "slash"

    async def action_submit(self) -> None:
        """Take the line at once: what is typed behind it belongs to the next."""
        self._prompt.enter(self)

    def on_paste(self, event: events.Paste) -> None:
        """Take over all lines of what is pasted."""
        event.stop()
        event.prevent_default()
        self.paste(event.text)

    def paste(self, text: str) -> None:
        """Type a text: behind each of its lines comes Enter, but for the last."""
        *whole, last = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for line in whole:
            self.insert_text_at_cursor(line)
            self._prompt.enter(self)
        self.insert_text_at_cursor(last)

    def action_history(self, by: int) -> None:
        """Walk through what was typed before."""
        self.value = self._history.walk(by, self.value)
        self.cursor_position = len(self.value)

    def action_page(self, by: int) -> None:
        """Scroll what was said, or what the program has printed."""
        shown = self._prompt.shown
        shown.scroll_to(y=shown.scroll_y + by * max(shown.size.height - 1, 1), animate=False)

    def action_home(self, select: bool = False) -> None:
        """Go to the beginning of the line; where there is none, of what is shown above it."""
        if self.value:
            super().action_home(select)
        else:
            self._prompt.shown.scroll_home(animate=False)

    def action_end(self, select: bool = False) -> None:
        """Go to the end of the line; where there is none, of what is shown above it."""
        if self.value:
            super().action_end(select)
        else:
            self._prompt.shown.scroll_end(animate=False)

    @property
    def _prompt(self) -> Prompt:
        return next(each for each in self.ancestors if isinstance(each, Prompt))

    def action_end_of_input(self) -> None:
        """Tell a program that reads all of its input that this was all; elsewhere, delete what is under the cursor."""
        if self._prompt.of_program and not self.value:
            self.post_message(Typed("\x04"))
        else:
            self.action_delete_right()

    async def action_complete(self) -> None:
        """Complete the word before the cursor: as far as it is certain; then say what is possible."""
        if not self.value:
            self.screen.focus_next()
            return
        head = self.value[: self.cursor_position]
        word = _last_word(head)
        found = await self._ask(head, word)
        if not found:
            return
        common = found[0] if len(found) == 1 else _common(found)
        if len(common) > len(word):
            self.value = head[: len(head) - len(word)] + common + (" " if len(found) == 1 else "")
            self.cursor_position = len(self.value)
        elif len(found) > 1:
            shown = "  ".join(found[:60]) + ("  …" if len(found) > 60 else "")
            self._prompt.offer(shown)


class _Completer(Suggester):
    """Shows the only possible end of a word, dimly, behind the cursor."""

    def __init__(self, complete: Complete) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._complete = complete

    async def get_suggestion(self, value: str) -> str | None:
        """The line with its last word completed."""
        word = _last_word(value)
        if not word:
            return None
        found = await self._complete(value, word)
        return value[: len(value) - len(word)] + found[0] if found and len(found[0]) > len(word) else None


def _last_word(line: str) -> str:
    start = max((line.rfind(character) for character in _BREAKS), default=-1)
    return line[start + 1 :]


def _common(words: list[str]) -> str:
    first, last = min(words), max(words)
    size = next((place for place, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    return first[:size]
