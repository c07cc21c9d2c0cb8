"""Module scopes: where in the program's modules an op ran, as the log shows it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from graphscope.engine.core import training
from graphscope.engine.core.modes import Context, here
from graphscope.eventlog import record as recording
from graphscope.eventlog.schema import Kind
from graphscope.eventlog.scopes import ScopePath

ROOT: Final = ScopePath()


def ran(module: Any) -> None:
    """Tell the log of a module that no other called."""
    told = training.told()
    if told is not None:
        told.ran(module)


@contextmanager
def scope(name: str, type: str = "", module: Any = None) -> Iterator[None]:
    """Ops inside belong to the scope `name`, of a module or of none, within the scope that is open already."""
    mode = here()
    outer = mode.context
    path = (outer.scope or ROOT).child(name, type)
    if path not in outer.inner:
        outer.inner[path] = Context(path, outer.backward_row, outer.grad_enabled)
    mode.context = outer.inner[path]
    mark(Kind.SCOPE_ENTER, path, module if outer.scope is None else None)
    try:
        yield
    finally:
        mark(Kind.SCOPE_EXIT, path)
        mode.context = outer.with_grad(mode.grad_enabled)


def mark(kind: Kind, path: ScopePath, outermost: Any = None) -> None:
    """Tell the log that a scope begins or ends; that of a module that no other called tells of the module, too."""
    writer = recording.writer
    if writer is None:
        return
    key = (kind, path, writer.thread())
    template = writer.sites.get(key)
    if template is None:
        template = writer.sites[key] = writer.template(kind, scope=path.number(writer))
        if outermost is not None:
            ran(outermost)
    writer.append(template, None, writer.clock())
