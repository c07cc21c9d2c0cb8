"""What is known of the objects of a framework, by the identity of each object, which is not kept alive."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

LEAST: Final = 512
"""So many entries stand before those of dead objects are taken out."""


class Reference(weakref.ref[Any]):
    """A weak reference of the recorder's. Python's own are shared by all who ask for one, the program among them."""

    __slots__ = ()


class Known(weakref.ref[Any]):
    """An object that the log has a row of; calling it gives the object, or None."""

    __slots__ = ("row",)

    row: int


class Table(dict[int, Any]):
    """Known objects by their addresses. An entry may be of one that is gone."""

    def find(self, value: Any) -> Any:
        """What is known of an object, or None."""
        known = self.get(id(value))
        return known if known is not None and known() is value else None

    def take(self, address: int) -> Any:
        """What is known of an address, taken out."""
        return super().pop(address, None)

    def forget(self) -> None:
        """Take those out that are gone."""
        for key in list(self):
            known = self.get(key)
            if known is not None and known() is None:
                del self[key]


Entry = TypeVar("Entry", bound=Any)
Note = TypeVar("Note")


class Identities(Generic[Entry]):
    """Which row of the log an object is the value of: a reference that is dead, or to another object, is none.

    Args:
        entry: Makes the entry of an object: `Known`, or something like it that knows more.
        table: Makes the table of entries: `Table`, or a compiled one.
    """

    def __init__(self, entry: Callable[[Any], Any] = Known, table: Callable[[], Any] = Table) -> None:
        self._entry = entry
        self.table = table()
        self.find: Callable[[Any], Entry | None] = self.table.find
        """The entry of an object, if it has one."""
        self.room = LEAST
        """So many entries are let stand before those of dead objects are taken out."""

    def add(self, value: Any, row: int) -> Entry:
        """Note that an object is the value of a row."""
        known: Entry = self._entry(value)
        known.row = row
        table = self.table
        if len(table) >= self.room:
            self.purge()
        table[id(value)] = known
        return known

    def purge(self) -> int:
        """Forget the dead, and tell how many entries may stand before it is done again."""
        self.table.forget()
        self.room = 2 * len(self.table) + LEAST
        return self.room


class Notes(dict[int, tuple[weakref.ref[Any], Note]]):
    """Something that is noted of objects, by `id`: their names, or whose gradients they are. It goes with them."""

    def of(self, value: Any) -> Note | None:
        """What is noted of an object."""
        found = self.get(id(value))
        return found[1] if found is not None and found[0]() is value else None

    def note(self, value: Any, note: Note) -> None:
        """Note something of an object, in place of what was noted before; what is noted must not hold the object."""
        key = id(value)
        # No Python runs when an object goes: its exceptions would be lost.
        self[key] = (Reference(value, functools.partial(self.pop, key)), note)

    def purge(self) -> None:
        """Forget the dead that compiled code has entered: they do not go by themselves."""
        for key, (reference, _) in list(self.items()):  # other threads enter theirs meanwhile
            if reference() is None:
                self.pop(key, None)
