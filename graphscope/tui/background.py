"""What is read of a log off the screen's thread: the curves of the timeline, and what the doctor finds."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from textual import work
from textual.message import Message

from graphscope.diagnose import Finding, doctor
from graphscope.errors import LogError
from graphscope.tui.actions import Actions
from graphscope.tui.log_index import LogIndex
from graphscope.tui.map.map import Map
from graphscope.tui.messages import Zoomed
from graphscope.tui.timeline.curves import Curves, curves_of
from graphscope.tui.timeline.timeline import Timeline

_MOST: Final = 1 << 20
"""A log of more rows is judged only when a person asks for its findings."""


class Measured(Message):
    """A worker has found what the timeline shows."""

    def __init__(self, log_index: LogIndex, curves: Curves) -> None:
        super().__init__()
        self.log_index = log_index
        self.curves = curves


class Judged(Message):
    """A worker has found what is wrong with a run."""

    def __init__(self, log_index: LogIndex, findings: tuple[Finding, ...]) -> None:
        super().__init__()
        self.log_index = log_index
        self.findings = findings


class Background(Actions):
    """The workers; the screen that has regions is above it."""

    log_index: LogIndex

    def show_timeline(self) -> None:
        """Draw the timeline of what is known of the log."""
        reading = self.log_index
        self.query_one(Timeline).show(reading.steps, reading.curves, reading.flagged, reading.found_at)
        self.query_one(Map).judge(reading.found_at)

    def read_in_background(self) -> None:
        """Find out what takes long."""
        self._measure(self.log_index)
        self.judge_what_has_ended()

    def judge_what_has_ended(self) -> None:
        """Look for what is wrong with a run that is over, once."""
        reading, state = self.log_index, self.session.state
        over = state in ("ended", "failed") or (not state and reading.log.closed)
        if over and not reading.judged and len(reading.log) <= _MOST:
            reading.judged = True
            self._judge(reading)

    @work(thread=True, exclusive=True, group="curves")
    def _measure(self, log_index: LogIndex) -> None:
        window = self.query_one(Timeline).window
        shown = (
            (log_index.log.first, log_index.log.end) if window.is_whole else (window.start, window.start + window.size)
        )
        self.post_message(Measured(log_index, curves_of(log_index.graph, log_index.steps, *shown)))

    def on_zoomed(self, message: Zoomed) -> None:
        """Measure the curves of what the timeline shows now."""
        message.stop()
        self._measure(self.log_index)

    def on_measured(self, message: Measured) -> None:
        """Draw the curves."""
        message.log_index.curves = message.curves
        if message.log_index is self.log_index:
            self.show_timeline()

    @work(thread=True, group="findings")
    def _judge(self, log_index: LogIndex) -> None:
        with suppress(LogError):  # it is gone meanwhile
            self.post_message(Judged(log_index, doctor(log_index.log.path).findings))

    def on_judged(self, message: Judged) -> None:
        """Mark what was found."""
        message.log_index.findings = message.findings
        if message.log_index is self.log_index:
            self.show_timeline()
            self.show_heading()
