"""What the doctor finds in the log that is looked at: found off the screen's thread, listed, marked, and gone to."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from typing import Final

from textual import on, work
from textual.message import Message

from graphscope.debugger import nodes
from graphscope.debugger.results import Stop
from graphscope.diagnose import Finding, Report, doctor
from graphscope.errors import LogError
from graphscope.eventlog.siblings import bare
from graphscope.tui.actions import Actions
from graphscope.tui.findings.findings_panel import NOTHING, FindingChosen, FindingsPanel
from graphscope.tui.log_index import LogIndex
from graphscope.tui.messages import CommandRequested, MarkChosen
from graphscope.tui.screen_text import escape
from graphscope.tui.source.source import Source
from graphscope.tui.tape.tape import Tape
from graphscope.tui.tour import Tour

_MOST: Final = 1 << 20
"""A log of more rows is judged only when a person asks for its findings."""
_MOST_AT_STOP: Final = 1 << 17
"""The same at a stop of a program, which goes on."""
_EXCEPTION: Final = "raised"
_JUDGED_STOPS: Final = ("breakpoint", "watch", "exception", "pause")


class Judged(Message):
    """A worker has found what is wrong with a run."""

    def __init__(self, log_index: LogIndex, findings: tuple[Finding, ...], *, is_all: bool) -> None:
        super().__init__()
        self.log_index = log_index
        self.findings = findings
        self.is_all = is_all
        """The run was over by then."""


class Judging(Actions):
    """The findings; the screen that has regions is above it."""

    @cached_property
    def log_index(self) -> LogIndex:
        """What is kept of the log that is looked at."""
        raise NotImplementedError

    def show_timeline(self) -> None:
        """Draw the timeline of what is known of the log."""
        raise NotImplementedError

    # Known -----------------------------------------------------------------------------------------------------------

    @property
    def _is_over(self) -> bool:
        state = self.session.state
        return state in ("ended", "failed") or (not state and self.log_index.log.closed)

    def judge_what_has_ended(self) -> None:
        """Look for what is wrong with a run that is over, once."""
        reading = self.log_index
        if self._is_over and not reading.judged and len(reading.log) <= _MOST:
            reading.judged = True
            self.call_after_refresh(self._judge, reading)  # what is known is drawn first

    def judge_stop(self, stop: Stop) -> None:
        """Look for what is wrong with a run up to a stop that somebody asked for; what it stopped for is shown."""
        if stop.findings:
            self.take_findings(stop.findings)
            self._open_findings()
        elif stop.live and stop.cause in _JUDGED_STOPS and len(self.log_index.log) <= _MOST_AT_STOP:
            self._judge(self.log_index)

    @work(thread=True, exclusive=True, group="findings")
    def _judge(self, log_index: LogIndex) -> None:
        with suppress(LogError):  # it is gone meanwhile
            is_over = self._is_over
            self.post_message(Judged(log_index, doctor(log_index.log.path).findings, is_all=is_over))

    def on_judged(self, message: Judged) -> None:
        """Mark what was found; that of a program that has just ended is told at once."""
        if message.log_index is not self.log_index:
            return
        self.log_index.is_all_found = message.is_all
        self.take_findings(message.findings)
        is_told = all(each.kind == _EXCEPTION for each in message.findings)  # the heading and the prompt say it
        if not is_told and self.session.state in ("ended", "failed"):
            self._open_findings()

    def take_findings(self, findings: tuple[Finding, ...]) -> None:
        """Mark and list these from now on."""
        self.log_index.findings = findings
        if self.has_class("-findings"):
            self.query_one(FindingsPanel).show(findings, self._nothing)
        self.show_timeline()
        self.query_one(Tape).mark(self.log_index.found_at)
        self.show_heading()

    @property
    def _nothing(self) -> str:
        """That nothing was found; of one rank of a run, what finds where ranks part."""
        rank, path = self.session.rank, self.log_index.log.path
        if not rank.startswith("rank "):
            return NOTHING
        run = shlex.quote(str(path.with_name(bare(path))))
        return f"{NOTHING} in {rank} by itself: `graphscope ranks {run}` says where they part"

    # What a person does ----------------------------------------------------------------------------------------------

    def _open_findings(self) -> None:
        if not self.has_class("-findings"):
            self.add_class("-findings")
            self.query_one(FindingsPanel).show(self.log_index.findings, self._nothing)

    @work(exclusive=True, group="ask findings")
    async def action_findings(self) -> None:
        """Open the panel of findings; where it is open, go to it; where one is in it, close it."""
        panel = self.query_one(FindingsPanel)
        if panel.has_focus_within:
            self.close_findings()
            return
        if not self.has_class("-findings"):
            await self._ask_findings()
        self._open_findings()
        self._give_back_the_tape()
        self.call_after_refresh(panel.enter)

    async def _ask_findings(self) -> None:
        """Learn what is wrong up to now, where that is not known."""
        reading, is_over = self.log_index, self._is_over
        if is_over and reading.is_all_found:
            return
        for result in await self.ask_now("doctor"):
            if isinstance(result, Report) and reading is self.log_index:
                reading.is_all_found = is_over
                self.take_findings(result.findings)

    def close_findings(self) -> None:
        """Close the panel."""
        if self.query_one(FindingsPanel).has_focus_within:
            self.set_focus(self.query_one(Tape))
        self.remove_class("-findings")

    @work(exclusive=True, group="ask findings")
    async def action_next_finding(self) -> None:
        """Go to the finding that comes next in the log; from the last to the first."""
        if not self.log_index.findings:
            await self._ask_findings()
        log = self.log_index.log
        known = sorted(self._all(), key=lambda each: each.place_in_log)
        if not known:
            self.notify(escape(self._nothing), timeout=3)
            return
        ahead = (each for each in known if (nodes.nearest(log, each.place_in_log) or 0) > self.scene.now)
        self._visit(next(ahead, known[0]))

    def action_close(self) -> None:
        """End the search; then give the tape its place back; then close the findings; then stand in the tape."""
        tape = self.query_one(Tape)
        if self.search:
            self.action_end_search()
        elif self._give_back_the_tape():
            self.call_after_refresh(tape.focus)
        elif self.has_class("-findings"):
            self.close_findings()
        elif self.has_class("-tour"):
            self.query_one(Tour).end()
        else:
            self.action_end_search()

    def _give_back_the_tape(self) -> bool:
        """Show it where there is room for one region, and another has its place; whether that was so."""
        if self.query_one(Tape).display or self.has_class("-map"):
            return False
        self.show_alone("tape")
        return True

    @on(MarkChosen)
    def _mark_chosen(self, message: MarkChosen) -> None:
        message.stop()
        found = next((each for each in self._all() if message.row in (each.row, each.place_in_log)), None)
        if found is not None:
            self._visit(found)

    @on(FindingChosen)
    def _finding_chosen(self, message: FindingChosen) -> None:
        message.stop()
        self._visit(message.finding)
        self.set_focus(self.query_one(Tape))

    def _all(self) -> Iterator[Finding]:
        for root in self.log_index.findings:
            yield from (root, *root.consequences)

    def _visit(self, finding: Finding) -> None:
        """Go to a finding; what is said of it stays in sight."""
        self._open_findings()
        self.query_one(FindingsPanel).choose(finding)
        self.query_one(Source).point(finding)
        self.post_message(CommandRequested(f"goto {finding.place_in_log}", quiet=True))
