"""What decides how a program trains: while it is recorded, optimizers and modules tell of themselves here."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Iterable
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from graphscope.engine.core import tracing
from graphscope.engine.core.tensor import Tensor
from graphscope.eventlog import record as recording
from graphscope.eventlog import training_steps
from graphscope.eventlog.module_contents import Framework, contents
from graphscope.eventlog.places import site_number
from graphscope.eventlog.schema import ROW_MASK
from graphscope.eventlog.training_calls import TrainingCalls, maker
from graphscope.eventlog.writer import Writer

if TYPE_CHECKING:
    from graphscope.engine.nn.module import Module


class _Asked(NamedTuple):
    """What a line said of a parameter ahead of its first use."""

    parameter: weakref.ref[Tensor]
    requires_grad: bool
    site: int


class Training(TrainingCalls):
    """Tells one log of the engine's optimizers and modules, at the lines of the program that call them."""

    def __init__(self, writer: Writer) -> None:
        super().__init__(writer)
        self._ran: dict[int, weakref.ref[Module]] = {}
        """The modules that ran, and those in them, by `id`."""
        self._sites: dict[int, tuple[weakref.ref[Module], int]] = {}
        """The line that made each module, by `id`."""
        self._asked: dict[int, _Asked] = {}
        self._changes_mode = False

    def known(self, tensors: Iterable[Tensor]) -> list[int]:
        base = self.writer.base
        return [each.identity - base for each in tensors if each.identity >= base]

    def met(self, tensors: Iterable[Tensor]) -> list[int]:
        given = list(tensors)
        for each in given:
            if each.identity < self.writer.base:
                tracing.leaf(self.writer, each, None)
        return self.known(given)

    def contents(self, module: Any) -> dict[str, Any]:
        found = contents(_framework(), module, lambda tensor: next(iter(self.known([tensor])), None), self.site)
        found["requires_grad"] = {
            name: (asked.requires_grad, asked.site)
            for name, each in module.named_parameters()
            if (asked := self._asked.get(id(each))) is not None and asked.parameter() is each
        }
        return found

    def site(self, module: Any) -> int:
        """The number of the line that made a module; 0 where that was not seen."""
        reference, number = self._sites.get(id(module), (None, 0))
        return number if reference is not None and reference() is module else 0

    def built(self, optimizer: Any) -> None:
        """An optimizer was made."""
        frame = recording.user_frame(2)
        self.made(optimizer, None if frame is None else maker(frame, optimizer))

    def ended(self, optimizer: Any) -> None:
        """A step has ended, and with it a training step."""
        frame = recording.user_frame(2)
        if frame is not None:
            self.stepped(optimizer, frame)
        training_steps.end(optimizer, gradient_norm)
        if frame is not None and self.writer.gate is not None:
            self.writer.gate.stepped(frame)

    def built_scheduler(self, scheduler: Any) -> None:
        """A scheduler of learning rates was made."""
        frame = recording.user_frame(2)
        if frame is not None:
            self.scheduled(scheduler, maker(frame, scheduler))

    def constructed(self, module: Any) -> None:
        """A module is being made."""
        frame = recording.user_frame(2)
        if frame is not None:
            key = id(module)
            number = site_number(self.writer, maker(frame, module))
            self._sites[key] = weakref.ref(module, functools.partial(self._sites.pop, key)), number

    def ran(self, module: Any) -> None:
        """A module was called that no other called; told once, and not of those inside of one that ran."""
        known = self._ran.get(id(module))
        if known is not None and known() is module:
            return
        for each in module.modules():
            key = id(each)
            self._ran[key] = weakref.ref(each, functools.partial(self._ran.pop, key))
        super().ran(module)

    def change_mode(self, module: Any, mode: bool) -> None:
        """`train()` or `eval()` of a module: those in it are told with it."""
        if self._changes_mode:
            module._change_mode(mode)
            return
        before = [each.training for each in module.modules()]
        self._changes_mode = True
        try:
            module._change_mode(mode)
        finally:
            self._changes_mode = False
        frame = recording.user_frame(2)
        if frame is not None and [each.training for each in module.modules()] != before:
            self.moded(module, mode, frame)

    def asked(self, tensor: Tensor) -> None:
        """A line has said whether gradients are to flow to a tensor."""
        frame, value = recording.user_frame(2), tensor.wants_grad
        if frame is None:
            return
        numbers = tuple(self.known([tensor]))
        if numbers:
            self.marks.assign("requires_grad", value, numbers, frame)
        elif tensor.is_parameter:
            key = id(tensor)
            reference = weakref.ref(tensor, functools.partial(self._asked.pop, key))
            self._asked[key] = _Asked(reference, value, site_number(self.writer, frame))

    def given_gradient(self, tensor: Tensor) -> None:
        """A line has put something in the place of a tensor's gradient, or None."""
        frame, gradient = recording.user_frame(2), tensor.gradient
        if frame is None:
            return
        for each in () if gradient is None else (tensor, gradient):
            if each.identity < self.writer.base or each.row < self.writer.base:
                tracing.leaf(self.writer, each, frame)
        numbers = tuple(self.known([tensor]))
        if gradient is None:
            if numbers:  # else the log has nothing of it that could change
                self.marks.assign("grad", None, numbers, frame)
            return
        self.marks.assign("grad", None, numbers, frame, gradient.row & ROW_MASK)

    def forgot(self, owner: Any, parameters: Iterable[Tensor], to_none: bool) -> None:
        """`zero_grad` of a module or an optimizer has returned."""
        frame = recording.user_frame(2)
        if frame is not None:
            numbers = tuple(self.known(parameters)) if to_none else ()
            if numbers:
                self.marks.assign("grad", None, numbers, frame)
            self.cleared(owner, to_none, frame)


@functools.cache
def _framework() -> Framework:
    from graphscope.engine.nn.module import Module  # it tells of itself here

    return Framework(Module, Tensor, "graphscope.engine", frozenset(vars(Module())))


_newest: Training | None = None


def told() -> Training | None:
    """Who tells the log of the training that goes on; None where nothing is recorded."""
    global _newest
    writer = recording.writer
    if writer is None:
        return None
    if _newest is None or _newest.writer is not writer:
        _newest = Training(writer)
    return _newest


def returned(call: str, owner: Any, caller: FrameType) -> None:
    """A method has returned of which no more is to be told; only what a line of the program called is."""
    found = told()
    if found is not None and not recording.is_internal(caller.f_code.co_filename):
        found.called(call, owner, caller)


def gradient_norm(optimizer: Any) -> float | None:
    """The 2-norm of all gradients that an optimizer took; None where there are none."""
    parameters = [each for group in optimizer.param_groups for each in group["params"] if each.grad is not None]
    if not parameters:
        return None
    arrays = [each.grad.array for each in parameters]
    with np.errstate(all="ignore"):  # what overflows in a program's gradients is no warning of ours
        norms = [np.linalg.norm(each if each.itemsize > 2 else each.astype("f4")) for each in arrays]
        return float(np.linalg.norm(np.array(norms, np.float64)))


def _finish() -> None:
    global _newest
    ended, _newest = _newest, None
    if ended is not None:
        ended.finish()


recording.at_stop.append(_finish)
