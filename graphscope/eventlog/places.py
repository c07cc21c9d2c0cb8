"""Places in the program: where an instruction stands in its source, and the number of that place in a log."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import Any, Final, NamedTuple

from graphscope.eventlog import sources
from graphscope.eventlog.appender import position
from graphscope.eventlog.own_files import is_own, modules_beside
from graphscope.eventlog.source_texts import source_text
from graphscope.eventlog.writer import Writer


def site_number(writer: Writer, frame: FrameType) -> int:
    """The number of the place that a frame is at; the text of its file is kept with the log at first sight."""
    code = frame.f_code
    number = writer.tables["sites"].find(_place(code, frame.f_lasti))
    if number is not None:
        return number
    for find in GENERATORS:
        if (line := find(frame)) is not None:
            return _new_line(writer, _place(code, frame.f_lasti), line, frame)
    caller = 0 if is_own(code.co_filename) else _caller(writer, frame)
    return _new_site(writer, code, frame.f_lasti, frame.f_lineno or 0, frame.f_globals, caller)


def _caller(writer: Writer, frame: FrameType) -> int:
    """The number of the program's own line that led to a frame; 0 where none did."""
    outer = frame.f_back
    while outer is not None and not is_own(outer.f_code.co_filename):
        outer = outer.f_back
    return 0 if outer is None else site_number(writer, outer)


def _place(code: CodeType, instruction: int) -> tuple[Any, ...]:
    """What tells places apart. By the address of its code, the code would have to be kept alive."""
    return (code.co_filename, code.co_qualname, code.co_firstlineno, code.co_linetable, instruction)


def left_site(writer: Writer, trace: TracebackType) -> int:
    """The number of the place where an exception left a frame."""
    frame = trace.tb_frame
    return _new_site(writer, frame.f_code, trace.tb_lasti, trace.tb_lineno or 0, frame.f_globals)


def misread_site(writer: Writer, error: SyntaxError) -> int:
    """The number of the place that Python can't read; 0 where it is not told."""
    if not error.filename or not error.lineno:
        return 0
    _keep_source(writer, error.filename, None)
    column = max((error.offset or 1) - 1, 0)
    entry = _entry(error.filename, error.lineno, column, error.end_lineno, error.end_offset, "<module>")
    return writer.intern("sites", (error.filename, error.lineno), entry)


class Line(NamedTuple):
    """A place of the program that is known without a frame; columns count from 0, and are both 0 for a whole line."""

    file: str
    number: int
    function: str
    column: int = 0
    end_column: int = 0


GENERATORS: Final[list[Callable[[FrameType], Line | None]]] = []
"""Those who generate code of the program's say which of its lines a frame of such code is at; None of other frames."""


def line_number(writer: Writer, line: Line) -> int:
    """The number of a place of which no frame is at hand; of one in a library, with the program's own line that is at
    work now.
    """
    number = writer.tables["sites"].find(line)
    return _new_line(writer, line, line, sys._getframe()) if number is None else number


def _new_line(writer: Writer, key: Any, line: Line, frame: FrameType) -> int:
    _keep_source(writer, line.file, None)
    end_line = line.number if line.end_column else None
    entry = _entry(line.file, line.number, line.column, end_line, line.end_column, line.function)
    if caller := 0 if is_own(line.file) else _caller(writer, frame):
        entry["caller"] = caller
    return writer.intern("sites", key, entry)


def _new_site(
    writer: Writer, code: CodeType, instruction: int, line: int, variables: dict[str, Any], caller: int = 0
) -> int:
    file = code.co_filename
    known, end_line, column, end_column = position(code, instruction)
    _keep_source(writer, file, variables)
    entry = _entry(file, known or line, column, end_line or known, end_column, code.co_qualname)
    if caller:
        entry["caller"] = caller
    return writer.intern("sites", _place(code, instruction), entry)


def keep_sources_beside(writer: Writer) -> None:
    """Keep the files of the program that no op stands in, as of its settings: modules beside those that are kept."""
    room = _MOST_TEXT
    for file, variables in modules_beside(map(str, writer.tables["sources"].keys())):
        room -= Path(file).stat().st_size if Path(file).is_file() else room
        if room < 0:
            break
        _keep_source(writer, file, variables)


_MOST_TEXT = 1 << 20
"""So many bytes of them are kept."""


def _keep_source(writer: Writer, file: str, variables: dict[str, Any] | None) -> None:
    if writer.tables["sources"].find(file) is None:
        writer.intern("sources", file, {"file": file, "text": source_text(file, variables, anew=True)})


def _entry(
    file: str, line: int, column: int | None, end_line: int | None, end_column: int | None, function: str
) -> dict[str, Any]:
    return {
        "file": file,
        "line": line,
        "column": column or 0,
        "end_line": end_line or 0,
        "end_column": end_column or 0,
        "function": function,
    }


def argument_text(code: CodeType, instruction: int, argument: int) -> str | None:
    """What the program writes as an argument of the call at the instruction."""
    key = (*_place(code, instruction), code.co_names, code.co_varnames, argument)  # a file may be written anew
    if key not in _arguments:
        if len(_arguments) >= _MOST_ARGUMENTS:
            _arguments.clear()
        line, end_line, column, end_column = position(code, instruction)
        place = (line or 0, column or 0, end_line or 0, end_column or 0)
        _arguments[key] = sources.argument_at(source_text(code.co_filename), place, argument)
    return _arguments[key]


_arguments: dict[Any, str | None] = {}
_MOST_ARGUMENTS = 4096


def written_at(code: CodeType, instruction: int) -> tuple[str, str]:
    """What the program calls the first argument of a call, and where the call is."""
    line = position(code, instruction)[0]
    return argument_text(code, instruction, 0) or "", f"{code.co_filename}:{line or code.co_firstlineno}"
