"""The gate: where a debugger may inspect a node, and put another value in the place of its own."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from types import FrameType
from typing import Any

from graphscope.eventlog.gate import Replace
from graphscope.eventlog.places import Line
from graphscope.eventlog.schema import ROW_MASK
from graphscope.eventlog.writer import Writer

Waiting = AbstractContextManager[object]
"""Entered while the program waits for a person: what is computed meanwhile is not the program's."""


def before(
    writer: Writer,
    name: str,
    rows: Sequence[int],
    frame: FrameType,
    waiting: Waiting,
    called: str = "",
    line: Line | None = None,
) -> None:
    """Let the debugger look ahead of a call, of which the rows of its inputs are known.

    Args:
        writer: The log.
        name: The op.
        rows: Those of its inputs.
        frame: The program's.
        waiting: See `Waiting`.
        called: What the program calls the node, if it does.
        line: Where the call was written, if not where the frame is.
    """
    gate = writer.gate
    if gate is not None:
        with waiting:
            gate.before(name, tuple((row & ROW_MASK) - writer.base for row in rows), frame, called=called, line=line)


def after(
    writer: Writer, row: int, array: Any, frame: FrameType, waiting: Waiting, *, cuts: bool = False
) -> Replace | None:
    """Let the debugger look at a node; what is to take the place of its value.

    Args:
        writer: The log.
        row: The node's row.
        array: Its value, or the cotangent, as an array.
        frame: The program's.
        waiting: See `Waiting`.
        cuts: Whether the value can be cut off from what it was computed from.
    """
    gate = writer.gate
    if gate is None:
        return None
    with waiting:
        answer = gate.after(row - writer.base, array, frame, cuts=cuts)
    return answer if isinstance(answer, Replace) else None


def passed(writer: Writer, frame: FrameType, waiting: Waiting) -> None:
    """Let the debugger look at what a backward pass has left behind."""
    gate = writer.gate
    if gate is not None:
        with waiting:
            gate.passed(frame)


def stepped(writer: Writer, frame: FrameType, waiting: Waiting) -> None:
    """Let the debugger look at what a training step has left behind."""
    gate = writer.gate
    if gate is not None:
        with waiting:
            gate.stepped(frame)
