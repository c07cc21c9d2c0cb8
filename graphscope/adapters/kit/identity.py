"""Which row of the log an object of a framework comes from: by the identity of the object, which is not kept alive."""

from __future__ import annotations

import weakref
from typing import Any, Final

LEAST: Final = 512
"""So many entries stand before those of dead objects are taken out."""


class Identities:
    """The objects that are known, by `id`: a reference that is dead, or to another object, is none."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._room = LEAST

    def find(self, value: Any) -> int | None:
        """The row that an object is the value of, if it is known."""
        found = self._known.get(id(value))
        return found[1] if found is not None and found[0]() is value else None

    def add(self, value: Any, row: int) -> None:
        """Note that an object is the value of a row. What has no weak references, as Python's numbers, is not noted."""
        try:
            reference = weakref.ref(value)
        except TypeError:
            return
        if len(self._known) >= self._room:
            self._known = {key: entry for key, entry in self._known.items() if entry[0]() is not None}
            self._room = 2 * len(self._known) + LEAST
        self._known[id(value)] = (reference, row)
