"""Scopes: the path of modules and composite ops that an event lies in, as producers follow it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphscope.eventlog.writer import Writer


class ScopePath:
    """A scope and those around it; one object for each distinct path, so that paths compare by identity.

    The outermost has no parent, and is no scope: all others are reached from it by `child`.
    """

    __slots__ = ("children", "name", "parent", "site", "type")

    def __init__(self, name: str = "", type: str = "", parent: ScopePath | None = None, site: int = 0) -> None:
        self.name = name
        self.type = type
        self.parent = parent
        self.site = site
        self.children: dict[tuple[str, str, int], ScopePath] = {}

    def child(self, name: str, type: str, site: int = 0) -> ScopePath:
        """The scope of that name and type inside this one, of a module that was made at a place."""
        key = (name, type, site)
        return self.children.get(key) or self.children.setdefault(key, ScopePath(name, type, self, site))

    def line(self) -> list[ScopePath]:
        """This scope and those around it, the outermost first; empty for what is no scope."""
        return [] if self.parent is None else [*self.parent.line(), self]

    def describe(self, writer: Writer) -> dict[str, Any]:
        """The entry in the log's table; the scopes around it are written first."""
        parent = self.parent.number(writer) if self.parent is not None else 0
        made = {"site": self.site} if self.site else {}
        return {"name": self.name, "type": self.type, "parent": parent, **made}

    def number(self, writer: Writer) -> int:
        """The number in the log's table; 0 for what is no scope."""
        if self.parent is None:
            return 0
        number = writer.tables["scopes"].find(self)
        return writer.intern("scopes", self, self.describe(writer)) if number is None else number
