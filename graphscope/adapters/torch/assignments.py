"""What a program sets of tensors that is no value: their gradients, and whether they require one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from graphscope.adapters.torch import tensor_base
from graphscope.adapters.torch.recorder_errors import guarded
from graphscope.eventlog.places import site_number
from graphscope.eventlog.schema import ROW_MASK, Kind
from graphscope.eventlog.template import Template

if TYPE_CHECKING:
    from graphscope.adapters.torch.calls import Call
    from graphscope.adapters.torch.session import Session

_MOST_FORMS = 4096


class Assignments:
    """Appends the marks that tell of it."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._forms: dict[Any, Template] = {}

    @guarded
    def cleared(self, tensors: Iterable[torch.Tensor], frame: FrameType) -> None:
        """The gradients of tensors are None from here on."""
        if not self.session.ended and not self.session.places.here.busy:
            self._append("grad", None, tensors, self.session.frames.user(frame))

    @guarded
    def made(self, call: Call, args: Sequence[Any], frame: FrameType) -> None:
        """A call has set something of its first argument."""
        session, tensor = self.session, args[0]
        if call.assigns == "requires_grad":
            self._append(call.assigns, tensor_base.requires_grad(tensor), [tensor], frame)
            return
        gradient = args[1] if len(args) > 1 else None
        known = session.identities.find(tensor)
        if not isinstance(gradient, torch.Tensor) or known is None:
            self._append(call.assigns, None, [tensor], frame)
            return
        row = session.leaves.meet(gradient, frame, None).row
        session.identities.gradients.note(gradient, known)
        known.extended().zeroed = False
        self._append(call.assigns, None, [tensor], frame, row)

    def _append(
        self, what: str, value: bool | None, tensors: Iterable[torch.Tensor], frame: FrameType, *inputs: int
    ) -> None:
        writer, find = self.session.writer, self.session.identities.find
        known = [each for each in map(find, tensors) if each is not None and each.row >= writer.base]
        if not known:  # the log has nothing of them that could change
            return
        numbers = tuple(
            [(each.row & ROW_MASK if each.more is None else each.more.first) - writer.base for each in known]
        )
        key = what, value, numbers, site_number(writer, frame), len(inputs)
        form = self._forms.get(key)
        if form is None:
            if len(self._forms) >= _MOST_FORMS:
                self._forms.clear()
            told = {"set": what, "to": value, "tensors": numbers}
            form = self._forms[key] = writer.template(
                Kind.ASSIGN, site=key[3], attrs=writer.attributes(told), input_count=len(inputs)
            )
        writer.append_many(form, None, list(inputs), writer.clock())
