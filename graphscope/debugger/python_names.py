"""What a name that a person types in Python may become, where the program waits."""

from __future__ import annotations

import builtins
import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from types import FrameType

_MISSING: Final = object()


def names_in(frame: FrameType | None, word: str) -> Iterator[str]:
    """The variables of a frame that begin with a word; of `layer.we` the attributes of what the dots lead to."""
    if frame is None:
        return
    path, dot, begin = word.rpartition(".")
    known = {**vars(builtins), **frame.f_globals, **frame.f_locals}
    found = _led_to(path.split("."), known) if dot else known
    names = () if found is _MISSING else found if not dot else _attributes(found)
    hidden = "" if begin.startswith("_") else "_"
    for name in names:
        if name.startswith(begin) and not (hidden and name.startswith(hidden)):
            yield f"{path}{dot}{name}"


def _led_to(path: list[str], known: dict[str, Any]) -> Any:
    first, *others = path
    found = known.get(first, _MISSING)
    with contextlib.suppress(Exception):  # whatever an attribute of the program's does
        for name in others:
            found = getattr(found, name)
        return found
    return _MISSING


def _attributes(found: Any) -> list[str]:
    with contextlib.suppress(Exception):
        return dir(found)
    return []
