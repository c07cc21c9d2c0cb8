"""Where an instruction stands is what Python's own list of positions says."""

from __future__ import annotations

from pathlib import Path
from types import CodeType

from graphscope.eventlog import appender, writer
from graphscope.eventlog.appender import position


def codes(code: CodeType) -> list[CodeType]:
    """A code and all that stand in it."""
    return [code, *(inner for each in code.co_consts if isinstance(each, CodeType) for inner in codes(each))]


def test_positions_are_those_of_python() -> None:
    for file in (appender.__file__, writer.__file__):
        for code in codes(compile(Path(file).read_text(), file, "exec")):
            for number, expected in enumerate(code.co_positions()):
                assert position(code, 2 * number) == expected
