"""The gate: what a debugger may inspect and replace while the program waits, before and after a node."""

from __future__ import annotations

from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from graphscope.adapters.kit import gate
from graphscope.adapters.torch import tensor_base
from graphscope.adapters.torch.calls import Call
from graphscope.adapters.torch.dtypes import DTYPES
from graphscope.adapters.torch.tensor_base import Own
from graphscope.adapters.torch.tensor_elements import numbers
from graphscope.adapters.torch.tensor_properties import grad_fn
from graphscope.eventlog.gate import Replace

if TYPE_CHECKING:
    from graphscope.adapters.torch.session import Session


def before(session: Session, call: Call, rows: list[int], frame: FrameType) -> None:
    """Let the debugger look ahead of a call."""
    gate.before(session.writer, call.name, rows, frame, Waiting(session))


def after(session: Session, row: int, tensor: torch.Tensor, array: Any, frame: FrameType) -> None:
    """Let the debugger look at a tensor that nobody has used yet; what it puts in its place is written into it."""
    with torch._C.DisableTorchFunction():
        cuts = grad_fn(tensor) is not None and not Own._is_view(tensor)  # a view can't be detached in place
    answer = _answer(session, row, tensor, array, frame, cuts)
    if answer is None:
        return
    # Into the memory itself, and not counted as a write: what backward saved of it is replaced as well.
    with torch._C.DisableTorchFunction(), torch.no_grad():
        Own.copy_(tensor_base.data(tensor), _fitting(tensor, answer))
        if answer.cut:
            tensor.detach_()


def ask(session: Session, row: int, tensor: torch.Tensor, array: Any, frame: FrameType) -> torch.Tensor | None:
    """Let the debugger look at a tensor; what is to take its place, or None."""
    answer = _answer(session, row, tensor, array, frame)
    return None if answer is None else _fitting(tensor, answer)


def _answer(
    session: Session, row: int, tensor: torch.Tensor, array: Any, frame: FrameType, cuts: bool = False
) -> Replace | None:
    if session.writer.gate is None:
        return None
    if not isinstance(array, np.ndarray) or not isinstance(DTYPES.get(tensor_base.dtype(tensor)), np.dtype):
        array = numbers(tensor)
    return gate.after(session.writer, row, array, frame, Waiting(session), cuts=cuts)


def _fitting(tensor: torch.Tensor, answer: Replace) -> torch.Tensor:
    with torch._C.DisableTorchFunction():
        return torch.as_tensor(answer.value).to(device=tensor.device, dtype=tensor.dtype).reshape(tensor.shape)


def passed(session: Session, frame: FrameType) -> None:
    """Let the debugger look at what a backward pass has left behind."""
    gate.passed(session.writer, frame, Waiting(session))


def stepped(session: Session, frame: FrameType) -> None:
    """Let the debugger look at what a training step has left behind."""
    gate.stepped(session.writer, frame, Waiting(session))


class Waiting:
    """While the program waits for a person, what is computed is not the program's: gradients on, nothing recorded."""

    __slots__ = ("_busy", "_function", "_grad", "_place")

    def __init__(self, session: Session) -> None:
        self._place = session.places.here

    def __enter__(self) -> None:
        self._busy, self._place.busy = self._place.busy, True
        self._grad = torch.is_grad_enabled()
        torch._C._set_grad_enabled(True)
        self._function = torch._C._EnableTorchFunction()

    def __exit__(self, *_: object) -> None:
        del self._function
        torch._C._set_grad_enabled(self._grad)
        self._place.busy = self._busy
