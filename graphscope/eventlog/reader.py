"""The reading end of a log: mapped arrays, addressed by absolute row numbers. Opening parses nothing but small tables."""

from __future__ import annotations

import json
import os
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import numpy as np

from graphscope.errors import LogError
from graphscope.eventlog import schema, values
from graphscope.eventlog.files import FolderFiles, LogFiles, ZipFiles
from graphscope.eventlog.names import Op, Scope, Site, entries
from graphscope.eventlog.schema import Flag, Kind
from graphscope.eventlog.values import Summary

__all__ = ["Event", "Log", "Summary", "load"]

_ITEMSIZE = schema.EVENT.itemsize
_NOTHING = np.zeros(0, schema.EVENT)


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


class _Segment:
    """The mapped arrays of one segment; whatever is missing or cut is empty or shorter."""

    __slots__ = ("_arrays", "_files", "_folder", "events", "first")

    def __init__(self, files: LogFiles, folder: str, first: int) -> None:
        self._files = files
        self._folder = folder
        self.first = first
        self._arrays: dict[str, np.ndarray] = {}
        self.events = self.array("events.npy", schema.EVENT)

    def array(self, name: str, dtype: np.dtype) -> np.ndarray:
        found = self._arrays.get(name)
        if found is None:
            found = self._files.array(f"{self._folder}/{name}", dtype)
            self._arrays[name] = found
        return found


class Log:
    """A log, finished or growing: events by row number, tables by entry number, values by row and slot.

    Rows are `first <= row < end`; `end` is what was there at the last `refresh`. Rows inside may be missing (a thread
    was killed between reserving and writing one, or they are damaged): `event` says so.
    """

    def __init__(self, files: LogFiles) -> None:
        self._files = files
        self.path: Path = files.path
        self.metadata: dict[str, Any] = _metadata(files)
        self._segments: list[_Segment] = []
        self._starts: list[int] = []
        self._tables: dict[str, _Table] = {name: _Table(files, name) for name in schema.TABLES}
        self._source_texts: dict[str, str] | None = None
        self.end = 0
        self.refresh()

    # Extent ----------------------------------------------------------------------------------------------------------

    @property
    def first(self) -> int:
        """The oldest row that is kept."""
        return self._starts[0] if self._starts else 0

    def __len__(self) -> int:
        return self.end - self.first

    def __repr__(self) -> str:
        return f"<Log {self.path} rows {self.first}..{self.end}>"

    @property
    def closed(self) -> bool:
        """Whether the recording was finished in good order (a killed one was not, and is as good to read)."""
        if self.metadata.get("finished") is None:
            self.metadata = _metadata(self._files)
        return self.metadata.get("finished") is not None

    @property
    def graph(self) -> Any:
        """The graph that this log says, at its newest row (see `graphscope.graph.Graph`)."""
        from importlib import import_module  # the layer above, asked for by the person who holds a log

        return import_module("graphscope.graph").Graph(self)

    def refresh(self) -> bool:
        """Look for rows appended since; True when there are some."""
        before = self.end
        segments = self._files.segments()
        if segments != [(segment.first, segment._folder) for segment in self._segments]:
            known = {segment.first: segment for segment in self._segments}
            self._segments = [known.get(first) or _Segment(self._files, name, first) for first, name in segments]
            self._starts = [segment.first for segment in self._segments]
        if self._segments:
            last = len(self._segments) - 1
            self.end = self._extent(last)
            while last > 0 and self.end <= self._starts[last]:  # a segment just made, still empty
                last -= 1
                self.end = max(self.end, self._extent(last))
        return self.end != before

    def _extent(self, index: int) -> int:
        segment = self._segments[index]
        kinds = segment.events["kind"]
        low = max(self.end - segment.first, 0)
        if low >= len(kinds):
            return segment.first + len(kinds)
        # Rows fill from the front; double, then halve, then look past holes that other threads have yet to fill.
        step = 64
        while low + step < len(kinds) and kinds[low + step] != 0:
            low += step
            step *= 2
        tail = kinds[low : min(low + 2 * step + 1024, len(kinds))]
        written = np.flatnonzero(tail)
        if len(written) == 0:
            return segment.first + low
        return segment.first + low + int(written[-1]) + 1

    # Rows ------------------------------------------------------------------------------------------------------------

    def _find(self, row: int) -> tuple[_Segment, int]:
        index = bisect_right(self._starts, row) - 1
        if index >= 0 and 0 <= row < self.end:
            segment = self._segments[index]
            if row - segment.first < len(segment.events) and segment.events["kind"][row - segment.first] != 0:
                return segment, row - segment.first
        raise self._missing(row)

    def _missing(self, row: int) -> LogError:
        if self.end == self.first:
            return LogError(f"there is no row #{row}: the log {self.path} holds no events yet")
        return LogError(
            f"there is no row #{row} in {self.path}", hint=f"rows are #{self.first} to #{self.end - 1}"
        )

    def raw(self, row: int) -> np.void:
        """The row as it lies in `events.npy`.

        Raises:
            LogError: There is no such row.
        """
        segment, index = self._find(row)
        return cast(np.void, segment.events[index])

    def event(self, row: int) -> Event:
        """The row, decoded.

        Raises:
            LogError: There is no such row.
        """
        segment, index = self._find(row)
        raw = segment.events[index]
        (kind, dtype, flags, op, site, scope, shape, attrs, version, thread, graph_pass, _, several, tensor, time,
         duration, place, forward, _) = raw.item()  # fmt: skip
        return Event(
            row,
            Kind(kind) if kind in _KINDS else Kind.UNWRITTEN,
            Flag(flags & _ALL_FLAGS),
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
            self._inputs(segment, raw),
            len(self._slots(segment, place)) if several else 1,
        )

    def chunks(self, start: int | None = None, stop: int | None = None) -> Iterator[tuple[int, np.ndarray]]:
        """Row number of the first, and the rows, of each stretch of `events.npy` between `start` and `stop`."""
        start = self.first if start is None else max(start, self.first)
        stop = self.end if stop is None else min(stop, self.end)
        for segment in self._segments:
            low = max(start - segment.first, 0)
            high = min(stop - segment.first, len(segment.events))
            if low < high:
                yield segment.first + low, segment.events[low:high]

    def events(self, start: int | None = None, stop: int | None = None) -> Iterator[np.ndarray]:
        """The rows as they lie on disk, a stretch at a time (unwritten ones have kind 0)."""
        for _, rows in self.chunks(start, stop):
            yield rows

    def column(self, field: str, start: int | None = None, stop: int | None = None) -> np.ndarray:
        """One field of the rows `start <= row < stop`, zero for rows that are not there. Element 0 is row `start`."""
        start = self.first if start is None else max(start, self.first)
        stop = self.end if stop is None else min(stop, self.end)
        dtype = schema.EVENT[field]
        column = np.zeros((max(stop - start, 0), *dtype.shape), dtype.base)
        for first, rows in self.chunks(start, stop):
            column[first - start : first - start + len(rows)] = rows[field]
        return column

    def rare(self) -> np.ndarray:
        """Rows of marks and of flagged values, in order; found without a look at the other rows."""
        found = [segment.array("rare.npy", schema.ROW_NUMBER) for segment in self._segments]
        rows = np.concatenate([part[part != 0] for part in found]) if found else np.zeros(0, np.uint64)
        rows = np.unique(rows.astype(np.int64) - 1)
        return rows[(rows >= self.first) & (rows < self.end)]

    # Edges -----------------------------------------------------------------------------------------------------------

    def inputs(self, row: int) -> tuple[tuple[int, int], ...]:
        """Row and slot of each input of a node, in the order of the op's arguments."""
        segment, index = self._find(row)
        return self._inputs(segment, segment.events[index])

    def edges(self, first: int) -> np.ndarray:
        """The rows of `edges.npy` of the segment that holds row `first`; for readers that index many rows at once."""
        return self._find(first)[0].array("edges.npy", schema.EDGE)

    def values_of_segment(self, row: int) -> np.ndarray:
        """The bytes of `values.npy` of the segment that holds a row; empty when they were dropped."""
        index = bisect_right(self._starts, row) - 1
        return self._segments[index].array("values.npy", schema.BYTE)

    def _inputs(self, segment: _Segment, raw: np.void) -> tuple[tuple[int, int], ...]:
        named = raw["inputs"]
        if int(raw["flags"]) & Flag.EDGES:
            start, count = int(named[0]), int(named[1])
            table = segment.array("edges.npy", schema.EDGE)
            if start + count > len(table):
                return ()
            return tuple((int(edge["node"]), int(edge["slot"])) for edge in table[start : start + count])
        count = min(int(raw["input_count"]), schema.INLINE_INPUTS)
        pairs = (int(named[position]) for position in range(count))
        return tuple((pair & schema.ROW_MASK, pair >> schema.SLOT_SHIFT) for pair in pairs)

    def users(self, row: int) -> list[tuple[int, int, int]]:
        """Row, slot used and argument of every node that takes this one as an input, in order. Scans the log."""
        found = []
        for first, rows in self.chunks(row):
            hit = np.zeros(len(rows), bool)
            for position in range(schema.INLINE_INPUTS):
                hit |= (rows["inputs"][:, position] & np.uint64(schema.ROW_MASK) == row) & (rows["input_count"] > position)
            hit |= (rows["flags"] & int(Flag.EDGES)) != 0
            for index in np.flatnonzero(hit):
                user = first + int(index)
                pairs = self.inputs(user) if rows["kind"][index] else ()
                found += [(user, slot, argument) for argument, (node, slot) in enumerate(pairs) if node == row]
        return found

    # Values ----------------------------------------------------------------------------------------------------------

    def outputs(self, row: int) -> tuple[tuple[tuple[int, ...], str], ...]:
        """Shape and dtype of each slot of a node."""
        segment, index = self._find(row)
        raw = segment.events[index]
        if not raw["several"]:
            return ((self.shape(int(raw["shape"])), _dtype_name(int(raw["dtype"]))),)
        slots = self._slots(segment, int(raw["value"]))
        return tuple((self.shape(int(slot["shape"])), _dtype_name(int(slot["dtype"]))) for slot in slots)

    def _slots(self, segment: _Segment, start: int) -> np.ndarray:
        table = segment.array("outputs.npy", schema.OUTPUT)
        if start >= len(table):
            return table[:0]
        return table[start : start + int(table[start]["count"])]

    def _place(self, row: int, slot: int) -> tuple[_Segment, Flag, np.void, tuple[int, ...], str]:
        segment, index = self._find(row)
        raw = segment.events[index]
        if raw["several"]:
            slots = self._slots(segment, int(raw["value"]))
            if slot >= len(slots):
                raise LogError(f"row #{row} has no slot {slot}", hint=f"its slots are 0 to {len(slots) - 1}")
            raw, flags = slots[slot], Flag(int(slots[slot]["storage"]))
        else:
            if slot:
                raise LogError(f"row #{row} has no slot {slot}", hint="its only slot is 0")
            flags = Flag(int(raw["flags"]) & _ALL_FLAGS)
        return segment, flags, raw, self.shape(int(raw["shape"])), _dtype_name(int(raw["dtype"]))

    def value(self, row: int, slot: int = 0) -> np.ndarray | None:
        """The value of a slot, read-only and mapped where it lies on disk; None where it was not kept or was dropped.

        Raises:
            LogError: There is no such row or slot.
        """
        segment, flags, raw, shape, dtype_name = self._place(row, slot)
        dtype = _dtype(dtype_name)
        if dtype is None or not flags & (Flag.INLINE | Flag.KEPT):
            return None
        count = 1
        for length in shape:
            count *= length
        nbytes = count * dtype.itemsize
        if flags & Flag.INLINE:
            if nbytes > schema.INLINE_BYTES:
                return None
            data = np.frombuffer(raw["value"].tobytes()[:nbytes], dtype)
            return cast(np.ndarray, data.reshape(shape))
        start = int(raw["value"])
        memory = segment.array("values.npy", schema.BYTE)
        if start + nbytes > len(memory):
            return None
        value = np.asarray(memory[start : start + nbytes]).view(dtype).reshape(shape)
        value.flags.writeable = False
        return cast(np.ndarray, value)

    def summary(self, row: int, slot: int = 0) -> Summary | None:
        """Statistics of a slot, from its value or as they were recorded; None where neither was kept."""
        value = self.value(row, slot)
        if value is not None:
            return values.summarize(value)
        segment, flags, raw, shape, _ = self._place(row, slot)
        start = int(raw["value"])
        memory = segment.array("values.npy", schema.BYTE)
        if not flags & Flag.SUMMARY or start + schema.SUMMARY.itemsize > len(memory):
            return None
        count = 1
        for length in shape:
            count *= length
        return values.unpack(memory[start : start + schema.SUMMARY.itemsize].tobytes(), count)

    def nonfinite(self, row: int) -> bool | None:
        """Whether any slot of a node holds NaN or Inf; None where nothing was kept to tell."""
        known = [self.summary(row, slot) for slot in range(len(self.outputs(row)))]
        if any(summary is not None and not summary.finite for summary in known):
            return True
        return False if all(summary is not None for summary in known) else None

    def first_nonfinite(self) -> int | None:
        """The first row whose value holds NaN or Inf, or None."""
        from graphscope.eventlog.nonfinite import rows_with_nonfinite

        return next(rows_with_nonfinite(self), None)

    # Tables ----------------------------------------------------------------------------------------------------------

    def op(self, number: int) -> Op:
        """An op by its number; of no name when the number is 0 or unknown."""
        entry = self._tables["ops"].get(number)
        if not isinstance(entry, dict):
            return Op("")
        return Op(
            str(entry.get("name", "")),
            str(entry.get("formula", "")),
            str(entry.get("doc", "")),
            tuple(str(rule) for rule in _list(entry.get("vjp"))),
            tuple(str(name) for name in _list(entry.get("inputs"))),
        )

    def site(self, number: int) -> Site | None:
        """A source site by its number."""
        entry = self._tables["sites"].get(number)
        if not isinstance(entry, dict):
            return None
        places = (_integer(entry.get(name)) for name in ("line", "column", "end_line", "end_column"))
        return Site(str(entry.get("file", "")), *places, str(entry.get("function", "")))

    def scope(self, number: int) -> Scope | None:
        """A module scope by its number."""
        entry = self._tables["scopes"].get(number)
        if not isinstance(entry, dict):
            return None
        return Scope(str(entry.get("name", "")), str(entry.get("type", "")), _integer(entry.get("parent")))

    def scope_path(self, number: int) -> str:
        """Names of the scopes from the root to this one, joined by dots."""
        names: list[str] = []
        seen: set[int] = set()
        while number and number not in seen:
            seen.add(number)
            scope = self.scope(number)
            if scope is None:
                break
            names.append(scope.name)
            number = scope.parent
        return ".".join(name for name in reversed(names) if name)

    def shape(self, number: int) -> tuple[int, ...]:
        """A shape by its number; () for 0."""
        return self._tables["shapes"].shape(number)

    def attrs(self, number: int) -> dict[str, Any]:
        """A set of attributes by its number."""
        entry = self._tables["attrs"].get(number)
        return entry if isinstance(entry, dict) else {}

    def thread(self, number: int) -> dict[str, Any]:
        """A thread by its number: its name and ident."""
        entry = self._tables["threads"].get(number)
        return entry if isinstance(entry, dict) else {}

    def table(self, name: str) -> list[Any]:
        """All entries of a table so far; number 1 is element 0."""
        return self._tables[name].all()

    def source(self, file: str) -> str | None:
        """The text of a source file as it was when the program ran."""
        if self._source_texts is None or file not in self._source_texts:
            found = [entry for entry in self._tables["sources"].all() if isinstance(entry, dict)]
            self._source_texts = {str(entry.get("file")): str(entry.get("text", "")) for entry in found}
        return self._source_texts.get(file)


class _Table:
    """Entries of one table, parsed as they are asked for."""

    def __init__(self, files: LogFiles, name: str) -> None:
        self._files = files
        self._name = name
        self._entries: list[Any] = [None]
        self._shapes: dict[int, tuple[int, ...]] = {0: ()}
        self._chunk = 0
        self._offset = 0

    def get(self, number: int) -> Any:
        if number >= len(self._entries):
            self._extend()
        return self._entries[number] if 0 <= number < len(self._entries) else None

    def all(self) -> list[Any]:
        self._extend()
        return self._entries[1:]

    def shape(self, number: int) -> tuple[int, ...]:
        found = self._shapes.get(number)
        if found is None:
            entry = self.get(number)
            found = tuple(_integer(length) for length in entry) if isinstance(entry, list) else ()
            if isinstance(entry, list):
                self._shapes[number] = found
        return found

    def _extend(self) -> None:
        while True:
            path = f"tables/{self._name}-{self._chunk:03d}.npy"
            if not self._files.exists(path):
                return
            # A next chunk is made only when this one is full, so look for it before reading to the end of this one.
            more = self._files.exists(f"tables/{self._name}-{self._chunk + 1:03d}.npy")
            found, self._offset = entries(self._files.array(path, schema.BYTE), self._offset)
            self._entries += [_parse(text) for text in found]
            if not more:
                return
            self._chunk += 1
            self._offset = 0


def load(path: str | os.PathLike[str]) -> Log:
    """Open a log: the folder of a finished or growing recording, or the file that `graphscope pack` made of one.

    Raises:
        LogError: There is nothing at `path`, it is no log, or a newer graphscope wrote it.
    """
    where = Path(path)
    if where.is_dir():
        return Log(FolderFiles(where))
    if where.is_file():
        return Log(ZipFiles(where))
    raise LogError(f"there is no log at {where}", hint="record one: graphscope record --log PATH SCRIPT")


def _metadata(files: LogFiles) -> dict[str, Any]:
    try:
        found = json.loads(files.text("log.json"))
    except (OSError, KeyError, ValueError, RecursionError) as error:
        raise LogError(f"{files.path} is no log: its log.json can't be read ({error})") from error
    version = found.get("format") if isinstance(found, dict) else None
    if not isinstance(version, int) or version < 1:
        raise LogError(f"{files.path} is no log: its log.json names no format")
    if version > schema.FORMAT:
        raise LogError(
            f"{files.path} has format {version}; this graphscope reads up to {schema.FORMAT}",
            hint="install a newer graphscope-debugger",
        )
    return cast(dict[str, Any], found)


def _parse(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _list(entry: Any) -> list[Any]:
    return entry if isinstance(entry, list) else []


def _integer(entry: Any) -> int:
    return entry if isinstance(entry, int) and 0 <= entry < 1 << 62 else 0


def _dtype_name(code: int) -> str:
    return schema.DTYPES[code] if code < len(schema.DTYPES) else ""


@lru_cache(maxsize=64)
def _dtype(name: str) -> np.dtype | None:
    if name in ("", "object"):
        return None
    if name == "bfloat16":
        return np.dtype("u2")
    return np.dtype(name)


_KINDS = frozenset(int(kind) for kind in Kind)
_ALL_FLAGS = int(~Flag(0))
