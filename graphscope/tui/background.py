"""What is read of a log off the screen's thread: the curves of the timeline, and what is wrong."""

from __future__ import annotations

from textual import work
from textual.message import Message

from graphscope.debugger.results import Message as Said
from graphscope.eventlog.loss import loss_of
from graphscope.tui.findings.judging import Judging
from graphscope.tui.log_index import LogIndex
from graphscope.tui.map.map import Map
from graphscope.tui.messages import Zoomed
from graphscope.tui.prompt.prompt import Prompt
from graphscope.tui.timeline.curves import Curves, curves_of
from graphscope.tui.timeline.timeline import Timeline


class Measured(Message):
    """A worker has found what the timeline shows."""

    def __init__(self, log_index: LogIndex, curves: Curves) -> None:
        super().__init__()
        self.log_index = log_index
        self.curves = curves


class Background(Judging):
    """The workers; the screen that has regions is above it."""

    def show_timeline(self) -> None:
        """Draw the timeline of what is known of the log."""
        reading = self.log_index
        self.query_one(Timeline).show(reading.steps, reading.curves, reading.flagged, reading.found_at)
        self.query_one(Map).judge(reading.found_at)

    def has_lost_its_log(self) -> bool:
        """Whether something has become of the log's files of late, which is said; one that was cut has no rows left."""
        log = self.log_index.log
        if log.lost or not loss_of(log):
            return False
        self.query_one(Prompt).say((Said(f"{log.path}: {log.lost}", error=True),))
        if not len(log):
            self.log_index = LogIndex(log)
        return True

    def read_in_background(self) -> None:
        """Find out what takes long, once what is known is drawn: threads take turns, and that is waited for."""
        self.call_after_refresh(self._measure, self.log_index)
        self.judge_what_has_ended()

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
