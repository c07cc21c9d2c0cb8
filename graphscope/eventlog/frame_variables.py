"""The variables of the program's running functions, read one by one.

Before Python 3.13 `f_locals` is a copy that the frame keeps: all that it shows would live until the function returns.
"""

from __future__ import annotations

import ctypes
import inspect
import sys
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any, Final

_WORD: Final = ctypes.sizeof(ctypes.c_void_p)


def variable(frame: FrameType, name: str) -> Any:
    """What a name stands for in a frame, in its function or else in its module; None where it stands for nothing."""
    if not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        return frame.f_locals.get(name, frame.f_globals.get(name))
    return local_variable(frame, name) if name in _names(frame.f_code) else frame.f_globals.get(name)


def variables(frame: FrameType) -> Iterator[tuple[str, Any]]:
    """All that names stand for in a frame, those of its function before those of its module."""
    if frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        yield from ((name, local_variable(frame, name)) for name in _names(frame.f_code))
    else:  # of a module or a class: the variables themselves
        yield from list(frame.f_locals.items())
    yield from list(frame.f_globals.items())


def _names(code: CodeType) -> tuple[str, ...]:
    """The local variables of a function, as they lie in its frame."""
    return *code.co_varnames, *(each for each in code.co_cellvars if each not in code.co_varnames), *code.co_freevars


def _local_by_proxy(frame: FrameType, name: str) -> Any:
    return frame.f_locals.get(name)


def _local_by_call(frame: FrameType, name: str) -> Any:
    try:
        return ctypes.pythonapi.PyFrame_GetVarString(frame, name.encode())
    except NameError:
        return None


def _local_by_place(frame: FrameType, name: str) -> Any:
    """Python 3.11 offers no look at one variable alone."""
    code = frame.f_code
    running = ctypes.c_void_p.from_address(id(frame) + 3 * _WORD).value
    if running is None or ctypes.c_void_p.from_address(running + 4 * _WORD).value != id(code):  # another layout
        return None
    held = ctypes.c_void_p.from_address(running + (9 + _names(code).index(name)) * _WORD).value
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
"""The value of a local variable of a running function, by its name; None where it has none."""
