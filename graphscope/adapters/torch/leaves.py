"""Tensors that no recorded call made: the program's data and parameters, and what was changed behind the log's back."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from graphscope.adapters.kit.value_names import Names, argument_name
from graphscope.adapters.torch import compiled, control, resized_storages, tensor_base, writing
from graphscope.adapters.torch.distributed_tensors import held, is_distributed, placing
from graphscope.adapters.torch.dtypes import log_dtype
from graphscope.adapters.torch.known_tensors import Known, version_of
from graphscope.adapters.torch.tensor_base import ORDINARY, Own
from graphscope.adapters.torch.tensor_elements import is_lazy
from graphscope.adapters.torch.tensor_properties import grad_fn, requires_grad, shape_of, strides_apart
from graphscope.adapters.torch.values import Keeping
from graphscope.eventlog.places import site_number
from graphscope.eventlog.schema import EVENT, ROW_MASK, Flag, Kind, Pass
from graphscope.eventlog.template import PLACE

if TYPE_CHECKING:
    from graphscope.adapters.torch.session import Session


class Leaves:
    """Appends the LEAF rows of a recording."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.names = Names()
        """What modules call their parameters and buffers."""
        self.expected: list[weakref.ref[torch.Tensor]] = []
        """Parameters of modules that were called; those that nothing has used by the next backward get a row then."""
        self._unused: set[int] = set()
        """Those that were, by `id`."""
        self.gradients = session.identities.gradients

    def expect(self, parameters: Iterable[torch.Tensor]) -> None:
        """Note parameters of a module that is called: its call should use them."""
        alive = [reference for reference in self.expected if reference() is not None]
        self.expected = alive + [compiled.Reference(each) for each in parameters]

    def unused(self) -> None:
        """Append rows of expected parameters that took no part up to a backward pass, so that they can be selected.

        They have no line, as there is none that uses them. In each new segment of the log they are written again.
        """
        session = self._session
        left = []
        for each in self.expected:
            tensor = each()
            known = None if tensor is None else session.identities.find(tensor)
            if tensor is None or (known is not None and id(tensor) not in self._unused):
                continue
            left.append(each)
            if known is None or known.row < session.writer.low:
                self._unused.add(id(tensor))
                self.leaf(tensor, None, None, known)
        self.expected = left

    def rename(self, tensor: torch.Tensor) -> None:
        """Tell a leaf again that was used, to be initialised or converted, ahead of the call of its module."""
        session = self._session
        known = session.identities.find(tensor)
        is_parameter = is_distributed(tensor.__class__) and isinstance(tensor, torch.nn.Parameter)
        if is_parameter and known is not None and not known.extended().leaf:  # `detach` has made it what it is
            session.identities.table.take(id(tensor))
            self.leaf(tensor, None)
            return
        if known is None or known.more is None or not known.more.leaf or known.row < session.writer.low:
            return
        if known.more.name != self.names.of(tensor):
            self.leaf(tensor, None, None, known)

    def meet(self, tensor: torch.Tensor, frame: FrameType, argument: int | None) -> Known:
        """The entry of an input as it is now: known, brought up to date, or of a leaf that is written now."""
        session = self._session
        known = session.identities.find(tensor)
        if known is None:
            found = self._adopt(tensor, frame) or self._of_part(tensor, frame)
            return found or self.leaf(tensor, frame, argument)
        more = known.more
        if known.group is not None and known.seen != known.group.turn:
            writing.follow(session, known, tensor, frame)
        elif known.counter != version_of(tensor):
            self._catch_up(known, tensor, frame)
        writer = session.writer
        if known.row < writer.low and (
            known.row < writer.base
            or (more is not None and more.leaf)
            or (known.row < writer.recent and grad_fn(tensor) is None)  # of older ones the values may be gone
        ):
            return self.leaf(tensor, frame, argument, known)
        return known

    def _catch_up(self, known: Known, tensor: torch.Tensor, frame: FrameType) -> None:
        """Bring a tensor up to date that was written by no call that was seen, unless that was when it was made."""
        session = self._session
        row = self._accumulated(tensor)
        if row > known.row & ROW_MASK:
            writing.accumulated(session, known, tensor, [known.row, row], frame)
        elif known.counter or self._born(known.row) != version_of(tensor):
            writing.changed(session, known, tensor, frame)
        else:
            known.counter = version_of(tensor)

    def _born(self, row: int) -> int:
        """Torch's count of the writes into the result of a row when it was made; 0 where the row is not at hand."""
        segment, base = self._session.writer.segment, self._session.writer.base
        row = (row & ROW_MASK) - base
        if row < segment.first:
            return 0
        begin = segment.origin + row * EVENT.itemsize
        return self._session.born.get(bytes(segment.rows[begin + PLACE.start : begin + PLACE.stop]), 0)

    def note_gradient(self, owner: Any, gradient: Any) -> None:
        """The program took the gradient of a tensor: as an input it stands for what was last added to it."""
        identities = self._session.identities
        known = identities.find(owner)
        if known is not None and isinstance(gradient, torch.Tensor) and identities.gradients.of(gradient) is None:
            identities.gradients.note(gradient, known)

    def _accumulated(self, tensor: torch.Tensor) -> int:
        """The row of what was last added to a gradient; 0 for what is none, or is older than the log's segment."""
        owner = self._session.identities.gradients.of(tensor)
        row = 0 if owner is None or owner.more is None else owner.more.accumulated
        return row if row >= self._session.writer.low else 0

    def _adopt(self, tensor: torch.Tensor, frame: FrameType) -> Known | None:
        """The entry of a gradient that is used for the first time."""
        row = self._accumulated(tensor)
        if not row:
            return None
        known = self._session.identities.add(tensor, row)
        if known.counter:  # something was added in place: it is more than what was added last
            writing.accumulated(self._session, known, tensor, [row], frame)
        return known

    def _of_part(self, tensor: torch.Tensor, frame: FrameType) -> Known | None:
        """The entry of a distributed tensor that was made of a known part; a parameter has a row of its own."""
        if tensor.__class__ in ORDINARY or isinstance(tensor, torch.nn.Parameter):
            return None
        part, identities = held(tensor), self._session.identities
        if part is tensor or identities.find(part) is None:
            return None
        of_part = self.meet(part, frame, None)
        known = identities.add(tensor, of_part.row)
        identities.alias(of_part, known)
        return known

    def zeroed(self, tensor: torch.Tensor) -> None:
        """A tensor was set to 0; where it is a gradient, what is added to it next is fresh."""
        owner = self._session.identities.gradients.of(tensor)
        if owner is not None:
            owner.extended().zeroed = True

    def leaf(
        self, tensor: torch.Tensor, frame: FrameType | None, argument: int | None = None, known: Known | None = None
    ) -> Known:
        """Append the LEAF row of a tensor; `known` says that it had a row in an older segment, or another log."""
        session = self._session
        writer = session.writer
        if Own.is_complex(tensor) or is_lazy(tensor):
            compiled.look_closely()
        resized_storages.meet(tensor)
        parameter = session.sharded.gathered_of(tensor, known)
        if parameter is not None:
            return session.sharded.gathered(tensor, parameter, frame, known)
        name = self.names.of(tensor)
        if name is None and argument is not None and frame is not None:
            name = argument_name(frame, argument)
        more = known.more if known is not None else None
        site = session.arrays.site(tensor) or (0 if frame is None else site_number(writer, frame))
        described = shape_of(tensor), tensor_base.dtype(tensor), requires_grad(tensor)
        key = name, site, session.places.here.context, described
        if more is not None and more.form is not None and more.form[0] == key:  # it was told in an earlier segment
            keeping = more.form[1]
        else:
            keeping = self._form(tensor, site, name)
        form, value = keeping.read(tensor)
        form.turn_version(more.versions if more is not None else 0)
        first = known.extended().first if known is not None else None
        if first is not None and (first < writer.base or first > ROW_MASK):  # of another log; in a slot of a row
            first = None
        row = writer.append(form, value, writer.clock(), 0, tensor=first)
        if known is None:
            known = session.identities.add(tensor, row)
            known.extended().leaf = True
            session.identities.share_part(tensor, known)
            session.identities.share_storage(tensor, known)
        known.row = row
        more = known.extended()
        more.leaf = True
        more.name = name
        more.form = key, keeping
        if first is None:
            more.first = row
        known.counter = version_of(tensor)
        if writer.gate is not None and frame is not None:
            control.after(session, row, tensor, value, frame)
        return known

    def _form(self, tensor: torch.Tensor, site: int, name: str | None) -> Keeping:
        """The template of a tensor's LEAF rows."""
        writer = self._session.writer
        context = self._session.places.here.context
        flags = Flag.REQUIRES_GRAD if requires_grad(tensor) else Flag(0)
        facts: dict[str, Any] = {} if name is None else {"name": name}
        if tensor_base.hooks(tensor):
            self._session.hooked_leaves.note(tensor)
        if self._session.hooked_leaves.holds(tensor):
            facts["hooked"] = True
        facts |= placing(tensor)
        strides = strides_apart(tensor)
        if strides is not None:
            facts["strides"] = strides
        if isinstance(tensor, torch.nn.Parameter):
            flags |= Flag.PARAMETER
            frozen_at = self._session.assignments.frozen_at(tensor)
            if frozen_at:
                facts["frozen_at"] = frozen_at
        template = writer.template(
            Kind.LEAF,
            site=site,
            scope=context.path.number(writer),
            shape=shape_of(tensor),
            dtype=log_dtype(tensor_base.dtype(tensor)),
            attrs=writer.attributes(facts),
            flags=flags,
            graph_pass=Pass.BACKWARD if context.backward else Pass.FORWARD,
        )
        return Keeping(template)
