"""What a program sets of tensors that is no value: their gradients, and whether they require one."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Iterable, Sequence
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

import torch

from graphscope.adapters.torch import compiled, tensor_base
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
        self.forms: dict[tuple[Any, ...], tuple[Template, weakref.ref[CodeType]]] = {}
        """The templates of marks, and the code they are of, by instruction, what is set, and the numbers of tensors.

        Where gradients are cleared, what is set is left out.
        """
        self._early: dict[int, tuple[weakref.ref[torch.Tensor], bool, int]] = {}
        """Of parameters that the log has not met: whether they were told to require grad, and the line."""

    def early(self, module: torch.nn.Module) -> dict[str, tuple[bool, int]]:
        """What was said of a module's parameters ahead of their first use, by their names."""
        if not self._early:
            return {}
        found = ((name, self._early.get(id(each)), each) for name, each in module.named_parameters())
        return {name: told[1:] for name, told, each in found if told is not None and told[0]() is each}

    def frozen_at(self, parameter: torch.nn.Parameter) -> int:
        """The line that froze a parameter ahead of its first use; 0 where none did."""
        found = self._early.get(id(parameter))
        return found[2] if found is not None and found[0]() is parameter and not found[1] else 0

    @guarded
    def cleared(self, tensors: Iterable[torch.Tensor], frame: FrameType) -> None:
        """The gradients of tensors are None from here on."""
        if not self.session.ended and not self.session.places.here.busy:
            self._append("grad", None, tensors, self.session.frames.user(frame))

    @guarded
    def made(self, call: Call, args: Sequence[Any], frame: FrameType) -> None:
        """A call has set something of its first argument."""
        session, tensor = self.session, args[0]
        if call.assigns == "hook":
            session.hooked_leaves.note(tensor)
            self._append(call.assigns, True, [tensor], frame)
            return
        if not call.assigns_gradient:
            value = tensor_base.requires_grad(tensor)
            if isinstance(tensor, torch.nn.Parameter) and session.identities.find(tensor) is None:
                key = id(tensor)
                reference = compiled.Reference(tensor, functools.partial(self._early.pop, key))
                site = site_number(session.writer, frame)
                self._early[key] = reference, value, site
                if not value:
                    session.callers.tell(frame, site)
            self._append(call.assigns, value, [tensor], frame)
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
        writer = self.session.writer
        find, base, code = self.session.identities.find, writer.base, frame.f_code
        numbers = [
            known.row & ROW_MASK if known.more is None else known.more.first
            for each in tensors
            if (known := find(each)) is not None and known.row >= base
        ]
        if not numbers:  # the log has nothing of them that could change
            return
        is_clear = what == "grad" and not inputs
        key = (id(code) + frame.f_lasti, *(() if is_clear else (what, value, len(inputs))), *numbers)
        kept = self.forms.get(key)
        if kept is None or kept[1]() is not code:
            if len(self.forms) >= _MOST_FORMS:
                self.forms.clear()
            told = {"set": what, "to": value, "tensors": tuple([each - base for each in numbers])}
            site = site_number(writer, frame)
            if value is False:
                self.session.callers.tell(frame, site)
            form = writer.template(Kind.ASSIGN, site=site, attrs=writer.attributes(told), input_count=len(inputs))
            kept = self.forms[key] = form, weakref.ref(code)
        writer.append_many(kept[0], None, list(inputs), writer.clock())
