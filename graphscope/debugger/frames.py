"""The Python frames of a stopped program: walked outward, read, and written."""

from __future__ import annotations

import ctypes
import linecache
import sys
from pathlib import Path, PurePath
from types import CodeType, FrameType, TracebackType

from graphscope.debugger.results import Frame, Place
from graphscope.eventlog.foreign_tensors import TENSOR_READERS
from graphscope.eventlog.record import is_internal
from graphscope.eventlog.source_texts import lines_of, source_text


def stack(innermost: FrameType, floor: CodeType | None = None, *, libraries: bool = False) -> list[FrameType]:
    """The program's frames, outermost first: those of graphscope and (unless `libraries` are wanted) of a recorded
    library, through which modules call each other, are left out, and all at and below `floor`.
    """
    found: list[FrameType] = []
    frame: FrameType | None = innermost
    while frame is not None and frame.f_code is not floor:
        if not is_internal(frame.f_code.co_filename) and (libraries or not _is_of_library(frame)):
            found.append(frame)
        frame = frame.f_back
    return found[::-1]


def of_traceback(trace: TracebackType | None) -> dict[FrameType, int]:
    """The program's frames that an exception left, outermost first, with the line where it left each.

    Those of a recorded library, which may have raised it, are left out.
    """
    found: dict[FrameType, int] = {}
    while trace is not None:
        frame = trace.tb_frame
        if not is_internal(frame.f_code.co_filename) and not _is_of_library(frame):
            found[frame] = trace.tb_lineno
        trace = trace.tb_next
    return found


def raised(died: dict[FrameType, int], *, behind_node: bool) -> str:
    """Where an exception left the innermost of these frames, in words."""
    frame, line = list(died.items())[-1]
    place = describe(frame, line).place
    after = ", after this node" if behind_node else ""
    return f"raised at {PurePath(place.file).name}:{place.line}{after}: {place.text}"


def _is_of_library(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).partition(".")[0] in TENSOR_READERS


def describe(frame: FrameType, line: int | None = None) -> Frame:
    """A frame as data."""
    file = frame.f_code.co_filename
    number = line or frame.f_lineno or frame.f_code.co_firstlineno
    lines = lines_of(source(frame))
    text = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    return Frame(Place(file, number, frame.f_code.co_name, text))


def source(frame: FrameType) -> str:
    """The text of the file of a frame; empty when it can't be had."""
    return source_text(frame.f_code.co_filename, frame.f_globals)


def text_of_file(file: str) -> str:
    """The text of a source file as it is now; empty when it can't be had."""
    return "".join(linecache.getlines(file))


def write_back(frame: FrameType) -> None:
    """Let what was written to `frame.f_locals` reach the program; from Python 3.13 on it does so by itself."""
    if sys.version_info < (3, 13):
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(1))


def same_file(file: str, pattern: str) -> bool:
    """Whether two spellings of a path mean one file."""
    return file == pattern or Path(file).name == pattern or Path(file).resolve() == Path(pattern).resolve()
