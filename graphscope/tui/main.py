"""The screen: its regions, and what passes between them."""

from __future__ import annotations

import asyncio
from typing import ClassVar, Final

import numpy as np
from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Footer, Input, Static

from graphscope.debugger.results import Ended, Result, Stop
from graphscope.debugger.results import Message as Said
from graphscope.errors import CommandError
from graphscope.eventlog.reader import Log
from graphscope.graph import Graph
from graphscope.tui import keys
from graphscope.tui.dialogs.entry import Entry
from graphscope.tui.dialogs.help import Help
from graphscope.tui.dialogs.table import LISTS, TableDialog
from graphscope.tui.glyphs import Glyphs
from graphscope.tui.inspector.inspector import Inspector
from graphscope.tui.inspector.slices import read_slice
from graphscope.tui.map.map import Map
from graphscope.tui.messages import Answered, Asked, Grown, Prefill
from graphscope.tui.passes import Passes, passes_of
from graphscope.tui.prompt.history import History
from graphscope.tui.prompt.prompt import Prompt
from graphscope.tui.scene import Mark, Scene, title
from graphscope.tui.session import Session
from graphscope.tui.source.counts import Counts
from graphscope.tui.source.source import Source
from graphscope.tui.tape.lines import Lines
from graphscope.tui.tape.tape import Tape
from graphscope.tui.text import escape, shape_text
from graphscope.tui.timeline.curves import Curves, curves_of
from graphscope.tui.timeline.timeline import Timeline

SMALLEST: Final = (60, 16)
_TICK: Final = 0.4
_BLOCKS_AT_ONCE: Final = 32


class Measured(Message):
    """A worker has found what the timeline shows."""

    def __init__(self, curves: Curves) -> None:
        super().__init__()
        self.curves = curves


class Main(Screen[None]):
    """Tape, source, inspector, map, timeline and prompt over one session."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.OF_COMMANDS, *keys.OF_SCREEN]

    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - as the base class declares it
        (0, "-tiny"), (SMALLEST[0], "-narrow"), (110, "-middle"), (150, "-wide"),
    ]  # fmt: skip
    VERTICAL_BREAKPOINTS = [  # noqa: RUF012 - as the base class declares it
        (0, "-tiny"), (SMALLEST[1], "-short"), (30, "-tall"),
    ]  # fmt: skip

    def __init__(self, log: Log, session: Session, glyphs: Glyphs, history: History) -> None:
        super().__init__()
        self._log = log
        self._session = session
        self._glyphs = glyphs
        self._history = history
        self._lock = asyncio.Lock()
        self._graph = Graph(log)
        self._lines = Lines(log)
        self._passes = Passes([], [], [])
        self._counts = Counts(log)
        self._curves = Curves([], [], [])
        self.scene = Scene(self._graph.at(log.first - 1), self._graph)
        self.search = ""
        """The SPEC that `n` and `N` look for; empty when no search is under way."""

    def compose(self) -> ComposeResult:
        """The regions."""
        yield Static(id="heading")
        with Horizontal(id="body"):
            yield Tape(self._glyphs, id="tape")
            with Vertical(id="side"):
                yield Source(self._glyphs, id="source")
                yield Inspector(self._glyphs, id="inspector")
                yield Map(self._glyphs, id="map")
        yield Timeline(self._glyphs, id="timeline")
        yield Prompt(self._complete, self._history, id="prompt")
        yield Footer(show_command_palette=False)
        yield Static(id="too-small")

    def on_mount(self) -> None:
        """Open at the first node, and look for more from time to time."""
        self._lines.extend(_BLOCKS_AT_ONCE)
        self._passes = passes_of(self._log)
        self._share()
        self.query_one(Tape).focus()
        self.set_interval(_TICK, self._tick)
        self._counts.extend()
        self.query_one(Prompt).greet()
        self._open()

    # The log grows ---------------------------------------------------------------------------------------------------

    def _tick(self) -> None:
        """Look at more of the log: at what is not read yet, and at what was written since."""
        grown = self._log.refresh()
        unread = not self._lines.complete
        if grown or unread:
            self.post_message(Grown(self._log.end, self._log.closed))
        if self._counts.extend():
            self.query_one(Source).show(self._counts)

    def on_grown(self, message: Grown) -> None:
        """Show that there is more."""
        self._lines.extend(_BLOCKS_AT_ONCE)
        self._passes = passes_of(self._log)
        self._share()
        if self.scene.node is None:
            self._open()
        else:
            self._place(self.scene.now, self.scene.marks, self.scene.stop)

    def _share(self) -> None:
        self.query_one(Tape).show(self._lines, self._passes)
        self.query_one(Inspector).show(self._passes)
        self.query_one(Source).show(self._counts)
        self._show_time()
        self._measure()

    def _show_time(self) -> None:
        rare = self._log.rare()
        flags = np.array([int(self._log.raw(row)["flags"]) & 1 for row in rare[:20_000].tolist()], bool)
        self.query_one(Timeline).show(self._passes, self._curves, rare[: len(flags)][flags])

    @work(thread=True, exclusive=True, group="curves")
    def _measure(self) -> None:
        self.post_message(Measured(curves_of(self._log, self._passes)))

    def on_measured(self, message: Measured) -> None:
        """Draw the curves."""
        self._curves = message.curves
        self._show_time()

    # Commands --------------------------------------------------------------------------------------------------------

    @work
    async def _open(self) -> None:
        async with self._lock:
            stop = await asyncio.to_thread(self._session.begin)
        if stop is not None:
            self._place(self._session.now, self._session.marks, stop)

    @on(Asked)
    def _asked(self, message: Asked) -> None:
        message.stop()
        self._carry_out(message)

    @work
    async def _carry_out(self, asked: Asked) -> None:
        async with self._lock:
            results = await asyncio.to_thread(self._session.carry_out, asked.line, asked.block)
            now, marks = self._session.now, self._session.marks
        self.post_message(Answered(asked, tuple(results), now, marks))

    async def _complete(self, line: str, word: str) -> list[str]:
        async with self._lock:
            return await asyncio.to_thread(self._session.complete, line, word)

    @on(Answered)
    def _answered(self, message: Answered) -> None:
        message.stop()
        stops = [result for result in message.results if isinstance(result, Stop)]
        if any(isinstance(result, Ended) for result in message.results):
            self.app.exit()
            return
        self._log.refresh()
        if not self._lines.complete:
            self._lines.extend(_BLOCKS_AT_ONCE)
        self._place(message.now, message.marks, stops[-1] if stops else self.scene.stop)
        told = tuple(result for result in message.results if not message.asked.quiet or _worth_telling(result))
        if told:
            self.query_one(Prompt).say(told, "" if message.asked.quiet else message.asked.line)

    def _place(self, now: int, marks: tuple[Mark, ...], stop: Stop | None) -> None:
        """Let all regions look at a position."""
        self.scene = scene = Scene(self._graph.at(now), self._graph, marks, stop)
        self.query_one(Tape).scene = scene
        self.query_one(Source).scene = scene
        self.query_one(Inspector).scene = scene
        self.query_one(Timeline).scene = scene
        self.query_one(Map).scene = scene
        self.query_one("#heading", Static).update(self._heading(scene))

    def _heading(self, scene: Scene) -> Text:
        made = Text(no_wrap=True, overflow="ellipsis")
        made.append("graphscope ", "bold")
        made.append(f" {escape(self._log.path.name)} ", "dim")
        node = scene.node
        if node is None:
            made.append(" waiting for the first node" if not self._log.closed else " no nodes")
            return made
        made.append(f" step {self._passes.step_of(scene.now)} ", "")
        colour = self.app.theme_variables["backward" if node.graph_pass == "backward" else "forward"]
        sign = self._glyphs.up if node.graph_pass == "backward" else self._glyphs.arrow
        made.append(f" {sign} {node.graph_pass} ", f"bold {colour}")
        made.append(f" #{node.row} {escape(title(node))}", "bold")
        made.append(f"  {shape_text(node.shape, self._glyphs.times) or 'scalar'}", "dim")
        if not self._log.closed:
            made.append("  growing", "italic dim")
        if self.search:
            made.append(f"   /{escape(self.search)}  n N Esc", "bold")
        if scene.stop is not None and scene.stop.reason:
            made.append(f"   {escape(scene.stop.reason)}", "italic")
        return made

    # Keys ------------------------------------------------------------------------------------------------------------

    def action_ask(self, line: str) -> None:
        """Carry out a command that a key means."""
        if self.search and line == "next":
            line = f"find {self.search}"
        self.post_message(Asked(line, quiet=True))

    def action_search(self) -> None:
        """Ask what to look for."""
        title = "search: an op, a name, or a SPEC"

        def begin(spec: str | None) -> None:
            if spec and spec.strip():
                self.search = spec.strip()
                self.post_message(Asked(f"find {self.search}", quiet=True))

        self.app.push_screen(Entry(title, self.search, "mm   name:fc1.*   op:tanh backward   line:model.py:31"), begin)

    def action_search_back(self) -> None:
        """Go to the match before this one."""
        if self.search:
            self.post_message(Asked(f"rfind {self.search}", quiet=True))
        else:
            self.action_search()

    def action_end_search(self) -> None:
        """Let `n` mean the next node again."""
        self.search = ""
        self.query_one("#heading", Static).update(self._heading(self.scene))
        self.query_one(Tape).focus()

    def action_interrupt(self) -> None:
        """Interrupt a command that takes long."""
        self._session.interrupt()

    def action_list(self, name: str) -> None:
        """Open a list."""

        def close(found: tuple[str, bool] | None) -> None:
            if found is not None and found[1]:
                self.action_prefill(found[0])
            elif found is not None:
                self.post_message(Asked(found[0], quiet=True))

        self.app.push_screen(TableDialog(LISTS[name], self._ask_now), close)

    def action_help(self) -> None:
        """Show all keys and commands."""
        self.app.push_screen(Help([*keys.OF_COMMANDS, *keys.OF_SCREEN]))

    def action_slice(self) -> None:
        """Ask for a slice of what is shown."""

        def choose(text: str | None) -> None:
            if text is None:
                return
            try:
                self.query_one(Inspector).slice(read_slice(text))
            except CommandError as error:
                self.notify(error.message, title="no slice", severity="warning")

        self.app.push_screen(Entry("slice of the value", placeholder="[0, :, 3:7]; empty shows all"), choose)

    def action_picture(self) -> None:
        """Save the screen as a picture."""
        name = f"{self._log.path.stem}-{self.scene.now}.svg"
        try:
            self.notify(f"Written to {self.app.save_screenshot(name, path='.')}")
        except OSError as error:
            self.notify(f"{name} can't be written: {error.strerror}", severity="error")

    def action_quit(self) -> None:
        """Leave."""
        self._session.interrupt()
        self.app.exit()

    async def _ask_now(self, line: str) -> list[Result]:
        async with self._lock:
            results = await asyncio.to_thread(self._session.carry_out, line)
            now, marks = self._session.now, self._session.marks
        self._place(now, marks, self.scene.stop)
        return results

    def action_prefill(self, line: str) -> None:
        """Begin a line at the prompt."""
        self.query_one(Prompt).prefill(line)

    @on(Prefill)
    def _prefill(self, message: Prefill) -> None:
        self.action_prefill(message.line)

    def action_prefill_break(self) -> None:
        """Begin a breakpoint at what one looks at: the line in the source, else the op in its pass."""
        node = self.scene.node
        if self.focused is self.query_one(Source):
            self.query_one(Source).action_breakpoint()
        elif node is None:
            self.action_prefill("break ")
        else:
            spec = f"name:{node.name}" if node.kind in ("leaf", "accumulate") and node.name else f"op:{node.op}"
            self.action_prefill(f"break {spec} {node.graph_pass}")

    def action_prompt(self) -> None:
        """Go to the prompt."""
        self.query_one("#line", Input).focus()

    def action_tab(self, name: str) -> None:
        """Open a tab of the inspector."""
        self.query_one(Inspector).open(name)

    def action_look(self) -> None:
        """Show a value in another way."""
        self.query_one(Inspector).cycle_look()

    def action_toggle_map(self) -> None:
        """Show or hide the map."""
        self.toggle_class("-map")
        shown = self.query_one(Map) if self.has_class("-map") else self.query_one(Tape)
        self.call_after_refresh(shown.focus)

    def action_radius(self, by: int) -> None:
        """Widen or narrow the map."""
        self.query_one(Map).widen(by)

    def on_resize(self) -> None:
        """Say so where the terminal is too small."""
        width, height = self.app.size
        least = f"{SMALLEST[0]}{self._glyphs.times}{SMALLEST[1]}"
        self.query_one("#too-small", Static).update(
            f"graphscope needs a terminal of {least};\nthis one is {width}{self._glyphs.times}{height}.\n"
            "Make it larger, or q leaves."
        )


def _worth_telling(result: Result) -> bool:
    """Whether what a key did is to be told in words, too."""
    if isinstance(result, Stop):
        return bool(result.reason or result.notes or result.displays)
    return not isinstance(result, Said) or bool(result.text)
