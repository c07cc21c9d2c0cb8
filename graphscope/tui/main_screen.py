"""The screen: its regions, and what passes between them."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import ClassVar, Final

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.events import ScreenResume
from textual.widget import Widget
from textual.widgets import Static

from graphscope.debugger.command_line import resolve
from graphscope.debugger.results import Ended, Result, Stop
from graphscope.debugger.results import Message as Said
from graphscope.debugger.results import Tour as TourWanted
from graphscope.eventlog.reader import Log
from graphscope.graph.outline import Steps
from graphscope.graph.step_numbers import step_numbers
from graphscope.tui import key_table, sizes
from graphscope.tui.arrangement import arrange
from graphscope.tui.findings.findings_panel import FindingsPanel
from graphscope.tui.glyphs import Glyphs
from graphscope.tui.heading import heading
from graphscope.tui.inspector.inspector import Inspector
from graphscope.tui.key_file import key_of, remapped
from graphscope.tui.key_line import KeyLine
from graphscope.tui.leaving import Leaving
from graphscope.tui.log_index import LogIndex
from graphscope.tui.map.map import Map
from graphscope.tui.messages import (
    CommandAnswered,
    CommandRequested,
    Edited,
    ModuleChosen,
    Moved,
    Notice,
    Prefill,
    Printed,
    Typed,
)
from graphscope.tui.prompt.answers import is_worth_telling
from graphscope.tui.prompt.history import History
from graphscope.tui.prompt.prompt import Prompt
from graphscope.tui.scene import Scene
from graphscope.tui.screen_session import Session
from graphscope.tui.search.search_line import SearchLine
from graphscope.tui.source.source import Source
from graphscope.tui.splitting import Split
from graphscope.tui.tape.kept_folds import fold_again, folds_of
from graphscope.tui.tape.tape import Tape
from graphscope.tui.text_widgets import Title
from graphscope.tui.timeline.timeline import Timeline
from graphscope.tui.tour import STOPS, Tour

_TICK: Final = 0.4
_SOON: Final = 0.05
_IDLE: Final = 3.0
_WORTH: Final = 10


class Main(Leaving):
    """Tape, source, inspector, map, timeline and prompt over one session."""

    BINDINGS: ClassVar[list[BindingType]] = [*key_table.OF_COMMANDS, *key_table.OF_SCREEN]

    HORIZONTAL_BREAKPOINTS = [*sizes.WIDTHS]  # noqa: RUF012 - as the base class declares it
    VERTICAL_BREAKPOINTS = [*sizes.HEIGHTS]  # noqa: RUF012 - as the base class declares it

    def __init__(
        self,
        log: Log,
        session: Session,
        glyphs: Glyphs,
        history: History,
        keymap: Mapping[str, str],
        size: tuple[int, int],
        *,
        is_first_time: bool = False,
        finish_reading: Callable[[], object] = lambda: None,
    ) -> None:
        super().__init__(classes=" ".join(sizes.classes(size)))
        self.session = session
        self.keymap = keymap
        self._opened = log
        self._finish_reading = finish_reading
        self.glyphs = glyphs
        self._history = history
        self._is_first_time = is_first_time
        self.early = []
        self.is_open = False
        """The regions are there."""
        self._placed = time.monotonic()
        self._left: Widget | None = None
        """What keys meant when the terminal became too small."""

    @cached_property
    def log_index(self) -> LogIndex:
        """What is kept of the log that is looked at; the log is read while the regions are made that show it."""
        self._finish_reading()
        return LogIndex(self._opened)

    @cached_property
    def stands(self) -> tuple[int, Stop | None]:
        """Where the debugger stands, and what it said of that: at first ahead of all rows."""
        return self.log_index.log.first - 1, None

    @cached_property
    def scene(self) -> Scene:
        """What all regions show."""
        return self._scene(*self.stands)

    def compose(self) -> ComposeResult:
        """The regions."""
        yield Title(id="heading")
        with Split(id="body"):
            yield Tape(self.glyphs, id="tape")
            with Split(id="side"):
                yield Source(self.glyphs, id="source")
                yield Inspector(self.glyphs, id="inspector")
                yield Map(self.glyphs, id="map")
        yield FindingsPanel(self.glyphs, id="findings")
        yield Timeline(self.glyphs, id="timeline")
        yield Prompt(self._complete, self._history, live=self.session.has_output, id="prompt")
        yield self._tour()
        yield KeyLine()
        yield SearchLine(id="search")
        yield Static(id="too-small")

    def _tour(self) -> Tour:
        bindings = {each.id: each for each in key_table.everywhere() if each.id in STOPS}
        keys = {each.id: key_of(each) for each in remapped(bindings.values(), self.keymap) if each.id}
        return Tour(keys, {name: bindings[name].action for name in STOPS})

    async def on_mount(self) -> None:
        """Open at the first node, and look for more from time to time."""
        self._share()
        self.query_one(Inspector).findings_of = self.query_one(Map).modules.findings_of
        self.query_one(Tape).focus()
        if not self.has_class("-slim"):
            self.query_one(Prompt).greet(
                key_table.greeting(remapped([*key_table.OF_COMMANDS, *key_table.OF_SCREEN], self.keymap))
            )
        self.app.theme_changed_signal.subscribe(self, lambda _: self._look_again())
        self.session.listen(self.post_message)
        if self.session.state:
            self._look_again()
            self._open()  # a program may take long until it has a node
        else:
            await self._begin()  # so that the first picture is whole
            arrange(self, self.session.arranged)
        self.is_open = True
        if self._is_first_time:
            self.query_one(Tour).begin()
        self.set_interval(_TICK, self._grow)
        if not self.app.is_headless:
            self.watch_terminal(_TICK)
        self.set_timer(_SOON, self._read_on)

    def on_screen_resume(self, event: ScreenResume) -> None:
        """Keep the styles: nothing has changed them ahead of the first picture, nor behind a dialog."""
        event.refresh_styles = False
        self.query_one(Map).lay_over()

    def on_unmount(self) -> None:
        """Hear no more."""
        self.session.listen(lambda message: None)

    # The log ---------------------------------------------------------------------------------------------------------

    def _grow(self) -> None:
        """Look whether the log has grown; while nobody does anything, look for garbage."""
        if time.monotonic() - self._placed > _IDLE and gc.get_count()[2] > _WORTH:
            gc.collect()
        if self.session.state == "starting" or not (self.has_lost_its_log() or self.log_index.refresh()):
            return  # a program that starts again has taken its log with it
        self.log_index.extend()
        self._share()
        if self.scene.node is None and not self.session.state:
            self._open()
        else:
            self._look_again()

    def _read_on(self) -> None:
        """Read what is not read yet, a stretch at a time, so that keys are answered in between."""
        if self.log_index.extend():
            self._show_tape()
            self.query_one(Source).show(self.log_index.counts)
            self.set_timer(_SOON, self._read_on)

    def _show_tape(self) -> None:
        reading = self.log_index
        self.query_one(Tape).show(reading.lines, reading.steps, reading.found_at)

    def _share(self) -> None:
        reading = self.log_index
        self.count_again()
        self._show_tape()
        self.query_one(Source).show(reading.counts)
        self.show_timeline()
        self.read_in_background()

    # Commands --------------------------------------------------------------------------------------------------------

    @work
    async def _open(self) -> None:
        await self._begin()

    async def _begin(self) -> None:
        results = await self.by_session(self.session.begin)
        if results:
            self._answered(CommandAnswered(CommandRequested("", quiet=True), tuple(results), self.session.now))
        else:
            self.show_heading()

    @on(CommandRequested)
    def _requested(self, message: CommandRequested) -> None:
        message.stop()
        if not self.session.begun and (self.early or moves(message.line)):
            self.early.append(message)
            shown = Said(f"{message.line} follows when the program has come to its first node", "ctrl+c forgets it")
            self.query_one(Prompt).say((shown,))
        else:
            self._carry_out(message)

    @work
    async def _carry_out(self, request: CommandRequested) -> None:
        results = await self.by_session(partial(self.session.carry_out, request.line, request.block))
        self.post_message(CommandAnswered(request, tuple(results), self.session.now))

    @on(Edited)
    @work
    async def _edit(self, message: Edited) -> None:
        results = await self.by_session(lambda: [self.session.edit(message.target, message.text)])
        self.post_message(CommandAnswered(CommandRequested("", quiet=True), tuple(results), self.session.now))

    @on(Moved)
    @work
    async def _follow(self, message: Moved) -> None:
        results = await self.by_session(self.session.follow)
        self.post_message(CommandAnswered(CommandRequested("", quiet=True), tuple(results), self.session.now))

    @on(Printed)
    def _printed(self) -> None:
        printed = self.session.take_printed()
        if not self.is_unseen:  # a program that prints without end would hold up the end of the screen
            self.query_one(Prompt).printed(printed)

    @on(Typed)
    def _typed(self, message: Typed) -> None:
        self.session.type(message.text)

    @on(Notice)
    def _noticed(self, message: Notice) -> None:
        if message.text.strip():
            self.query_one(Prompt).say((Said(message.text.rstrip("\n"), error=message.error),))
        self.show_heading()

    async def _complete(self, line: str, word: str) -> list[str]:
        return await self.by_session(partial(self.session.complete, line, word))

    @on(CommandAnswered)
    def _answered(self, message: CommandAnswered) -> None:
        message.stop()
        stops = [result for result in message.results if isinstance(result, Stop)]
        if any(isinstance(result, Ended) for result in message.results):
            self.action_quit()
            return
        found = tuple(result for result in message.results if not isinstance(result, TourWanted))
        if len(found) < len(message.results):
            self.query_one(Tour).begin()
        shown = tuple(result for result in found if not message.request.quiet or is_worth_telling(result))
        prompt = self.query_one(Prompt)
        lines = prompt.say(shown, "" if message.request.quiet else message.request.line) if shown else 0
        prompt.make_room(lines if message.request.quiet else 0)
        if self.session.state == "starting":
            self.place(self.log_index.log.first - 1, None)  # its old log is gone, and the new one not there yet
            return
        new = self.session.new_log()
        if new is not None:
            folds = folds_of(self.query_one(Tape))
            self.log_index = LogIndex(new)
            self.close_findings()
            self._share()
            if self.session.state:  # the program was started again: it makes the same rows
                fold_again(self.query_one(Tape), folds)
            self._read_on()
        elif self.log_index.refresh():
            self.log_index.extend()
            self._share()
        self.place(message.now, stops[-1] if stops else self.stands[1])
        self.judge_what_has_ended()
        if stops:
            self.judge_stop(stops[-1])
        if self.early and self.session.begun and self.session.state != "runs":
            self._carry_out(self.early.pop(0))

    @property
    def steps(self) -> Steps:
        """The training steps of the log."""
        return self.log_index.steps

    async def ask_now(self, line: str) -> list[Result]:
        """Carry out a command and wait for what it answers."""
        results = await self.by_session(partial(self.session.carry_out, line))
        self.place(self.session.now, self.stands[1])
        return results

    @on(ModuleChosen)
    def _module_chosen(self, message: ModuleChosen) -> None:
        self.query_one(Inspector).choose(message.by, message.call)

    @on(Prefill)
    def _prefill(self, message: Prefill) -> None:
        self.action_prefill(message.line)

    # Where one stands ------------------------------------------------------------------------------------------------

    def place(self, now: int, stop: Stop | None) -> None:
        """Take over where the debugger stands, and show that."""
        self.stands = now, stop
        self.look_at(now, stop)

    def _look_again(self) -> None:
        self.look_at(self.scene.now, self.scene.stop)

    def look_at(self, now: int, stop: Stop | None) -> None:
        """Let all regions show a position."""
        self._placed = time.monotonic()
        self.scene = scene = self._scene(now, stop)
        self.query_one(Tape).scene = scene
        self.query_one(Source).scene = scene
        self.query_one(Inspector).scene = scene
        self.query_one(Timeline).scene = scene
        self.query_one(Map).scene = scene
        self.show_heading()

    def _scene(self, now: int, stop: Stop | None) -> Scene:
        graph, session = self.log_index.graph, self.session
        return Scene(graph.at(now), graph, session.breakpoints, stop)

    def show_heading(self) -> None:
        """Draw the heading again."""
        self.query_one("#heading", Title).show(self._heading())
        self.query_one(KeyLine).found = bool(self.log_index.findings)
        self.show_search()

    def _heading(self) -> Text:
        return heading(
            self.scene,
            self.glyphs,
            self.app.theme_variables,
            name=self.session.name,
            rank=self.session.rank,
            state=self.session.state,
            edge=self.session.edge,
            step=step_numbers(self.scene.log).title(self.scene.now),
            findings=len(self.log_index.findings),
            width=self.app.size.width - 2,
        )

    def on_resize(self) -> None:
        """Say so where the terminal is too small, and keep what keys mean until it is larger again."""
        self.show_heading()
        width, height = self.app.size
        if not sizes.is_enough(width, height):
            self._left = self._left or self.focused
        elif self._left is not None:
            self.call_after_refresh(self._give_back, self._left)
            self._left = None
        self.query_one("#too-small", Static).update(sizes.complaint(width, height, self.glyphs.times))
        self.session.resize(max(height - 4, 1), max(width - 2, 1))

    def _give_back(self, left: Widget) -> None:
        """Let keys mean what they meant, unless that was closed meanwhile."""
        is_there = all(each.display for each in left.ancestors_with_self if isinstance(each, Widget))
        self.set_focus(left if is_there else self.query_one(Tape))


def moves(line: str) -> bool:
    """Whether a line lets the program run, or goes to another place in time."""
    found, _ = resolve(line)
    return found is not None and found.needs == "run"
