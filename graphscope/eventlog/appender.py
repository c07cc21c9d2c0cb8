"""What the hot path of recording works on, and how it runs: compiled where `_append` could be built, else in Python.

Both write the same rows. The compiled one takes the rows of the common kind and leaves the others to the function that
it is given, which takes them all.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from itertools import islice
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.eventlog.arguments import bits
from graphscope.eventlog.recent_values import RecentValues
from graphscope.eventlog.schema import EVENT, packing
from graphscope.eventlog.typed import is_number

_ndarray = np.ndarray
_ROW: Final = EVENT.itemsize
_DURATION: Final = struct.Struct(packing(EVENT, ["duration"]))
_DURATION_AT: Final = EVENT.fields["duration"][1]  # type: ignore[index]


FLOATING: Final = {
    "float16": 1, "bfloat16": 2, "float32": 3, "float64": 4, "complex64": 3, "complex128": 4,
}  # fmt: skip
"""By dtype, the number of the floating type of its parts."""


MOST_NODES: Final = 1 << 30
"""So many of the inputs that a row is given are nodes where none is a number."""


class Cursor:
    """Where the next row and the next value of a segment go.

    Cursors are read and advanced without a call in between: the interpreter switches threads, runs signal handlers
    and finalizers only at calls and backward jumps, so that a reservation needs no lock (and can't be torn by one).
    """

    __slots__ = (
        "_recent",
        "_values",
        "edge_end",
        "edge_start",
        "end",
        "first",
        "next_edge",
        "next_output",
        "next_rare",
        "next_row",
        "next_value",
        "origin",
        "output_end",
        "output_start",
        "populated",
        "rare_end",
        "rare_start",
        "reserved",
        "rows_ready",
        "value_end",
        "value_start",
    )

    first: int
    next_row: int
    end: int
    origin: int
    """Byte of `rows` at which row 0 would begin."""
    rows_ready: int
    """The pages of rows below this one are faulted in."""
    next_value: int
    value_start: int
    value_end: int
    populated: int
    """The pages of values below this byte are faulted in."""
    reserved: int
    """From this byte on there is disk space for large values."""
    next_rare: int
    rare_start: int
    rare_end: int
    next_edge: int
    edge_start: int
    """Byte of `edges` at which its first row lies."""
    edge_end: int
    next_output: int
    output_start: int
    """Byte of `outputs` at which its first row lies."""
    output_end: int

    def attach(self, rows: Any, values: Any, rare: Any, edges: Any, outputs: Any, file: str) -> None:
        """Write into these buffers from here on; `file` is that of the values, if there is one."""
        self._values = values
        self._recent = RecentValues(values)

    def let_go(self) -> bool:
        """Close the file that large values are written through; whether there was one."""
        return False

    def fill(self, stop: int) -> None:
        """Let the pages of small values be in memory up to a byte, where they can be written through a file."""

    def allocate(self, start: int, stop: int) -> bool:
        """Reserve disk space for values through a file that is open; whether that was done."""
        return False

    def write(self, offset: int, content: Any) -> None:
        """Write a large value, given as contiguous bytes, at an offset of the values."""
        self._values[offset : offset + len(content)] = memoryview(content)
        self._recent.note(offset, content)

    def find(self, content: Any) -> int:
        """At which offset of the values a large value lies already; -1: nowhere."""
        return self._recent.find(content)


class Form:
    """What is the same in all rows of a template, as far as appending asks."""

    __slots__ = (
        "awaited",
        "copied",
        "floating",
        "inline",
        "kind",
        "nbytes",
        "nodes",
        "plain",
        "prefix",
        "rare",
        "room",
    )

    prefix: bytes
    """What of the row is the same each time, with kind 0."""
    kind: int
    nbytes: int
    nodes: int
    """So many of the inputs given are nodes; those behind them are numbers."""
    room: int
    """Bytes that the value takes among the values: padded, 0 when it lies in the row or nowhere."""
    copied: bool
    inline: bool
    awaited: bool
    """Whether the value comes later: the row has the room for it."""
    rare: bool
    floating: int
    """The floating type that the value's elements are of, as a number of FLOATING; 0: none."""
    plain: bool
    """Whether there is nothing to do but to copy the value and to pack the fields."""

    def like(self, other: Form) -> None:
        """Keep values as another form keeps its own."""
        self.nbytes, self.room, self.floating = other.nbytes, other.room, other.floating
        self.plain, self.copied, self.inline = other.plain, other.copied, other.inline


class Place:
    """A call site, and the result that its template is for."""

    __slots__ = ("constant", "context", "dtype", "kind", "shape", "template")

    kind: Any
    shape: tuple[int, ...]
    dtype: Any
    constant: Any
    """The number that follows the only tensor among the operands, or its class where numbers vary; None where there is
    no constant; else all operands."""
    context: Any
    template: Any


class Appender:
    """Rows of ops, at call sites that are known.

    Args:
        sites: Call sites by the address of their code, plus the instruction's offset, plus the op's key.
        slow: What appends a row of any kind with three inputs at most.
        slow_many: The same with a list of inputs.
        base: What is added to row numbers.
    """

    segment: Any

    def __init__(
        self, sites: dict[Any, Any], slow: Callable[..., int], slow_many: Callable[..., int], base: int
    ) -> None:
        self._sites = sites
        self._slow = slow
        self.many = slow_many
        self._base = base

    def op(
        self,
        frame: FrameType,
        key: int,
        result: Any,
        constant: Any,
        context: Any,
        start: int,
        backward: int,
        *inputs: int,
    ) -> tuple[Any, int] | None:
        """Append the row of an op that ran from `start` until now; its call site and row, or None at an unknown one."""
        end = time.perf_counter_ns()
        site = self._sites.get(id(frame.f_code) + frame.f_lasti + key)
        if (
            site is None
            or site.kind is not result.__class__
            or (site.kind is _ndarray and (site.shape != result.shape or site.dtype is not result.dtype))
            or (site.constant is not constant and site.constant is not constant.__class__)
            or site.context is not context
        ):
            return None
        if site.constant is not constant:  # a number that varies
            if not is_number(constant):
                return None
            inputs = (*inputs, bits(constant))
        return site, self._slow(site.template, result, end, end - start, backward, *inputs)

    def finish(self, row: int, start: int, took: int | None = None) -> int:
        """Write the duration of a row that was appended before its work was done, and return the clock's reading.

        Args:
            row: The number of the row.
            start: When the work began.
            took: So many nanoseconds it took by another clock.
        """
        end = time.perf_counter_ns()
        duration = end - start if took is None else took
        segment = self.segment
        row -= self._base
        if row >= segment.first:
            _DURATION.pack_into(segment.rows, segment.origin + row * _ROW + _DURATION_AT, duration)
        return end


def activate(writer: Any) -> None:
    """Tell the compiled parts which log is active. There are none here: all look at `record.writer`."""


lay: Any = None
"""Puts a file in the place of mapped memory, compiled."""


def position(code: CodeType, instruction: int) -> tuple[int | None, ...]:
    """Line, end line, column and end column of the instruction at a byte offset."""
    return next(islice(code.co_positions(), instruction // 2, None), (None, None, None, None))


def later(function: Callable[[], None], *_: Any) -> None:
    """Call a function from the callback of something that goes; compiled, when Python goes on."""
    function()


measure: Any = None
"""Takes the statistics of floating elements in memory as a `SUMMARY` record, where that is compiled."""

compiled = False
"""Whether rows are appended by the compiled part. It looks at every value as it passes, and flags NaN and Inf."""

if not TYPE_CHECKING:
    with suppress(ImportError):  # it was not built here: there was no compiler
        _append = import_module("graphscope.eventlog._append")
        Appender, Cursor, Form, Place = _append.Appender, _append.Cursor, _append.Form, _append.Place
        activate, later, lay, position = _append.activate, _append.later, _append.lay, _append.position
        compiled = True
        measure = import_module("graphscope.eventlog._measure").measure
