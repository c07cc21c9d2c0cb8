"""Where a thread of the program is: its module scope, whether it goes backward, and what of it must not be recorded."""

from __future__ import annotations

import threading
import weakref
from types import CodeType
from typing import TYPE_CHECKING, Any

from graphscope.adapters.torch import compiled
from graphscope.eventlog.scopes import ScopePath

if TYPE_CHECKING:
    from graphscope.adapters.torch.aten_ops import LineCalls


_LEAST = 32
_LEAST_SITES = 256


class Variants(dict[Any, Any]):
    """The kinds of results that were met at a call site.

    Args:
        code: What the call stands in.
    """

    __slots__ = ("code",)

    def __init__(self, code: CodeType) -> None:
        super().__init__()
        self.code = weakref.ref(code)


class Context:
    """A scope on one of the two passes: one object a place, which holds what its call sites need."""

    __slots__ = (
        "backward", "entering", "inner", "leaving", "module", "path", "room", "site_room", "sites",
        "sites_without_grad", "twin", "variants",
    )  # fmt: skip

    def __init__(self, path: ScopePath, backward: bool = False) -> None:
        self.path = path
        self.backward = backward
        self.module: weakref.ref[Any] | None = None
        """The module whose `forward` runs here."""
        self.inner: dict[int, Context] = {}
        """The contexts of the modules called from here, by `id`."""
        self.room = _LEAST
        """So many of them are let stand before those of modules that are gone are taken out."""
        self.sites: dict[int, Any] = {}
        self.sites_without_grad: dict[int, Any] = {}
        """The call sites by instruction and function, with gradients on and off."""
        self.variants: dict[int, Variants] = {}
        """Of each call site the kinds of results that were met there."""
        self.site_room = _LEAST_SITES
        """So many call sites are let stand before those of codes that are gone are taken out."""
        self.entering: Any = None
        self.leaving: Any = None
        """The templates of the marks at both ends."""
        self.twin: Context | None = None
        """The same scope on the other pass."""

    def forget(self) -> None:
        """Take out the contexts of modules that are gone."""
        for key, each in list(self.inner.items()):
            if each.module is not None and each.module() is None:
                self.inner.pop(key, None)
        self.room = 2 * len(self.inner) + _LEAST

    def variants_at(self, key: int, code: CodeType) -> Variants:
        """The kinds of results that were met at a call site: at another one's address there are none yet."""
        found = self.variants.get(key)
        if found is None or found.code() is not code:
            self._forget_site(key)
            if len(self.variants) >= self.site_room:
                for each, variants in list(self.variants.items()):
                    if variants.code() is None:
                        self._forget_site(each)
                self.site_room = 2 * len(self.variants) + _LEAST_SITES
            found = self.variants[key] = Variants(code)
        return found

    def _forget_site(self, key: int) -> None:
        for table in (self.variants, self.sites, self.sites_without_grad):
            table.pop(key, None)

    def turned(self) -> Context:
        """The same scope on the backward pass."""
        if self.backward:
            return self
        if self.twin is None:
            self.twin = Context(self.path, backward=True)
            self.twin.module = self.module
        return self.twin


class Place(compiled.Place):
    """Where one thread is."""

    __slots__ = ("beneath",)

    context: Context

    def __init__(self, root: ScopePath) -> None:
        self.context = Context(root)
        self.backward_row = 0
        """The GRAD row whose rule runs, or 0."""
        self.busy = False
        """Whether what runs is not the program's: a person's expression, or the recorder itself."""
        self.sequence = 0
        """Torch's number of the next backward node, after the last call seen."""
        self.calls: Any = None
        """The mode that sees the calls of this thread."""
        self.run: Any = None
        """The innermost backward pass that runs in this thread."""
        self.beneath: LineCalls | None = None
        """Of the call that runs, where the ops beneath calls are recorded."""


class Places(threading.local):
    """The place of each thread.

    Args:
        root: What all scopes lie in: those of one name are the same in all threads.
    """

    def __init__(self, root: ScopePath) -> None:
        self.here = Place(root)
