"""The writing end of a log: an event is appended by packing one row into mapped memory."""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter_ns
from time import time as wall_clock  # a program may set clocks of its own
from typing import Any, Final, TypeVar

import numpy as np

from graphscope._version import __version__
from graphscope.errors import LogError
from graphscope.eventlog import ownership, schema, values
from graphscope.eventlog.appender import FLOATING, Appender, compiled
from graphscope.eventlog.awaited import Awaited, fetch
from graphscope.eventlog.descriptors import SCARCE
from graphscope.eventlog.first_segment import first_segment
from graphscope.eventlog.gate import Aside, Gate
from graphscope.eventlog.interruptions import forgiving, own
from graphscope.eventlog.notices import say
from graphscope.eventlog.retention import Retention
from graphscope.eventlog.sampling import Sampling
from graphscope.eventlog.schema import INLINE_INPUTS, Flag, Kind
from graphscope.eventlog.segment import CLOSED, LARGE, PAGE, SHARE, Segment, bytes_of, discard, place_below
from graphscope.eventlog.segment_sizes import SegmentSizes
from graphscope.eventlog.step_series import StepSeries, keep_losses
from graphscope.eventlog.template import Template
from graphscope.eventlog.turn import ANYWHERE, Turn
from graphscope.eventlog.wide import WideRows

_ROW: Final = schema.EVENT.itemsize
_BFLOAT16: Final = FLOATING["bfloat16"]
_Made = TypeVar("_Made")


class Writer(WideRows):
    """One log that grows. Several threads may append, and a signal handler in the middle of an append.

    Args:
        path: The folder to make; it must not exist.
        policy: `full`, `summary` or `none`: how much of a value is kept.
        cap: Values of more bytes than this are summarised; None: what `values.cap_of` says of the budget.
        budget, keep_last, every, capture, memory, passes: As in `record`.

    Raises:
        LogError: The folder can't be made, the disk is full, or an argument is out of range.
    """

    __slots__ = ("gate", "low")  # which compiled code asks at each row: it knows where a slot lies

    def __init__(
        self,
        path: Path,
        *,
        policy: str = "full",
        cap: int | None = None,
        budget: int = 1 << 30,
        keep_last: int | None = None,
        every: int = 1,
        on: str | None = None,
        base: int = 0,
        capture: str = "calls+backward",
        memory: bool = False,
        passes: bool = False,
    ) -> None:
        if policy not in values.POLICIES:
            raise LogError(f"values={policy!r} is no policy", hint=f"choose one of {', '.join(values.POLICIES)}")
        self.sampling, self.is_ring = Sampling(every, keep_last, on), keep_last is not None or every > 1
        self.policy = self.asked = policy  # of the steps behind something remarkable all is kept
        self.cap = values.cap_of(budget) if cap is None else cap
        self.base, self.capture = base, capture
        self.memory, self.passes = memory, passes
        self._given, path = path, path.absolute()  # the program may go to another folder
        self.path = path
        self.gate: Gate | None = None
        self.on_leaf: Callable[[int, Any], None] | None = None
        """Told the row and the tensor of each leaf: who makes a graph of a run has to hold on to them."""
        self.asides: list[Aside] = []  # of each producer; see `gate.aside`
        self.clock = perf_counter_ns
        self.sites: dict[Any, Any] = {}
        """For producers: what they keep per call site."""
        self.variants: dict[Any, Any] = {}
        self._steps: dict[tuple[Any, ...], Template] = {}
        """The templates of the marks of steps, by thread."""
        self.series: StepSeries | None = None
        self.broken: str | None = None
        self.closed = False
        self.retention = Retention(budget, keep_last, is_ring=self.is_ring)
        self._lock, self._claimed = threading.RLock(), 1
        self._sizes = SegmentSizes(self.retention, policy)
        self._appender = Appender(self.sites, self._append, self._append_many, base)
        self.append: Callable[..., int] = self._appender if callable(self._appender) else self._append
        """`_append`, by the quickest way."""
        self.append_many: Callable[..., int] = self._appender.many
        """`_append_many`, by the quickest way."""
        self.op, self.finish = self._appender.op, self._appender.finish
        made = False
        try:
            self._owner = ownership.found(path)
            made = True
            (path / "tables").mkdir()
            (path / "segments").mkdir()
            self.open_tables(path / "tables")
            self.metadata = {
                "format": schema.FORMAT,
                "producer": "graphscope",
                "version": __version__,
                "argv": list(sys.argv),
                "process": os.getpid(),
                "values": policy,
                "cap": self.cap,
                "capture": capture,
                "memory": memory,
                "passes": passes,
                "every": every,
                "nonfinite": "flagged" if compiled else "derived",
                "created": wall_clock(),
                "clock": perf_counter_ns(),
                "finished": None,
            }
            self.write_metadata()
            self._enter(first_segment(path / "segments" / f"{0:012d}", self._sizes))
            self.segment.begin(keeps_values=policy != "none")
            self.retention.add(self.segment)
            if self.is_ring:
                self.series = StepSeries(path)
                self.sampling.listen(path)
        except own(OSError) as error:
            if made:
                shutil.rmtree(path, ignore_errors=True)
            raise LogError(
                f"can't record to {self._given}: {error.strerror or error}", hint="name another place with --log PATH"
            ) from error
        self.low = base
        """Rows from this one on are of the segment that is written."""
        self.recent = base
        """Rows from this one on stay in the log with those of the segment that is written."""

    # Rows ------------------------------------------------------------------------------------------------------------

    def _append(
        self, template: Template, value: Any, time: int = 0, duration: int = 0, forward: int = 0, first: int = 0,
        second: int = 0, third: int = 0, tensor: int | None = None,
    ) -> int:  # fmt: skip
        """Append a row with its value and return its number (plus `base`): the hot path of every recording.

        It reserves without a lock, copies the value, packs the row in one call, and commits it by writing its kind.
        Rows given are numbers returned earlier; an input may bear its slot above SLOT_SHIFT.
        """
        if value.__class__ is Awaited:
            row = self.append(template, None, time, duration, forward, first, second, third, tensor=tensor)
            return self._promised(value, row)
        room = template.room
        large = template.copied and template.nbytes >= LARGE and not template.awaited
        segment, taken = self.segment, room if large else 0
        if large and segment.lacks_space(segment.next_value, low := place_below(segment.value_end, room)):
            self._make_way(segment, 0, segment.value_end - low)  # and then by the quickest way
            return self.append(template, value, time, duration, forward, first, second, third, tensor=tensor)
        if value.__class__ is int:
            value = template.memory(value)
        elif template.awaited:
            value = 0
        if template.watched and not values.finite(value, bfloat16=template.floating == _BFLOAT16):
            template = template.flagged()
        if large:
            value = bytes_of(value)
        while True:
            segment = self.segment
            known = segment.find(value) if large else -1
            row = segment.next_row
            if not room or known >= 0:
                if row < segment.end:
                    segment.next_row = row + 1
                    if known >= 0:
                        value = known - segment.value_start
                    break
            elif large:
                offset = segment.value_end - room  # and as `place_below`, which would be a call
                page = offset & -PAGE
                if (offset - page) * SHARE <= room:
                    offset = page
                taken = segment.value_end - offset
                if row < segment.end and segment.next_value <= offset >= segment.reserved:
                    segment.next_row = row + 1
                    segment.value_end = offset
                    value = segment.put_large(offset, value)
                    break
            else:
                offset = segment.next_value
                if row < segment.end and segment.small_end >= offset + room <= segment.value_end:
                    segment.next_row = row + 1
                    segment.next_value = offset + room
                    end = offset + template.nbytes
                    if end > segment.populated:
                        segment.populate(end)
                    if not template.awaited and not segment.put_small(offset, end, value, copied=template.copied):
                        template = template.flagged()
                    value = offset - segment.value_start
                    break
            self._make_way(segment, 0 if large else room, taken)
        if template.special:
            if template.rare:
                segment.list_rare(row)
            if template.raw:
                value = b"" if template.awaited else value.tobytes()
            elif not template.keep:
                value = 0
        base = self.base
        if base:
            forward = forward and forward - base
            tensor = tensor and tensor - base
        if base or template.nodes < INLINE_INPUTS:
            first, second, third = template.links((first, second, third), base)
        if row >= segment.rows_ready:
            segment.populate_rows()
        at = segment.origin + row * _ROW
        rows = segment.rows
        if tensor is None:
            tensor = row
        template.pack(rows, at, template.prefix, tensor, time, duration, value, forward, first, second, third)
        rows[at] = template.kind
        return row + base

    def inputs_of(self, row: int) -> tuple[int, ...]:
        """The inputs of a row, as `append` was given them; none of a row that is not in the newest segment."""
        segment = self.segment
        if not segment.first <= row - self.base < segment.next_row:
            return ()
        (raw,) = np.frombuffer(segment.rows, schema.EVENT, 1, segment.origin + (row - self.base) * _ROW)
        if raw["flags"] & Flag.EDGES:
            return ()
        return tuple(int(pair) + self.base for pair in raw["inputs"][: raw["input_count"]])

    def mark(
        self, kind: Kind, *, site: int = 0, scope: int = 0, inputs: Sequence[int] = (), value: Any = None, **attrs: Any
    ) -> int:
        """Append a mark: a scope, a message, an edit, an exception. Its text and the like go to `attrs`."""
        array = None if value is None else np.asarray(value)
        inputs = [node for node in inputs if node >= self.base]  # others are of an earlier recording
        template = self.template(
            kind,
            site=site,
            scope=scope,
            shape=() if array is None else array.shape,
            dtype=None if array is None else array.dtype,
            attrs=self.attributes(attrs),
            input_count=len(inputs),
        )
        outputs = [] if array is None else [(array, template.keep)]
        return self.append_wide(template, outputs, [(node, 0) for node in inputs], perf_counter_ns())

    def step(self, turn: Turn = ANYWHERE, number: int = 0, *, is_end: bool = True, is_left_out: bool = False) -> int:
        """Append the mark of the end of a training step.

        Args:
            turn: Where in the program it ends.
            number: Which it is, counted from 1; 0 where the log itself tells.
            is_end: False: another optimizer has to make its step yet.
            is_left_out: Whether the step was; the next one is recorded.
        """
        key = self.thread(), turn.site, number > 0, is_end, is_left_out, *turn.counters
        numbers = [*turn.counters.values(), number][: None if number else -1]
        template = self._steps.get(key)
        if template is None:
            attrs = self.attributes(turn.entry(numbers, is_end=is_end, is_left_out=is_left_out))
            template = self.template(Kind.STEP, site=turn.site, attrs=attrs, number_count=len(numbers))
            self._steps[key] = template
        row = self.append_many(template, None, numbers, perf_counter_ns())
        if self.broken is None and is_end and not is_left_out:  # else none is there for which older ones could go
            self.retention.step(row - self.base)
        return row

    def remark(self) -> None:
        """Something remarkable has happened: hold what is there, and record the steps that follow."""
        fetch()
        self.sampling.remark()
        self.retention.hold()

    # The end ---------------------------------------------------------------------------------------------------------

    def detach(self) -> None:
        """Let go in a forked child: the log, and the claim to it, are the parent's."""
        self._owner.release()

    def close(self) -> None:
        """Say that the recording is finished. Rows appended later (by threads that still run) are kept too."""
        with self._lock:
            if self.closed:
                return
            self.closed = True
            self.metadata["finished"] = wall_clock()
            try:
                self.insist(self.write_metadata)
            except own(OSError) as error:
                self.give_up(error)
            self._owner.release()

    @property
    def end(self) -> int:
        """The number (plus `base`) that the next row will bear."""
        row = self.segment.next_row
        return self.base + (self._claimed if row >= CLOSED else row)

    # Inside ----------------------------------------------------------------------------------------------------------

    def forget(self) -> None:
        """Let no row that follows refer to one that is there: the program has gone on unrecorded."""
        self.low = self.recent = self.end

    def _roll(self, full: Segment, room: int, side: int = 0) -> None:
        """Put a new segment in the place of a full one. A nested call (signal, finalizer) makes a later one."""
        with self._lock:
            if self.segment is not full:
                return
            # No call up to the claim: a nested one is to find other rows than these.
            rows, reached = self._sizes.rows if self._sizes.rows > side else side, full.next_row  # noqa: FURB136
            full.next_row = CLOSED
            first = full.end if reached > full.end else reached  # noqa: FURB136
            claimed = self._claimed
            if first < claimed:
                first = claimed
            self._claimed = first + rows
            try:
                bytes_behind = self._sizes.behind(full, first - full.first, self.policy)
                least = room + room // SHARE + 2 * schema.ALIGNMENT
                segment = self._make_segment(first, rows, max(bytes_behind, least))
            except BaseException:  # Ctrl-C: the next call begins where this one did, unless a nested one claimed more
                if self.segment is full and self._claimed == first + rows:
                    self._claimed = claimed
                    full.next_row = reached
                raise
            folder = segment.folder
            if self.segment is full:
                if self.series is not None:
                    keep_losses(self)
                self._enter(segment)
                self.recent = self.base + first if self.retention.lets_go_of_steps else self.low
                self.low = self.base + first
                self._claimed = first + 1
            elif folder is not None:
                discard(folder)
                return
            if folder is not None:
                self.retention.add(segment)
                self._sizes.grow(full, first - full.first, self.policy)

    def _enter(self, segment: Segment) -> None:
        """Let rows go to a segment from here on."""
        self.segment = segment
        self._appender.segment = segment

    def _make_segment(self, first: int, rows: int, value_bytes: int) -> Segment:
        """A segment on disk, or in memory when the log can't be written any more."""
        folder = self.path / "segments" / f"{first:012d}"
        if self.broken is None:
            try:
                return self.insist(lambda: self._segment_on_disk(folder, first, rows, value_bytes))
            except own(OSError) as error:
                self.give_up(error)
            except BaseException:  # Ctrl-C: what is made of it is in nobody's hands
                discard(folder)
                raise
        return Segment(None, first, rows, value_bytes)

    def _segment_on_disk(self, folder: Path, first: int, rows: int, value_bytes: int) -> Segment:
        self._owner.renew()
        return Segment(folder, first, rows, value_bytes, self.retention.make_room(value_bytes, rows))

    def insist(self, make: Callable[[], _Made]) -> _Made:
        """Do what opens files; where the program has used up all, with that of the segment that is written to."""
        try:
            return make()
        except own(OSError) as error:
            if error.errno not in SCARCE or not self.segment.let_go():
                raise
        return make()

    def give_up(self, error: OSError) -> None:
        """Stop keeping rows: the program goes on, and what was recorded can be read."""
        if self.broken is None:
            self.broken = f"recording to {self._given} stopped: {error.strerror or error}"
            self.metadata["stopped"] = self.broken
            with forgiving(OSError):  # it is tried again in the end
                self.write_metadata()
            say(f"{self.broken}; the program goes on unrecorded")

    def write_metadata(self) -> None:
        """Write what the log says about itself."""
        self._owner.renew()
        temporary = self.path / "log.json.new"
        temporary.write_text(json.dumps(self.metadata, indent=1, default=str) + "\n", encoding="utf-8")
        temporary.replace(self.path / "log.json")
