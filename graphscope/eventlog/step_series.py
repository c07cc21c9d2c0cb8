"""The series of a recording: loss, learning rate and gradient norm of training steps, also of those left out."""

from __future__ import annotations

import math
import struct
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.eventlog import schema
from graphscope.eventlog.mapped import open_mapped, reserve
from graphscope.eventlog.schema import DTYPE_CODES, ROW_MASK, Flag, Kind

if TYPE_CHECKING:
    from graphscope.eventlog.segment import Segment
    from graphscope.eventlog.writer import Writer

NAME: Final = "series.npy"
SERIES: Final = np.dtype([("step", "<i8"), ("time", "<f8"), ("loss", "<f8"), ("rate", "<f8"), ("has_loss", "?")])
"""A step, counted from 1 (0: a row that is free), the seconds since the first one ended, and its learning rate.

The loss is what the last backward pass of the step began from, or one before it that is not finite. NaN stands for a
rate or a loss that is not known. What lies on an accelerator may be told when the next step ends.
"""

_LOSS_AT, _RATE_AT, _HAS_LOSS_AT = (SERIES.fields[name][1] for name in ("loss", "rate", "has_loss"))  # type: ignore[index]
_NUMBER, _TRUTH, _STEP_OF = struct.Struct("<d"), struct.Struct("?"), struct.Struct("<q")

NORMS_NAME: Final = "norms.npy"
NORMS: Final = np.dtype([("step", "<i8"), ("norm", "<f8")])
"""A step, counted likewise, and the 2-norm of all gradients that its optimizer took; of some steps: it costs time."""

MOST: Final = 1 << 16
"""So many rows are kept. When they are full, each second one goes, and of later ones each second one is kept."""

_EVENT: Final = schema.EVENT.itemsize
_STEP, _BACKWARD_BEGIN = Kind.STEP.value, Kind.BACKWARD_BEGIN.value
"""Plain numbers: of a member of an enum NumPy asks for names, and takes Ctrl-C meanwhile for one that is missing."""
_FEW, _MORE = 64, 8
"""A step's backward passes are among so many of the newest marks, unless there are many, or many values are not finite:
then among so many times more."""


class StepSeries:
    """The files that they go to, which grow no larger.

    Args:
        folder: That of the log.

    Raises:
        OSError: The disk is full.
    """

    def __init__(self, folder: Path) -> None:
        self._steps = _Rows(folder / NAME, SERIES, "<qddd?")
        self._norms = _Rows(folder / NORMS_NAME, NORMS, "<qd")
        self._first = 0

    def append(self, step: int, time: int, loss: float | None, rate: float) -> None:
        """Append a step.

        Args:
            step: Counted from 1.
            time: When it ended, in nanoseconds.
            loss: None where it is not known.
            rate: The learning rate; NaN where there is none.
        """
        self._first = self._first or time
        known = loss is not None
        self._steps.append(step, (time - self._first) / 1e9, loss if known else math.nan, rate, known)

    def tell(self, step: int, loss: float | None, rate: float | None) -> None:
        """Tell what was not known of one of the newest steps when it was appended.

        Args:
            step: Counted from 1.
            loss: None: there is nothing to tell of it.
            rate: Likewise.
        """
        if rate is not None:
            self._steps.put(step, (_NUMBER, _RATE_AT, rate))
        if loss is not None:
            self._steps.put(step, (_NUMBER, _LOSS_AT, loss), (_TRUTH, _HAS_LOSS_AT, True))

    def take_back(self, first: int, last: int) -> None:
        """Forget the newest steps, from one to another: they were parts of one that ends later."""
        for step in range(last, first - 1, -1):
            self._steps.take_back(step)
            self._norms.take_back(step)

    @property
    def first(self) -> int:
        """When the first step ended, in nanoseconds; 0 of none."""
        return self._first

    def extend(self, rows: memoryview) -> None:
        """Append steps that are rows of the file already."""
        self._steps.extend(rows)

    def append_norm(self, step: int, norm: float) -> None:
        """Append the 2-norm of a step's gradients."""
        self._norms.append(step, norm)


class _Rows:
    """Rows that each begin with a step: a file of them that is thinned out when it is full."""

    def __init__(self, path: Path, dtype: np.dtype, struct_format: str) -> None:
        reserve(path, dtype, MOST)
        self._dtype = dtype
        self._map = open_mapped(path, dtype, MOST)
        self._row = struct.Struct(struct_format)
        self._count = self._given = 0
        self._stride = 1
        self._moving = threading.RLock()

    def append(self, *fields: Any) -> None:
        self._given += 1
        if self._count == MOST:
            self._thin()
        if self._given % self._stride:
            return
        self._row.pack_into(self._map.memory, self._map.start + self._count * self._row.size, *fields)
        self._count += 1

    def extend(self, rows: memoryview) -> None:
        """Append rows as they lie in the file."""
        size = self._row.size
        count = len(rows) // size
        if self._stride == 1 and self._count + count <= MOST:
            start = self._map.start + self._count * size
            self._map.memory[start : start + count * size] = rows
            self._count += count
            self._given += count
            return
        for fields in self._row.iter_unpack(rows):
            self.append(*fields)

    def take_back(self, step: int) -> None:
        """Let the newest row go if it is of that step."""
        start = self._map.start + (self._count - 1) * self._row.size
        if self._count and self._row.unpack_from(self._map.memory, start)[0] == step:
            self._map.memory[start : start + self._row.size] = bytes(self._row.size)
            self._count -= 1
            self._given -= 1

    def put(self, step: int, *fields: tuple[struct.Struct, int, Any]) -> None:
        """Put something into the row of one of the newest steps, if there is one; another thread may append meanwhile.

        Args:
            step: The step.
            fields: How each field is written, where it lies in its row, and what it holds.
        """
        memory, size = self._map.memory, self._row.size
        with self._moving:
            first = self._map.start
            start = first + (self._count - 1) * size
            while start >= first and _STEP_OF.unpack_from(memory, start)[0] > step:
                start -= size
            if start >= first and _STEP_OF.unpack_from(memory, start)[0] == step:
                for form, place, value in fields:
                    form.pack_into(memory, start + place, value)

    def _thin(self) -> None:
        rows = np.frombuffer(self._map.memory, self._dtype, MOST, self._map.start)
        with self._moving:
            kept = rows[1::2].copy()
            rows[: len(kept)], rows[len(kept) :] = kept, 0
            self._count, self._stride = len(kept), 2 * self._stride


def keep_losses(writer: Writer) -> None:
    """Keep the losses of the step that runs: its rows will be none of the segment that is written.

    They are what its backward passes began from; one that was scaled up is what the first mark of a pass tells.
    """
    for row in _marks(writer.segment)[1]:
        writer.sampling.note_loss(_loss(writer, row))


def _loss(writer: Writer, row: int) -> float | None:
    """The number that the backward pass began from whose mark a row is."""
    begin = _event(writer, row)
    root = None if begin is None else _event(writer, int(begin["inputs"][0] & np.uint64(ROW_MASK)))
    return next((value for each in (begin, root) if (value := _number(writer, each)) is not None), None)


def has_stepped_since(writer: Writer) -> bool:
    """Whether the newest mark of the log is the end of a step: no backward pass has begun behind it."""
    ended, begun = _marks(writer.segment)
    return ended is not None and not begun


def _marks(segment: Segment) -> tuple[int | None, list[int]]:
    """The newest row that ends a step, if one does, and those behind it that begin backward passes.

    They are looked for among some that are worth a look, and among more until the end of a step is found.
    """
    end = min(segment.next_row, segment.end)  # of a full one the next row is none
    ended: list[int] = []
    begun: list[int] = []
    most, count = _FEW, 0
    while not ended and count < segment.next_rare and end > segment.first:
        count, most = min(segment.next_rare, most), most * _MORE
        start = segment.rare_start + 8 * (segment.next_rare - count)
        rows = np.frombuffer(segment.rare.memory, "<u8", count, start).astype(np.int64) - 1
        rows = rows[(rows >= segment.first) & (rows < end)]
        events = np.frombuffer(segment.rows, schema.EVENT, end - segment.first, _place(segment, segment.first))
        kinds = events["kind"][rows - segment.first]
        ended = rows[kinds == _STEP][-1:].tolist()
        begun = rows[(kinds == _BACKWARD_BEGIN) & (rows > max(ended, default=-1))].tolist()
    return (ended[0] if ended else None), begun


def _event(writer: Writer, row: int) -> Any:
    segment = writer.segment
    if not segment.first <= row < segment.next_row:
        return None
    return np.frombuffer(segment.rows, schema.EVENT, 1, _place(segment, row))[0]


def _place(segment: Segment, row: int) -> int:
    """Where a row lies in the memory of a segment."""
    return segment.origin + row * _EVENT


def _number(writer: Writer, row: Any) -> float | None:
    """The number that a row holds in itself; None where it is none, or not one alone."""
    how = None if row is None or not row["flags"] & Flag.INLINE else _NUMBERS.get(int(row["dtype"]))
    if how is None or int(row["shape"]) not in map(writer.shape, _SINGLE):
        return None
    shift, bits, dtype = how
    return float((row["value"] << np.uint64(shift)).astype(bits).view(dtype))


_NUMBERS: Final = {
    DTYPE_CODES["float16"]: (0, "<u2", "<f2"),
    DTYPE_CODES["bfloat16"]: (16, "<u4", "<f4"),  # the upper half of one
    DTYPE_CODES["float32"]: (0, "<u4", "<f4"),
    DTYPE_CODES["float64"]: (0, "<u8", "<f8"),
}
"""How numbers of some dtypes lie in a row: how far they are shifted to be the bits of what NumPy knows."""

_SINGLE: Final[tuple[tuple[int, ...], ...]] = ((), (1,), (1, 1))
"""The shapes that losses have."""
