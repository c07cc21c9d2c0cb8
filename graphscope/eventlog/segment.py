"""A segment: the arrays that hold a run of rows, and the cursors by which they fill."""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from graphscope.eventlog import schema, values
from graphscope.eventlog.appender import Cursor
from graphscope.eventlog.interruptions import forgiving
from graphscope.eventlog.mapped import (
    MappedArray,
    anonymous,
    has_length,
    open_mapped,
    reserve,
    reserve_ends,
    reserve_part,
)

CLOSED = 1 << 62
"""The next row of a segment that takes no more."""

FIRST_ROWS, MOST_ROWS = 1 << 12, 1 << 17
FIRST_BYTES, MOST_BYTES = 1 << 20, 1 << 27
LARGE = 1 << 13
"""Values of so many bytes or more fill a segment from its end, and are written through the file: their pages need not
be zeroed and faulted in first, and those that are faulted in ahead for small values stay theirs."""
PAGE, SHARE = 1 << 12, 8
"""Bytes of a page, and what share of a large value may be left empty for it to begin where a page does."""
_LEAST, _AHEAD = 1 << 15, 1 << 18
"""Bytes whose pages are faulted in at once: of a segment as many as it has, within these bounds."""
_LEAST_RESERVED, _MOST_RESERVED, _MORE_RESERVED = 1 << 19, 6 << 20, 3
"""Bytes whose disk space is reserved at once where that is done bit by bit: so many times as many as were before,
within these bounds. To reserve many takes as long as a few."""
_ROW_NUMBER = struct.Struct("<Q")
_EDGE = struct.Struct(schema.packing(schema.EDGE))
_OUTPUT = struct.Struct(schema.packing(schema.OUTPUT))
_COUNTS = slice(schema.SUMMARY.fields["nan"][1], schema.SUMMARY.fields["zero"][1])  # type: ignore[index]
_ROW = schema.EVENT.itemsize
BESIDE = _ROW + 2 * schema.EDGE.itemsize + schema.OUTPUT.itemsize + schema.ROW_NUMBER.itemsize
"""Bytes that a segment takes for a row, but for the row's value."""


class Spare(NamedTuple):
    """A file of values that may be written again.

    Its pages are in memory where it was written not long ago; then copying into its map costs less than writing through
    the file, and the map may have been kept.
    """

    path: Path
    in_memory: bool
    map: MappedArray | None


class Segment(Cursor):
    """Mapped arrays for the rows `first <= row < end`; row `r` begins `r` rows behind byte `origin` of `rows`.

    Args:
        folder: Where their files are; None: there are none, and they are in memory.
        first: The first row.
        rows: So many there may be.
        value_bytes: So many bytes their values may take.
        spare: A file of values to use again.
        bit_by_bit: Reserve disk space for values as they fill it, from both ends, and not all of it now.

    Raises:
        OSError: The disk is full, the folder can't be written, or space can't be reserved bit by bit there.
    """

    __slots__ = (
        "__weakref__",
        "edges",
        "folder",
        "in_memory",
        "outputs",
        "rare",
        "row_map",
        "rows",
        "size",
        "small_end",
        "value_map",
        "values",
    )

    def __init__(
        self,
        folder: Path | None,
        first: int,
        rows: int,
        value_bytes: int,
        spare: Spare | None = None,
        *,
        bit_by_bit: bool = False,
    ) -> None:
        self.folder = folder
        self.first = first
        self.end = first + rows
        counts = {
            "events.npy": (schema.EVENT, rows),
            "edges.npy": (schema.EDGE, 2 * rows),
            "outputs.npy": (schema.OUTPUT, rows),
            "values.npy": (schema.BYTE, value_bytes),
            "rare.npy": (schema.ROW_NUMBER, rows),
        }
        if spare is not None and not has_length(spare.path, *counts["values.npy"]):
            spare.path.unlink()
            spare = None
        self.in_memory = spare is not None and spare.in_memory
        if folder is None:
            maps = {name: anonymous(dtype, count) for name, (dtype, count) in counts.items()}
        else:
            _make(folder, counts, None if spare is None else spare.path, bit_by_bit=bit_by_bit)
            known = {} if spare is None or spare.map is None else {"values.npy": spare.map}
            maps = {name: known.get(name) or open_mapped(folder / name, *array) for name, array in counts.items()}
        self.size = sum(each.size for each in maps.values())
        self.row_map, self.value_map = maps["events.npy"], maps["values.npy"]
        self.rows = self.row_map.memory
        self.origin = self.row_map.start - first * _ROW
        self.values = self.value_map.memory
        self.value_start = self.value_map.start
        self.value_end = self.value_map.start + (self.value_map.size - self.value_map.start & -schema.ALIGNMENT)
        self.edges, outputs, self.rare = maps["edges.npy"], maps["outputs.npy"], maps["rare.npy"]
        self.small_end, self.reserved = self.value_map.size, 0
        if bit_by_bit:
            self.small_end, self.reserved = _LEAST_RESERVED, self.value_map.size - _LEAST_RESERVED
        self.next_row = first
        self.next_value = self.value_start
        self.populated = self.value_end if self.in_memory else self.value_start
        self.next_edge = self.next_output = self.next_rare = 0
        self.edge_start = self.edges.start
        self.edge_end = 2 * rows
        self.output_start, self.output_end = outputs.start, rows
        self.rows_ready = first
        self.rare_start = self.rare.start
        self.rare_end = rows
        file = "" if folder is None else str(folder / "values.npy")
        self.outputs = outputs.memory
        self.attach(self.rows, self.values, self.rare.memory, self.edges.memory, self.outputs, file)

    def list_rare(self, row: int) -> None:
        """Enter a row in the index of rare rows."""
        place = self.next_rare
        self.next_rare = place + 1
        if place < self.rare_end:
            _ROW_NUMBER.pack_into(self.rare.memory, self.rare_start + place * _ROW_NUMBER.size, row + 1)

    def put_edges(self, place: int, edges: Sequence[tuple[int, int, int]]) -> None:
        """Write node, slot and argument of each of a row's inputs, from row `place` of `edges.npy` on."""
        start = self.edge_start + place * _EDGE.size
        for number, edge in enumerate(edges):
            _EDGE.pack_into(self.edges.memory, start + number * _EDGE.size, *edge)

    def put_output(self, place: int, *fields: int) -> None:
        """Write the fields of one slot of a node, as row `place` of `outputs.npy`."""
        _OUTPUT.pack_into(self.outputs, self.output_start + place * _OUTPUT.size, *fields)

    def put_large(self, offset: int, value: np.ndarray) -> int:
        """Write a large value, given as its bytes, at byte `offset`; where it lies among the values."""
        self.write(offset, value)
        return offset - self.value_start

    def put_small(self, offset: int, end: int, value: Any, *, copied: bool) -> bool:
        """Write a small value, or its statistics, from one byte to another; False where those count NaN or Inf."""
        if not copied:
            return self.put_summary(offset, value)
        try:
            self.values[offset:end] = value
        except (ValueError, BufferError, TypeError):  # its elements do not lie together in C order
            self.values[offset:end] = np.asarray(value).tobytes()
        return True

    def put_summary(self, offset: int, value: Any) -> bool:
        """Write the statistics of a value (or that record itself) at byte `offset`; whether the value is finite."""
        record = value if value.__class__ is bytes else values.summary_record(np.asarray(value))
        self.values[offset : offset + len(record)] = record
        return not any(record[_COUNTS])  # of NaN and Inf

    def begin(self, *, keeps_values: bool) -> None:
        """Fault in the first pages that rows and values come to, ahead of the program's first ops."""
        self.populate_rows()
        if keeps_values:
            self.populate(min(self.value_start + _AHEAD, self.small_end))

    def populate_rows(self) -> None:
        """Fault in the pages of the next rows: few enough that they are still in the cache when they are written."""
        position = self.origin + self.rows_ready * _ROW
        ahead = _ahead((self.rows_ready - self.first) * _ROW)
        self.rows_ready += ahead // _ROW
        self.row_map.populate(position, ahead)

    def populate(self, need: int) -> None:
        """Fault in the pages of the values up to byte `need`, and a stretch ahead."""
        populated = self.populated
        ahead = min(_ahead(populated - self.value_start), self.small_end - populated)
        stop = max(need, populated + ahead)
        self.fill(stop)
        self.value_map.populate(populated, stop - populated)
        reached = min(self.value_map.populated, self.small_end)
        if reached > self.populated:  # with no call in between: what a nested one has filled is never filled again
            self.populated = reached

    @property
    def is_reserved(self) -> bool:
        """Whether all of its disk space is reserved."""
        return self.reserved <= 0

    @property
    def used(self) -> int:
        """Bytes that its values take."""
        return self.next_value - self.value_start + self.value_map.size - self.value_end

    def lacks_space(self, low: int, high: int) -> bool:
        """Whether no disk space is reserved for small values up to byte `low`, or large ones from byte `high` on."""
        return low > self.small_end or high < self.reserved

    def reserve(self, low: int, high: int) -> None:
        """Reserve it, and a stretch ahead.

        Raises:
            OSError: The disk is full, or the file is gone.
        """
        assert self.folder is not None
        small_end, reserved = self.small_end, self.reserved
        if low > small_end:
            small_end = min(max(low, small_end + _reserved_ahead(small_end)), self.reserved)
        if high < reserved:
            reserved = max(min(high, reserved - _reserved_ahead(self.value_map.size - reserved)), small_end)
        for start, stop in ((self.small_end, small_end), (reserved, self.reserved)):
            if start < stop and not self.allocate(start, stop):
                reserve_part(self.folder / "values.npy", start, stop)
        # A nested call may have come farther.
        small_end, reserved = max(small_end, self.small_end), min(reserved, self.reserved)
        is_whole = small_end >= reserved
        self.small_end, self.reserved = (self.value_map.size, 0) if is_whole else (small_end, reserved)


def place_below(end: int, room: int) -> int:
    """Where a large value lies that takes so much room below `end`: where a page begins, if that leaves little empty.

    Whole pages are written in half the time.
    """
    offset = end - room
    page = offset & -PAGE
    return page if (offset - page) * SHARE <= room else offset


def bytes_of(value: Any) -> np.ndarray:
    """The bytes of a large value, in one row."""
    return np.ascontiguousarray(value).reshape(-1).view(np.uint8)


def _ahead(done: int) -> int:
    return min(max(done, _LEAST), _AHEAD)


def _reserved_ahead(done: int) -> int:
    return min(max(_MORE_RESERVED * done, _LEAST_RESERVED), _MOST_RESERVED)


def _make(folder: Path, counts: dict[str, tuple[np.dtype, int]], spare: Path | None, *, bit_by_bit: bool) -> None:
    """Make the files; the folder gets its name when they are complete, so that no reader sees half a segment.

    Args:
        folder: The segment's folder.
        counts: dtype and length of each array.
        spare: A file of values to use again; it is gone afterwards.
        bit_by_bit: Whether the disk space of values is reserved as they fill it.
    """
    unfinished = folder.with_name(f"{folder.name}.new")
    try:
        unfinished.mkdir()
        if spare is not None:
            spare.rename(unfinished / "values.npy")
        if bit_by_bit:
            reserve_ends(unfinished / "values.npy", *counts["values.npy"], _LEAST_RESERVED)
        for name, (dtype, count) in counts.items():
            if not (unfinished / name).exists():
                reserve(unfinished / name, dtype, count)
        unfinished.rename(folder)
    except BaseException:  # Ctrl-C too
        discard(unfinished)
        raise


def discard(folder: Path) -> bool:
    """Remove the folder of a segment, where that can be; whether it is gone."""
    with forgiving(OSError):  # name by name: to list them takes a descriptor, and there may be none
        for name in schema.SEGMENT_FILES:
            (folder / name).unlink(missing_ok=True)
        with contextlib.suppress(FileNotFoundError):
            folder.rmdir()
        return True
    return False
