"""What the loops of the program count at a moment: the numbers by which it tells its own training steps apart."""

from __future__ import annotations

import ctypes
import inspect
import linecache
import sys
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any, Final

from graphscope.eventlog.loops import Counter, counters_at
from graphscope.eventlog.own_files import is_own

_MOST_FRAMES: Final = 200
_WORD: Final = ctypes.sizeof(ctypes.c_void_p)


def loop_counters(frame: FrameType | None) -> dict[str, int]:
    """The counters of the loops around a frame, by name, the outermost first, each as the program prints it.

    A loop that counts with nothing that is an integer now is left out.
    """
    found: dict[str, int] = {}
    for _ in range(_MOST_FRAMES):
        if frame is None:
            break
        if is_own(frame.f_code.co_filename):
            own: dict[str, int] = {}
            for candidates in _counters(frame.f_code, frame.f_lineno or 0):
                for each in candidates:
                    value = _value(frame, each.name)
                    if type(value) is int and abs(value) < 1 << 62:
                        own[each.name] = value + each.ahead
                        break
            found = own | {name: value for name, value in found.items() if name not in own}
        frame = frame.f_back
    return found


@lru_cache(maxsize=64)
def _counters(code: CodeType, line: int) -> tuple[tuple[Counter, ...], ...]:
    return counters_at("".join(linecache.getlines(code.co_filename)), line)


def _value(frame: FrameType, name: str) -> Any:
    """The value of a variable of a frame, or of a plain attribute of one; None where there is none."""
    name, _, attribute = name.partition(".")
    value = _variable(frame, name)
    if not attribute:
        return value
    try:
        return object.__getattribute__(value, "__dict__").get(attribute)  # no code of the program's runs
    except AttributeError:
        return None


def _variable(frame: FrameType, name: str) -> Any:
    code = frame.f_code
    if not code.co_flags & inspect.CO_OPTIMIZED:
        return frame.f_locals.get(name, frame.f_globals.get(name))
    if name not in code.co_varnames and name not in code.co_cellvars and name not in code.co_freevars:
        return frame.f_globals.get(name)
    return local_variable(frame, name)


def _local_by_proxy(frame: FrameType, name: str) -> Any:
    return frame.f_locals.get(name)


def _local_by_call(frame: FrameType, name: str) -> Any:
    try:
        return ctypes.pythonapi.PyFrame_GetVarString(frame, name.encode())
    except NameError:
        return None


def _local_by_place(frame: FrameType, name: str) -> Any:
    """Python 3.11 offers no look at one variable alone; `f_locals` would hold all that it shows alive."""
    code = frame.f_code
    names = (*code.co_varnames, *(each for each in code.co_cellvars if each not in code.co_varnames), *code.co_freevars)
    running = ctypes.c_void_p.from_address(id(frame) + 3 * _WORD).value
    if running is None or ctypes.c_void_p.from_address(running + 4 * _WORD).value != id(code):  # another layout
        return None
    held = ctypes.c_void_p.from_address(running + (9 + names.index(name)) * _WORD).value
    if held is None:
        return None
    value = ctypes.cast(held, ctypes.py_object).value
    if type(value) is _Cell:
        try:
            return value.cell_contents
        except ValueError:
            return None
    return value


_Cell: Final = type((lambda value: lambda: value)(0).__closure__[0])  # type: ignore[index]
if sys.version_info >= (3, 13):
    local_variable = _local_by_proxy
elif sys.version_info >= (3, 12):
    ctypes.pythonapi.PyFrame_GetVarString.argtypes = ctypes.py_object, ctypes.c_char_p
    ctypes.pythonapi.PyFrame_GetVarString.restype = ctypes.py_object
    local_variable = _local_by_call
else:
    local_variable = _local_by_place
"""The value of a local variable of a running frame, by its name; None where it has none. Nothing is kept alive."""
