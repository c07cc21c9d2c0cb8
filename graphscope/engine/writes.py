"""In-place writes, remembered so that a backward rule never works on a value that was changed under it.

A write notes the buffer it changed and the moment. A node made before the last write anywhere looks, before its rule
runs, whether one of the buffers that it saved was written since; all other nodes pay one comparison.
"""

from __future__ import annotations

import itertools
import weakref
from types import CodeType, FrameType
from typing import Any, Final

import numpy as np

moments = itertools.count(1)
"""The order of things: each node and each write takes the next moment."""

last: int = 0
"""The moment of the newest write."""

_writes: dict[int, tuple[int, weakref.ref[np.ndarray], str, CodeType | None, int]] = {}
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


def note(array: Any, what: str, frame: FrameType | None = None) -> None:
    """Remember that `array` was just written by `what`, called at `frame`."""
    global last, _room
    if not isinstance(array, np.ndarray):
        return  # a tensor of no dims got another number: the old one is as it was
    last = next(moments)
    owner = buffer(array)
    if len(_writes) >= _room:  # most belong to buffers that are gone
        for key in [key for key, (_, reference, *_) in _writes.items() if reference() is None]:
            del _writes[key]
        _room = 2 * len(_writes) + _LEAST
    _writes.pop(id(owner), None)
    if frame is None:
        _writes[id(owner)] = (last, weakref.ref(owner), what, None, 0)
    else:
        _writes[id(owner)] = (last, weakref.ref(owner), what, frame.f_code, frame.f_lasti)


def since(array: Any, moment: int) -> tuple[str, CodeType | None, int] | None:
    """What wrote the memory of `array` after `moment`, and the code and instruction that called it; or None."""
    owner = buffer(array)
    found = _writes.get(id(owner))
    if found is None or found[0] <= moment or found[1]() is not owner:
        return None
    return found[2:]
