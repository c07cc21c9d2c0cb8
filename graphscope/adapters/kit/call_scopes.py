"""Scopes: where in the modules and composite ops of the program what runs lies, and the marks at both ends of each."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator, Sequence
from typing import Any, Final, Protocol, Self

from graphscope.eventlog.schema import Kind, Pass
from graphscope.eventlog.scopes import ScopePath
from graphscope.eventlog.writer import Writer

_LEAST: Final = 32


class Scope:
    """A scope on one of the two passes: one object for each place that it is called from.

    Args:
        path: The names of it and of the scopes around it.
        backward: Whether it is on the backward pass.
    """

    __slots__ = ("backward", "entering", "inner", "leaving", "module", "outer", "path", "room", "twin")

    def __init__(self, path: ScopePath, backward: bool = False) -> None:
        self.path = path
        self.backward = backward
        self.outer: Self | None = None
        """The scope that it was made in."""
        self.module: weakref.ref[Any] | None = None
        """The module whose call runs here."""
        self.inner: dict[int, Self] = {}
        """The scopes of the modules called from here, by `id`."""
        self.room = _LEAST
        """So many of them are let stand before those of modules that are gone are taken out."""
        self.entering: Any = None
        self.leaving: Any = None
        """The templates of the marks at both ends; None for what is no scope of the log."""
        self.twin: Self | None = None
        """The same scope on the other pass."""

    def marked(self, writer: Writer) -> Self:
        """This scope, with the templates of its marks."""
        graph_pass = Pass.BACKWARD if self.backward else Pass.FORWARD
        self.entering, self.leaving = (
            writer.template(kind, scope=self.path.number(writer), graph_pass=graph_pass)
            for kind in (Kind.SCOPE_ENTER, Kind.SCOPE_EXIT)
        )
        return self

    def child(self, key: object, name: str, type: str, writer: Writer) -> Self:
        """The scope of that name and type in this one, of something that is called from here and stays alive."""
        inner = self.inner.get(id(key))
        if inner is None:
            inner = self.inner[id(key)] = self.__class__(self.path.child(name, type), self.backward).marked(writer)
            inner.outer = self
        return inner

    def around(self) -> list[Self]:
        """The scopes around this one, from the outermost, which is none of the log, to itself."""
        return [*(self.outer.around() if self.outer is not None else []), self]

    def keep(self, module: Any, inner: Self) -> None:
        """Note the scope of a module that is called from here."""
        inner.module = weakref.ref(module)
        if len(self.inner) >= self.room:
            self.forget()
        self.inner[id(module)] = inner

    def forget(self) -> None:
        """Take out the scopes of modules that are gone."""
        for key, each in list(self.inner.items()):
            if each.module is not None and each.module() is None:
                self.inner.pop(key, None)
        self.room = 2 * len(self.inner) + _LEAST

    def on_backward(self) -> Self:
        """The same scope on the backward pass."""
        if self.backward:
            return self
        if self.twin is None:
            self.twin = self.__class__(self.path, backward=True)
            self.twin.module = self.module
            self.twin.outer = None if self.outer is None else self.outer.on_backward()
        return self.twin


class Place(Protocol):
    """Where a thread of the program is."""

    context: Any
    """The scope that it is in."""


def move(place: Place, scopes: Sequence[Scope], writer: Writer) -> None:
    """Go from the scope that a thread is in to the last of some, each in the one before; marks tell of the way."""
    around = place.context.around()
    shared = next((at for at, pair in enumerate(zip(around, scopes, strict=False)) if pair[0] is not pair[1]), None)
    common = min(len(around), len(scopes)) if shared is None else shared
    place.context = scopes[-1]
    marks = [*(left.leaving for left in reversed(around[common:])), *(entered.entering for entered in scopes[common:])]
    for mark in marks:
        if mark is not None:
            writer.append(mark, None, writer.clock())


@contextlib.contextmanager
def within(place: Place, scope: Scope, writer: Writer) -> Iterator[None]:
    """What runs inside lies in a scope, which its marks tell."""
    outer, place.context = place.context, scope
    writer.append(scope.entering, None, writer.clock())
    try:
        yield
    finally:
        place.context = outer
        writer.append(scope.leaving, None, writer.clock())
