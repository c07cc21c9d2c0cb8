"""Distributed parameters whose gradients are put in place by what shards them, where autograd sees other tensors.

`fully_shard` lets a module compute with whole parameters, reduces what arrives at these over the ranks, and sets the
gradients of its own parameters, or adds to them.
"""

from __future__ import annotations

import weakref
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import torch

from graphscope.adapters.torch import compiled, control, tensor_base
from graphscope.adapters.torch.distributed_tensors import held, is_distributed, placing
from graphscope.adapters.torch.dtypes import log_dtype
from graphscope.adapters.torch.known_tensors import Known, version_of
from graphscope.adapters.torch.tensor_properties import requires_grad, shape_of
from graphscope.adapters.torch.values import Keeping
from graphscope.eventlog.places import site_number
from graphscope.eventlog.schema import ROW_MASK, Flag, Kind, Pass

if TYPE_CHECKING:
    from graphscope.adapters.torch.session import Session

_GATHERED: Final = ("gathered", "A whole parameter that a module computes with, of the parts that all ranks hold.")
_OP: Final = ("sharded_grad", "What this rank holds of a gradient behind a backward pass, in which ranks reduced it.")
_ADDED: Final = ("sharded_grad_added", "That a backward pass added to what this rank holds of a gradient.")


class _Place(NamedTuple):
    """Where a distributed parameter stands while nothing computes with it."""

    owner: weakref.ref[torch.nn.Module]
    name: str
    parameter: weakref.ref[torch.Tensor]


class _Seen(NamedTuple):
    """A gradient as it was behind the last backward pass."""

    reference: weakref.ref[torch.Tensor]
    version: int


class ShardedParameters:
    """Those that are known, and what their gradients are behind each backward pass."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.references: list[weakref.ref[torch.Tensor]] = []
        """Compiled code asks whether there are any."""
        self._places: list[_Place] = []
        self._seen: dict[int, _Seen] = {}
        """Their gradients, by the `id` of the parameter."""

    def note(self, module: torch.nn.Module) -> None:
        """A module is called that has distributed parameters, or modules in it have."""
        noted = {id(each()) for each in self.references}
        for owner in module.modules():
            for name, parameter in owner._parameters.items():
                if parameter is None or not is_distributed(parameter.__class__):
                    continue
                reference = compiled.Reference(parameter)
                self._places.append(_Place(compiled.Reference(owner), name, reference))
                if id(parameter) not in noted:
                    noted.add(id(parameter))
                    self.references.append(reference)

    def gathered_of(self, tensor: torch.Tensor, known: Known | None) -> torch.Tensor | None:
        """The distributed parameter in whose place a whole one stands meanwhile; None of any other tensor."""
        if not self.references or not isinstance(tensor, torch.nn.Parameter):
            return None
        if known is not None and known.more is not None and known.more.gathered is not None:
            found: torch.Tensor | None = known.more.gathered()
            return found
        for place in self._places:
            owner = place.owner()
            if owner is not None and owner._parameters.get(place.name) is tensor:
                found = place.parameter()
                return None if found is tensor else found
        return None

    def gathered(
        self, tensor: torch.Tensor, parameter: torch.Tensor, frame: FrameType | None, known: Known | None
    ) -> Known:
        """Append the row of a whole parameter, as it was put together last."""
        session = self._session
        writer, context = session.writer, session.places.here.context
        source = session.identities.find(parameter)
        if source is None or source.row < writer.low:
            source = session.leaves.leaf(parameter, None, None, source)
        name = session.leaves.names.of(parameter)
        form = Keeping(
            writer.template(
                Kind.OP,
                op=session.op_number(*_GATHERED),
                site=0 if frame is None else site_number(writer, frame),
                scope=context.path.number(writer),
                shape=shape_of(tensor),
                dtype=log_dtype(tensor_base.dtype(tensor)),
                attrs=writer.attributes({} if name is None else {"name": f"{name}.gathered"}),
                flags=Flag.REQUIRES_GRAD if requires_grad(tensor) else Flag(0),
                graph_pass=Pass.BACKWARD if context.backward else Pass.FORWARD,
                input_count=1,
            )
        )
        template, value = form.read(tensor)
        row = writer.append_many(template, value, [source.row], writer.clock())
        if known is None:
            known = session.identities.add(tensor, row)
            session.identities.share_part(tensor, known)
            session.identities.share_storage(tensor, known)
        known.row, known.counter = row, version_of(tensor)
        known.more = None  # it is another tensor each time
        more = known.extended()
        more.leaf, more.gathered = True, compiled.Reference(parameter)
        if writer.gate is not None and frame is not None:
            control.after(session, row, tensor, value, frame)
        return known

    def passed(self, first: int, frame: FrameType) -> None:
        """A backward pass has ended, whose rows begin at `first`: append what it made of gradients that none tells."""
        alive = [each for reference in self.references if (each := reference()) is not None]
        if len(alive) < len(self.references):
            self._forget_dead(alive)
        for parameter in alive:
            self._look(parameter, first, frame)

    def _forget_dead(self, alive: list[torch.Tensor]) -> None:
        """Let go of what is known of models that are gone."""
        self.references[:] = [each for each in self.references if each() is not None]
        self._places = [each for each in self._places if each.parameter() is not None]
        known = {id(each) for each in alive}
        self._seen = {number: seen for number, seen in self._seen.items() if number in known}

    def _look(self, parameter: torch.Tensor, first: int, frame: FrameType) -> None:
        gradient = tensor_base.gradient(parameter)
        if gradient is None:
            self._seen.pop(id(parameter), None)
            return
        before, part = self._seen.get(id(parameter)), held(gradient)
        now = self._seen[id(parameter)] = _Seen(compiled.Reference(gradient), version_of(part))
        is_same = before is not None and before.reference() is gradient
        if is_same and before is not None and before.version == now.version:
            return
        known = self._session.identities.find(parameter) or self._session.leaves.leaf(parameter, frame)
        if known.extended().accumulated < first:
            self._tell(known, gradient, frame, is_fresh=not is_same)

    def _tell(self, known: Known, gradient: torch.Tensor, frame: FrameType, *, is_fresh: bool) -> None:
        """Append the row of a gradient, or the row that says that something was added to it."""
        session, more = self._session, known.extended()
        writer = session.writer
        origin = session.identities.find(gradient)
        inputs = [origin.row] if origin is not None and origin.row >= writer.low else []
        facts: dict[str, Any] = placing(gradient)
        form = Keeping(
            writer.template(
                Kind.ACCUMULATE,
                op=session.op_number(*(_OP if is_fresh else _ADDED)),
                site=site_number(writer, frame),
                shape=shape_of(gradient),
                dtype=log_dtype(tensor_base.dtype(gradient)),
                attrs=writer.attributes(facts),
                flags=Flag.FRESH if is_fresh else Flag(0),
                graph_pass=Pass.BACKWARD,
                input_count=len(inputs),
            )
        )
        # What was added alone is nowhere any more: the gradient holds the sum.
        template, value = form.read(gradient) if is_fresh else (form.unkept, None)
        more.accumulated = writer.append_many(template, value, inputs, writer.clock(), 0, known.row & ROW_MASK)
