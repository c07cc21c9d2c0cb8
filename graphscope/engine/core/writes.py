"""In-place writes, remembered so that a backward rule never works on a value that was changed under it.

A write notes the buffer it changed and the moment. A node made before the last write anywhere looks, before its rule
runs, whether one of the buffers that it saved was written since; all other nodes pay one comparison.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from functools import partial
from sys import getrefcount
from types import CodeType, FrameType
from typing import Any, Final

import numpy as np

moments = itertools.count(1)
"""The order of things: each node and each write takes the next moment."""

last: int = 0
"""The moment of the newest write."""

_writes: dict[int, tuple[int, Callable[[], Any], str, CodeType | None, int]] = {}
_numbers: dict[int, tuple[weakref.ref[np.ndarray], Any]] = {}
"""The arrays of no dims that took the place of a number when somebody wanted to share it, and those numbers."""
_LEAST: Final = 4096
_room = _LEAST
"""So many entries are let stand before those of dead buffers are taken out."""


def buffer(array: Any) -> Any:
    """The array that owns the memory that `array` looks at."""
    while isinstance(array, np.ndarray):
        base = array.base
        if not isinstance(base, np.ndarray):
            base = getattr(base, "base", None)  # `as_strided` leaves an object of its own between the two
            if not isinstance(base, np.ndarray):
                break
        array = base
    return array


def memory(number: np.generic) -> np.ndarray:
    """An array of no dims in the place of a number: what has saved the number is blamed for writes into the array."""
    array = np.array(number)
    key = id(array)
    # No line of Python runs when it goes: its exceptions would be lost.
    _numbers[key] = weakref.ref(array, partial(_numbers.pop, key)), number
    return array


def stands_for(array: Any, value: Any) -> bool:
    """Whether an array took the place of a number."""
    found = _numbers.get(id(array))
    return found is not None and found[1] is value


def note(array: Any, what: str, frame: FrameType | None = None) -> None:
    """Remember that `array`, or a number in whose place is another now, was just written by `what`, at `frame`."""
    global last, _room
    last = next(moments)
    owner = buffer(array)
    if len(_writes) >= _room:  # most belong to buffers that are gone
        for key in [key for key, (_, reference, *_) in _writes.items() if _is_gone(reference)]:
            del _writes[key]
        _room = 2 * len(_writes) + _LEAST
    place = (None, 0) if frame is None else (frame.f_code, frame.f_lasti)
    held: Callable[[], Any] = weakref.ref(owner) if isinstance(owner, np.ndarray) else lambda: owner
    _writes.pop(id(owner), None)
    _writes[id(owner)] = (last, held, what, *place)
    if id(owner) in _numbers:
        number = _numbers[id(owner)][1]
        _writes[id(number)] = (last, lambda: number, what, *place)


_OURS: Final = 3
"""References to a number that `_is_gone` itself sees: the function that holds it, a name, an argument."""


def _is_gone(reference: Callable[[], Any]) -> bool:
    owner = reference()
    return owner is None or (isinstance(owner, np.generic) and getrefcount(owner) <= _OURS)


def since(array: Any, moment: int) -> tuple[str, CodeType | None, int] | None:
    """What wrote the memory of `array` after `moment`, and the code and instruction that called it; or None."""
    owner = buffer(array)
    found = _writes.get(id(owner))
    if found is None or found[0] <= moment or found[1]() is not owner:
        return None
    return found[2:]
