"""Which row of the log a tensor comes from: by the identity of the object, through views, aliases and writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from graphscope.adapters.kit import identity
from graphscope.adapters.torch import compiled, tensor_base
from graphscope.adapters.torch.distributed_tensors import held
from graphscope.adapters.torch.tensor_base import ORDINARY
from graphscope.eventlog.interruptions import own


class Group:
    """Tensors that share memory; `turn` counts the writes into it, `row` is the row of the last."""

    __slots__ = ("row", "turn")

    def __init__(self) -> None:
        self.row = 0
        self.turn = 0


class More:
    """What only some tensors have: versions, a gradient, a name."""

    __slots__ = (
        "accumulated",
        "arrivals",
        "first",
        "form",
        "gathered",
        "leaf",
        "name",
        "updating",
        "versions",
        "zeroed",
    )

    def __init__(self, first: int) -> None:
        self.first = first
        """The row of the tensor's first version: its number in the log."""
        self.versions = 0
        self.leaf = False
        self.name: str | None = None
        self.form: Any = None
        """What the template of its LEAF rows is for, and that."""
        self.updating: dict[tuple[bool, bool], Any] = {}
        """What the templates of an optimizer's rows of it are for, and those: by whether the row of the gradient is
        told, and whether what the step did was measured."""
        self.gathered: Any = None
        """Of a whole parameter that was put together of parts: the distributed one that they are of, as a reference."""
        self.accumulated = 0
        """The row of what was last added to its gradient."""
        self.arrivals: Any = None
        """The templates of such rows."""
        self.zeroed = False
        """Whether its gradient was set to 0 since."""


@compiled.given_to(compiled.Known)
class Known:
    """A tensor that the log has a row of; calling it gives the tensor, or None. Nothing is kept alive by it."""

    if TYPE_CHECKING:

        def __init__(self, tensor: torch.Tensor) -> None: ...
        def __call__(self) -> torch.Tensor | None: ...

    row: int
    """The row of the newest version; above it the slot, where its node has several."""
    counter: int
    """What torch's own count of writes was then."""
    group: Group | None
    """Those that it shares memory with."""
    seen: int
    """The turn of the group up to which its writes are accounted for."""
    more: More | None

    def extended(self) -> More:
        """What only some tensors have, made when it is first needed."""
        if self.more is None:
            self.more = More(self.row)
        return self.more


class Identities(identity.Identities[Known]):
    """The tensors that are known: what rows they are, whose memory they share, and whose gradients they are."""

    def __init__(self) -> None:
        super().__init__(Known, compiled.Table)
        self.storages = compiled.Table()
        """Leaves by their storage: one that appears later may share it."""
        self.gradients = identity.Notes[Known]()
        """Gradients that the program took in its hands, and whose they are."""

    def add(self, tensor: torch.Tensor, row: int) -> Known:
        """Note that a tensor is the value of a row."""
        known = super().add(tensor, row)
        known.counter = version_of(tensor)
        return known

    def purge(self) -> int:
        """Forget the dead, and tell how many entries may stand before it is done again."""
        self.storages.forget()
        self.gradients.purge()
        return super().purge()

    def settle(self) -> None:
        """The recording is over: know of the living what row they are, and hold nothing of how rows were written."""
        self.purge()
        self.storages = compiled.Table()
        self.gradients.clear()
        for known in self.table.values():
            known.group = known.more = None

    def alias(self, one: Known, other: Known) -> None:
        """Note that two tensors share memory."""
        group = one.group or other.group or Group()
        for known in (one, other):
            if known.group is not group:
                known.group = group
                known.seen = group.turn

    def exchange(self, one: torch.Tensor, other: torch.Tensor) -> None:
        """Note that two tensors have changed places: each is what the other was."""
        first, second = self.find(one), self.find(other)
        for known, tensor in ((first, other), (second, one)):
            if known is None:
                self.table.take(id(tensor))
                continue
            moved = self.add(tensor, known.row)
            moved.counter, moved.group, moved.more = known.counter, known.group, known.more
            if known.group is not None:
                moved.seen = known.seen
            for key, (gradient, owner) in self.gradients.items():
                if owner is known:
                    self.gradients[key] = gradient, moved

    def share_part(self, tensor: torch.Tensor, known: Known) -> None:
        """Note that what this rank holds of a distributed tensor is the value of the same row."""
        if tensor.__class__ in ORDINARY or (part := held(tensor)) is tensor:
            return
        of_part = self.find(part) or self.add(part, known.row)
        self.alias(known, of_part)

    def resized(self, storage: Any) -> None:
        """Note that a leaf's storage was resized: what is to lie there is written by nothing that shares it."""
        known = self.storages.get(storage._cdata)
        if known is None:
            return
        if known.group is None:
            known.group = Group()
            known.group.row = known.row
        known.group.turn += 1

    def share_storage(self, tensor: torch.Tensor, known: Known) -> None:
        """Note a leaf's storage; where a known leaf shares it, both are aliases."""
        try:
            place = tensor_base.Own.untyped_storage(held(tensor))._cdata
        except own(Exception):  # sparse tensors, transforms of `torch.func`, classes of the program's own
            return
        other = self.storages.get(place)
        alive = other() if other is not None else None
        if other is not None and alive is not None and tensor_base.Own.untyped_storage(held(alive))._cdata == place:
            self.alias(other, known)
        else:
            self.storages[place] = known


def version_of(tensor: torch.Tensor) -> int:
    """Torch's count of the writes into a tensor; 0 for those of inference mode, which have none."""
    try:
        return int(tensor_base.version(tensor))
    except own(Exception):  # a class of the program's own may raise anything
        return 0


def wrote(known: Known, tensor: torch.Tensor, row: int) -> None:
    """Note that a row is a new version of a tensor, made by a write into it."""
    more = known.extended()
    known.row = row
    known.counter = version_of(tensor)
    more.versions += 1
    group = known.group
    if group is not None:
        group.turn += 1
        group.row = row
        known.seen = group.turn
