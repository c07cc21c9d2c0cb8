"""Places in the program: where an instruction stands in its source, and the number of that place in a log."""

from __future__ import annotations

import functools
import linecache
from types import CodeType, FrameType

from graphscope.eventlog import sources
from graphscope.eventlog.writer import Writer


def site_number(writer: Writer, frame: FrameType) -> int:
    """The number of the place that a frame is at; the text of its file is kept with the log at first sight."""
    code = frame.f_code
    key = (id(code), frame.f_lasti)
    number = writer.tables["sites"].find(key)
    if number is not None:
        return number
    file = code.co_filename
    line, end_line, column, end_column = position(code, frame.f_lasti)
    if writer.tables["sources"].find(file) is None:
        text = "".join(linecache.getlines(file, frame.f_globals))
        writer.intern("sources", file, {"file": file, "text": text})
    writer.codes.append(code)
    entry = {
        "file": file,
        "line": line or frame.f_lineno or 0,
        "column": column or 0,
        "end_line": end_line or line or 0,
        "end_column": end_column or 0,
        "function": code.co_qualname,
    }
    return writer.intern("sites", key, entry)


def position(code: CodeType, instruction: int) -> tuple[int | None, ...]:
    """Line, end line, column and end column of the instruction at a byte offset."""
    for index, place in enumerate(code.co_positions()):
        if index * 2 == instruction:
            return place
    return (None, None, None, None)


@functools.lru_cache(4096)
def argument_text(code: CodeType, instruction: int, argument: int) -> str | None:
    """What the program writes as an argument of the call at the instruction."""
    line, end_line, column, end_column = position(code, instruction)
    text = "".join(linecache.getlines(code.co_filename))
    return sources.argument_at(text, (line or 0, column or 0, end_line or 0, end_column or 0), argument)


def written_at(code: CodeType, instruction: int) -> tuple[str, str]:
    """What the program calls the first argument of a call, and where the call is."""
    line = position(code, instruction)[0]
    return argument_text(code, instruction, 0) or "", f"{code.co_filename}:{line or code.co_firstlineno}"
