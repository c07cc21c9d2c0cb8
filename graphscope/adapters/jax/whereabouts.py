"""Where an equation was written: the line of the program, and the scopes of its name stack."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator
from types import CodeType
from typing import Any, Final

from graphscope.adapters.jax.internals import source_info_util
from graphscope.adapters.kit.frames import Frames
from graphscope.eventlog.appender import position
from graphscope.eventlog.places import Line

_JITTED: Final = re.compile(r"(\w+)\((.+)\)")

Path = tuple[tuple[str, str], ...]


class _Called(threading.local):
    """The line that called the jitted function which a thread runs."""

    line: Line | None = None


class Whereabouts:
    """Tells where what is computed now was written.

    Args:
        frames: Tells the program's frames from others.
    """

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._called = _Called()
        self._lines: dict[tuple[int, int], tuple[CodeType, Line]] = {}
        self._paths: dict[Any, Path] = {}

    def here(self) -> tuple[Line | None, Path]:
        """The line, if it is one of the program's, and the scopes, the outermost first."""
        info = source_info_util.current()
        stack = info.name_stack
        path = self._paths.get(stack)
        if path is None:
            path = self._paths[stack] = tuple(map(_scope, filter(None, map(_name, stack.stack))))
        return self._line(info.traceback) or self._called.line, path

    @contextlib.contextmanager
    def called(self) -> Iterator[None]:
        """What runs inside is a jitted function. JAX traces its own ones without their callers: theirs is this line."""
        outer = self._called.line
        self._called.line = self._line(source_info_util.current().traceback) or outer
        try:
            yield
        finally:
            self._called.line = outer

    def _line(self, traceback: Any) -> Line | None:
        is_program = self._frames.is_program
        for code, instruction in zip(*traceback.raw_frames(), strict=True):
            if is_program(code):
                known = self._lines.get((id(code), instruction))
                if known is None:
                    known = self._lines[id(code), instruction] = code, _written(code, instruction)
                return known[1]
        return None


def _written(code: CodeType, instruction: int) -> Line:
    line, end_line, column, end_column = position(code, instruction)
    ends_here = line == end_line
    return Line(
        code.co_filename,
        line or code.co_firstlineno,
        code.co_qualname,
        (column or 0) if ends_here else 0,
        (end_column or 0) if ends_here else 0,
    )


def _name(element: Any) -> str:
    """What an element of a name stack adds to the scopes: a transformation is none."""
    return str(element.name) if type(element).__name__ == "Scope" else ""


def _scope(name: str) -> tuple[str, str]:
    """The name and the type of a scope: `jit(step)` is what was compiled as `step`."""
    found = _JITTED.fullmatch(name)
    return (found[2], found[1]) if found else (name, "")
