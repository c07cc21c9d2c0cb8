"""Module scopes: where in the program's modules an op ran, as the log shows it."""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from graphscope.engine.modes import Context, here
from graphscope.eventlog import record as recording
from graphscope.eventlog.schema import Kind
from graphscope.eventlog.writer import Writer


class ScopePath:
    """A scope and those around it; one object for each distinct path, so that paths compare by identity."""

    __slots__ = ("children", "name", "parent", "type")

    def __init__(self, name: str, type: str, parent: ScopePath | None) -> None:
        self.name = name
        self.type = type
        self.parent = parent
        self.children: dict[tuple[str, str], ScopePath] = {}

    def child(self, name: str, type: str) -> ScopePath:
        """The scope of that name and type inside this one."""
        return self.children.setdefault((name, type), ScopePath(name, type, self))

    def describe(self, writer: Writer) -> dict[str, Any]:
        """The entry in the log's table; the scopes around it are written first."""
        parent = self.parent
        number = 0
        if parent is not None and parent is not _ROOT:
            number = writer.intern("scopes", parent, parent.describe(writer))
        return {"name": self.name, "type": self.type, "parent": number}


_ROOT = ScopePath("", "", None)


@contextmanager
def scope(name: str, type: str = "") -> Iterator[None]:
    """Ops inside belong to the module scope `name`, within the scope that is open already."""
    mode = here()
    outer = mode.context
    path = (outer.scope or _ROOT).child(name, type)
    if path not in outer.inner:
        outer.inner[path] = Context(path, outer.backward_row, outer.grad_enabled)
    mode.context = outer.inner[path]
    _mark(Kind.SCOPE_ENTER, path)
    try:
        yield
    finally:
        _mark(Kind.SCOPE_EXIT, path)
        mode.context = outer.with_grad(mode.grad_enabled)


def _mark(kind: Kind, path: ScopePath) -> None:
    writer = recording.writer
    if writer is None:
        return
    key = (kind, path, get_ident())
    template = writer.sites.get(key)
    if template is None:
        number = writer.intern("scopes", path, path.describe(writer))
        template = writer.sites[key] = writer.template(kind, scope=number)
    writer.append(template, None, writer.clock())
