"""What the loops of the program count at a moment: the numbers by which it tells its own training steps apart."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from opcode import opmap
from types import CodeType, FrameType, MappingProxyType
from typing import Any, Final

from graphscope.eventlog.frame_variables import variable
from graphscope.eventlog.loops import Counter, counters_at
from graphscope.eventlog.own_files import is_own
from graphscope.eventlog.source_texts import source_text

_MOST_FRAMES: Final = 200
NO_LINES: Final[Mapping[FrameType, int]] = MappingProxyType({})
"""All frames are at the lines that they were at."""


def loop_counters(frame: FrameType | None, lines: Mapping[FrameType, int] = NO_LINES) -> dict[str, int]:
    """The counters of the loops around a frame, by name, the outermost first, each as the program prints it.

    A loop that counts with nothing that is an integer now is left out.

    Args:
        frame: The frame.
        lines: Those of frames that were at another line at that moment than they are at now.
    """
    found: dict[str, int] = {}
    for _ in range(_MOST_FRAMES):
        if frame is None:
            break
        if is_own(frame.f_code.co_filename):
            own: dict[str, int] = {}
            for candidates in _counters(frame.f_code, lines.get(frame) or frame.f_lineno or 0):
                for each in candidates:
                    value = _value(frame, each.name)
                    if type(value) is int and abs(value) < 1 << 62:
                        own[each.name] = value + each.ahead
                        break
            if own:
                found = own | {name: value for name, value in found.items() if name not in own}
        frame = frame.f_back
    return found


@lru_cache(maxsize=64)
def _counters(code: CodeType, line: int) -> tuple[tuple[Counter, ...], ...]:
    if _TURNING.isdisjoint(code.co_code[::2]):  # which its text would tell, too, and later
        return ()
    first = 0 if code.co_name == "<module>" else code.co_firstlineno
    return counters_at(source_text(code.co_filename), line, first)


_TURNING: Final = frozenset(
    number for name, number in opmap.items() if name == "FOR_ITER" or ("JUMP_BACKWARD" in name and "NO_" not in name)
)
"""Instructions of which each loop has one."""


def _value(frame: FrameType, name: str) -> Any:
    """The value of a variable of a frame, or of a plain attribute of one; None where there is none."""
    name, _, attribute = name.partition(".")
    value = variable(frame, name)
    if not attribute:
        return value
    try:
        return object.__getattribute__(value, "__dict__").get(attribute)  # no code of the program's runs
    except AttributeError:
        return None
