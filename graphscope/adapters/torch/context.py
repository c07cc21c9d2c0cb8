"""Where a thread of the program is: its module scope, whether it goes backward, and what of it must not be recorded."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple

from graphscope.adapters.kit.call_scopes import Scope
from graphscope.adapters.torch import compiled, remote_values
from graphscope.eventlog.scopes import ScopePath

if TYPE_CHECKING:
    from graphscope.adapters.torch.aten_ops import LineCalls


_LEAST_SITES = 256
_MOST_AWAITING = 16


class Awaiting(NamedTuple):
    """An argument that is to be waited for by the call that it is given to."""

    rows: list[int]
    """Those of the arguments of the call."""
    place: int
    """Its own among them."""
    tensor: Any


class Variants(dict[Any, Any]):
    """The kinds of results that were met at a call site.

    Args:
        code: What the call stands in.
    """

    __slots__ = ("code",)

    def __init__(self, code: CodeType) -> None:
        super().__init__()
        self.code = weakref.ref(code)


class Context(Scope):
    """A scope, with what its call sites need."""

    __slots__ = ("site_room", "sites", "sites_without_grad", "variants")

    def __init__(self, path: ScopePath, backward: bool = False) -> None:
        super().__init__(path, backward)
        self.sites: dict[int, Any] = {}
        self.sites_without_grad: dict[int, Any] = {}
        """The call sites by instruction and function, with gradients on and off."""
        self.variants: dict[int, Variants] = {}
        """Of each call site the kinds of results that were met there."""
        self.site_room = _LEAST_SITES
        """So many call sites are let stand before those of codes that are gone are taken out."""

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


class Place(compiled.Place):
    """Where one thread is."""

    __slots__ = ("_places", "awaiting", "line_calls", "reads", "training_calls")

    context: Context

    def __init__(self, root: ScopePath, places: Places) -> None:
        self._places = places
        self.thread_id = threading.get_ident()
        self.context = Context(root)
        self.thread = 0
        """Its number in the log, once it has gone backward."""
        self.first = self.last = 0
        """The events between which the call ran whose row is written next, where a device tells later how long."""
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
        self.awaiting: deque[Awaiting] = deque(maxlen=_MOST_AWAITING)
        """What calls were given last that a collective has yet to bring."""
        self.line_calls: LineCalls | None = None
        """Of the call that runs, where the ops inside of calls are recorded."""
        self.reads = 0
        """How often floating numbers were read out of tensors, where the log is to tell."""
        self.training_calls: set[str] = set()
        """The families of the calls that run and decide how the program trains: those inside of them are not told."""

    @property
    def is_entered(self) -> bool:
        """Whether this thread is one of the engine's own, which runs nodes of a pass that began here."""
        return self.thread_id != threading.get_ident()

    def enter(self) -> None:
        """What this thread runs is part of what runs here: the engine has threads of its own for accelerators."""
        self._places.here = self

    def took(self, row: int) -> None:
        """The row of the call that ran is written; 0: it has none."""
        if self.first:
            first, self.first = self.first, 0
            remote_values.took(row, first, self.last)


class Places(threading.local):
    """The place of each thread.

    Args:
        root: What all scopes lie in: those of one name are the same in all threads.
    """

    def __init__(self, root: ScopePath) -> None:
        self.here = Place(root, self)
