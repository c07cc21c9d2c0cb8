"""The reading end of a log: mapped arrays, addressed by absolute row numbers. Opening it parses no row."""

from __future__ import annotations

import contextlib
import json
import math
import os
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import numpy as np

from graphscope._version import __version__
from graphscope.errors import LogError
from graphscope.eventlog import arguments, schema, values
from graphscope.eventlog.addresses import Address, is_address
from graphscope.eventlog.arguments import Arguments
from graphscope.eventlog.files import FolderFiles, LogFiles, ZipFiles
from graphscope.eventlog.nonfinite import rows_with_nonfinite
from graphscope.eventlog.rows import Rows
from graphscope.eventlog.schema import Flag, Kind
from graphscope.eventlog.segment_values import SegmentValues
from graphscope.eventlog.stored_segment import Segment
from graphscope.eventlog.tables import Tables
from graphscope.eventlog.unbegun import is_unbegun, what_it_is
from graphscope.eventlog.values import Summary

__all__ = ["Event", "Log", "Summary", "load"]


@dataclass(frozen=True, slots=True)
class Event:
    """One row, decoded. `op`, `site`, `scope` and `attrs` are numbers of table entries, as in the row."""

    row: int
    kind: Kind
    flags: Flag
    op: int
    site: int
    scope: int
    shape: tuple[int, ...]
    dtype: str
    attrs: int
    version: int
    thread: int
    graph_pass: int
    tensor: int
    time: int
    duration: int
    forward: int
    inputs: tuple[tuple[int, int], ...]
    output_count: int


class Log(Rows, Tables):
    """A log, finished or growing: events by row number, tables by entry number, values by row and slot.

    Rows are `first <= row < end`; `end` is what was there at the last `refresh`. Rows inside may be missing (a thread
    was killed between reserving and writing one, or they are damaged): `event` says so.
    """

    def __init__(self, files: LogFiles) -> None:
        self.metadata: dict[str, Any] = _metadata(files)
        self._arguments: dict[tuple[int, int], Arguments] = {}
        """By entry and number of inputs, those without numbers that vary."""
        self.readings: dict[Any, tuple[int, Any]] = {}
        """What was read of it as a whole: by the function that did, how long it was then, and what was found."""
        Tables.__init__(self, files)
        Rows.__init__(self, files, self.metadata["format"])

    # Extent ----------------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"<Log {self.path} rows {self.first}..{self.end}>"

    def _is_whole(self) -> bool:
        return self.metadata.get("finished") is not None

    @property
    def closed(self) -> bool:
        """Whether the recording was finished in good order (a killed one was not, and is as good to read)."""
        if self.metadata.get("finished") is None and not self.lost:
            with contextlib.suppress(LogError):  # gone meanwhile
                self.metadata = _metadata(self.files)
        return self.metadata.get("finished") is not None

    @property
    def stopped(self) -> str:
        """Why the recording ended ahead of the program, as a full disk; empty where it did not, as far as is known."""
        return "" if self.closed and "stopped" not in self.metadata else str(self.metadata.get("stopped", ""))

    @property
    def graph(self) -> Any:
        """The graph that this log says, at its newest row (see `graphscope.graph.Graph`)."""
        return import_module("graphscope.graph").Graph(self)  # a layer above, asked for by the person who holds a log

    def _repr_svg_(self) -> str | None:
        return cast(str | None, import_module("graphscope.notebook").repr_svg(self))

    # Rows ------------------------------------------------------------------------------------------------------------

    def event(self, row: int) -> Event:
        """The row, decoded.

        Raises:
            LogError: There is no such row.
        """
        segment, index = self._find(row)
        (kind, dtype, flags, op, site, scope, shape, attrs, version, thread, graph_pass, count, several, tensor, time,
         duration, place, forward, named) = segment.events[index].item()  # fmt: skip
        return Event(
            row,
            _KINDS.get(kind, Kind.UNWRITTEN),
            _flag(flags & _ALL_FLAGS),
            op,
            site,
            scope,
            self.shape(shape),
            schema.DTYPES[dtype] if dtype < len(schema.DTYPES) else "",
            attrs,
            version,
            thread,
            graph_pass,
            tensor,
            time,
            duration,
            forward,
            self._inputs(segment, flags, count, named),
            len(self._slots(segment, place)) if several else 1,
        )

    # Edges -----------------------------------------------------------------------------------------------------------

    def inputs(self, row: int) -> tuple[tuple[int, int], ...]:
        """Row and slot of each input of a node, in the order of the op's arguments."""
        segment, index = self._find(row)
        raw = segment.events[index]
        return self._inputs(segment, int(raw["flags"]), int(raw["input_count"]), raw["inputs"])

    def arguments(self, row: int) -> Arguments:
        """What the call of a row was given; of a GRAD row, the call whose rule is due."""
        segment, index = self._find(row)
        raw = segment.events[index]
        if int(raw["kind"]) == _GRAD and self.first <= int(raw["forward"]) < row:
            return self.arguments(int(raw["forward"]))
        number, count = int(raw["attrs"]), len(self.inputs(row))
        found = self._arguments.get((number, count))
        if found is not None:
            return found
        entry = self.entry(number)
        if self.metadata["format"] == 1:
            return arguments.of_format_1(entry, count)
        varying: list[int] = []
        found = arguments.of_entry(entry, count, lambda place: self._number(segment, raw, place, varying))
        if not varying:
            self._arguments[number, count] = found
        return found

    def _number(self, segment: Segment, raw: np.void, place: int, read: list[int]) -> int:
        """The bits of one of the numbers behind a row's inputs; its place is added to those that were read.

        Raises:
            ValueError: The row has no such number: the log is damaged.
        """
        read.append(place)
        named = raw["inputs"]
        if int(raw["flags"]) & Flag.EDGES:
            numbers, at = segment.array("edges.npy", schema.EDGE)["node"], int(named[0]) + int(named[1])
        else:
            numbers, at = named, int(raw["input_count"])
        if place.__class__ is not int or place < 0 or at + place >= len(numbers):
            raise ValueError(f"a row has no number {place!r} behind its inputs")
        return int(numbers[at + place])

    def edges(self, first: int) -> np.ndarray:
        """The rows of `edges.npy` of the segment that holds row `first`; for readers that index many rows at once."""
        return self._find(first)[0].array("edges.npy", schema.EDGE)

    def values_of_segment(self, row: int) -> SegmentValues:
        """The bytes of `values.npy` of the segment that holds a row; none when they were dropped."""
        return self._segment(row).values

    def _inputs(self, segment: Segment, flags: int, count: int, named: np.ndarray) -> tuple[tuple[int, int], ...]:
        if flags & _EDGES:
            start, count = int(named[0]), int(named[1])
            table = segment.array("edges.npy", schema.EDGE)
            if start + count > len(table):
                return ()
            return tuple((int(edge["node"]), int(edge["slot"])) for edge in table[start : start + count])
        pairs = named[:count].tolist() if count else ()
        return tuple((pair & schema.ROW_MASK, pair >> schema.SLOT_SHIFT) for pair in pairs)

    def users(self, row: int) -> list[tuple[int, int, int]]:
        """Row, slot used and argument of every node that takes this one as an input, in order. Scans the log."""
        found = []
        for first, events in self.chunks(row):
            hit = np.zeros(len(events), bool)
            for position in range(schema.INLINE_INPUTS):
                hit |= (events["inputs"][:, position] & np.uint64(schema.ROW_MASK)) == row
            hit |= self._listing(first, events, row)
            for index in np.flatnonzero(hit & (events["kind"] != 0)):
                user = first + int(index)
                pairs = enumerate(self.inputs(user))
                found += [(user, slot, argument) for argument, (node, slot) in pairs if node == row]
        return found

    def _listing(self, first: int, events: np.ndarray, row: int) -> np.ndarray:
        """Which of these rows have inputs in `edges.npy` that may name `row`."""
        beside = (events["flags"] & int(Flag.EDGES)) != 0
        if not beside.any():
            return np.asarray(beside)
        named = np.flatnonzero(self._segment(first).array("edges.npy", schema.EDGE)["node"] == row).astype(np.uint64)
        if len(named) == 0:
            return np.zeros(len(events), bool)
        low, count = events["inputs"][:, 0], events["inputs"][:, 1]
        at = np.searchsorted(named, low)
        nearest = named[np.minimum(at, len(named) - 1)]
        return np.asarray(beside & (at < len(named)) & (nearest - low < count))

    # Values ----------------------------------------------------------------------------------------------------------

    def outputs(self, row: int) -> tuple[tuple[tuple[int, ...], str], ...]:
        """Shape and dtype of each slot of a node."""
        segment, index = self._find(row)
        raw = segment.events[index]
        if not raw["several"]:
            return ((self.shape(int(raw["shape"])), _dtype_name(int(raw["dtype"]))),)
        slots = self._slots(segment, int(raw["value"]))
        return tuple((self.shape(int(slot["shape"])), _dtype_name(int(slot["dtype"]))) for slot in slots)

    def _slots(self, segment: Segment, start: int) -> np.ndarray:
        table = segment.array("outputs.npy", schema.OUTPUT)
        if start >= len(table):
            return table[:0]
        return table[start : start + int(table[start]["count"])]

    def _place(self, row: int, slot: int) -> tuple[Segment, int, np.void, tuple[int, ...], str]:
        self._look(0)
        segment, index = self._find(row)
        raw = segment.events[index]
        if raw["several"]:
            slots = self._slots(segment, int(raw["value"]))
            if not len(slots):  # a damaged log
                return segment, 0, raw, (), ""
            if slot >= len(slots):
                raise LogError(f"row #{row} has no slot {slot}", hint=f"its slots are 0 to {len(slots) - 1}")
            raw, flags = slots[slot], int(slots[slot]["storage"])
        else:
            if slot:
                raise LogError(f"row #{row} has no slot {slot}", hint="its only slot is 0")
            flags = int(raw["flags"])
        return segment, flags, raw, self.shape(int(raw["shape"])), _dtype_name(int(raw["dtype"]))

    def value(self, row: int, slot: int = 0) -> np.ndarray | None:
        """The value of a slot, read-only and mapped where it lies on disk; None where it was not kept or was dropped.

        Raises:
            LogError: There is no such row or slot.
        """
        segment, flags, raw, shape, dtype_name = self._place(row, slot)
        dtype = _dtype(dtype_name)
        if dtype is None or not flags & (_INLINE | _KEPT):
            return None
        nbytes = math.prod(shape) * dtype.itemsize
        self._seen += nbytes
        if flags & _INLINE:
            memory = np.frombuffer(raw["value"].tobytes(), np.uint8)[:nbytes]
        else:
            memory = segment.values.between(int(raw["value"]), int(raw["value"]) + nbytes)
        if len(memory) < nbytes:
            return None
        if not flags & _INLINE and self.metadata.get("finished") is None:
            # The file may be used again for newer values, at any time; if it was, its name here had gone before.
            memory = memory.copy()
            if segment.dropped:
                return None
        try:
            value = memory.view(dtype).reshape(shape)
        except ValueError:  # a shape that no array has, though it may have no elements
            return None
        if dtype_name == "bfloat16":  # numpy has none: the upper half of a float32
            value = np.asarray(np.left_shift(value, 16, dtype=np.uint32)).view(np.float32)
        value.flags.writeable = False
        return cast(np.ndarray, value)

    def summary(self, row: int, slot: int = 0) -> Summary | None:
        """Statistics of a slot, from its value or as they were recorded; None where neither was kept."""
        value = self.value(row, slot)
        if value is not None:
            return values.summarize(value)
        segment, flags, raw, shape, _ = self._place(row, slot)
        start = int(raw["value"])
        if not flags & _SUMMARY or start + schema.SUMMARY.itemsize > len(segment.values):
            return None
        record = segment.values.between(start, start + schema.SUMMARY.itemsize).tobytes()
        return None if segment.dropped else values.unpack(record, math.prod(shape))

    def nonfinite(self, row: int) -> bool | None:
        """Whether any slot of a node holds NaN or Inf; None for a row without a value, or whose value is damaged."""
        segment, index = self._find(row)
        if int(segment.events["flags"][index]) & Flag.NONFINITE:
            return True
        flagged = self.metadata.get("nonfinite") == "flagged"
        finite: list[bool | None] = []
        for slot, (_, dtype) in enumerate(self.outputs(row)):
            flags = self._place(row, slot)[1]
            sure = flagged and not flags & _SUMMARY  # the first logs have those listed, and not flagged
            summary = None if sure else self.summary(row, slot)
            if summary is not None:
                finite.append(summary.finite)
            elif dtype and (sure or not flags & _STORED or segment.dropped):
                finite.append(True)  # it would be flagged
            else:
                finite.append(None)
        return True if False in finite else None if None in finite else False

    def first_nonfinite(self) -> int | None:
        """The first node that was computed with NaN or Inf, or None."""
        return next(rows_with_nonfinite(self), None)


def load(path: str | os.PathLike[str]) -> Log:
    """Open a log: the folder of a finished or growing recording, or the file that `graphscope pack` made of one, here
    or elsewhere: of what a URL names, such as `s3://bucket/run.gscope.zip`, only what is looked at is fetched.

    Raises:
        LogError: There is nothing at `path`, it is no log, or a newer graphscope wrote it.
    """
    if is_address(path):
        fetched = import_module("graphscope.eventlog.fetched").FetchedFile  # which few need
        return Log(ZipFiles(Address(path), fetched))
    where = Path(path)
    if where.is_dir():
        return Log(FolderFiles(where))
    if where.is_file():
        return Log(ZipFiles(where))
    raise LogError(f"there is no log at {where}", hint="record one: graphscope record --log PATH SCRIPT")


def _metadata(files: LogFiles) -> dict[str, Any]:
    try:
        found = json.loads(files.text("log.json"))
    except FileNotFoundError as error:
        if is_unbegun(files.path):
            raise LogError(what_it_is(files.path), hint="there is nothing in it to look at: record again") from error
        raise LogError(f"{files.path} is no log: there is no log.json in it") from error
    except (OSError, KeyError, ValueError, RecursionError) as error:
        raise LogError(f"{files.path} is no log: its log.json can't be read ({error})") from error
    version = found.get("format") if isinstance(found, dict) else None
    if not isinstance(version, int) or version < 1:
        raise LogError(f"{files.path} is no log: its log.json names no format")
    if version > schema.FORMAT:
        writer = found.get("version")
        reads = (
            f"graphscope-debugger {writer}, which wrote it, reads it" if isinstance(writer, str) else "a newer one does"
        )
        raise LogError(
            f"{files.path} has format {version}; graphscope-debugger {__version__} reads up to {schema.FORMAT}",
            hint=f"{reads}: install that",
        )
    return cast(dict[str, Any], found)


def _dtype_name(code: int) -> str:
    return schema.DTYPES[code] if code < len(schema.DTYPES) else ""


@lru_cache(maxsize=64)
def _dtype(name: str) -> np.dtype | None:
    return None if name in ("", "object") else schema.ELEMENTS[schema.DTYPE_CODES[name]]


# Numbers, as enumerations take longer to be combined than a row to be read.
_INLINE, _KEPT, _SUMMARY, _EDGES = map(int, (Flag.INLINE, Flag.KEPT, Flag.SUMMARY, Flag.EDGES))
_STORED = _INLINE | _KEPT | _SUMMARY
_GRAD = int(Kind.GRAD)
_KINDS = {int(kind): kind for kind in Kind}
_flag = lru_cache(maxsize=1 << 10)(Flag)
_ALL_FLAGS = int(~Flag(0))
