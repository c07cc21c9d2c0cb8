"""Rows of nodes with several slots: what each holds of its tensor."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch

from graphscope.adapters.kit.value_policy import examined
from graphscope.adapters.torch import compiled, remote_values, tensor_base
from graphscope.adapters.torch.dtypes import log_dtype
from graphscope.adapters.torch.tensor_elements import array_of, is_finite
from graphscope.adapters.torch.tensor_properties import shape_of
from graphscope.adapters.torch.values import Keeping
from graphscope.eventlog import appender
from graphscope.eventlog.schema import ROW_MASK, SLOT_SHIFT, Flag, Kind
from graphscope.eventlog.values import storage

if TYPE_CHECKING:
    from graphscope.adapters.torch.session import Session

_MISSING: Final = np.empty(0, np.float32)
"""What an empty slot holds."""


def append(
    session: Session, keeping: Keeping, tensors: list[torch.Tensor | None], rows: list[int], time: int, duration: int,
    forward: int = 0, numbers: Sequence[int] = (),
) -> int:  # fmt: skip
    """Append a row with several slots; None stands for a tensor that is not there.

    Args:
        rows: The inputs, each with its slot above SLOT_SHIFT.
        numbers: The bits of each number that varies.
    """
    writer = session.writer
    if keeping.slots is not None and compiled.append_slots is not None:
        told = [*rows, *numbers] if numbers else rows
        row = compiled.append_slots(
            writer.append, keeping.template, keeping.slots, tensors, told, time, duration, forward
        )
        if row is not None:
            return int(row)
    outputs: list[tuple[Any, Flag]] = []
    finite, promised = True, []
    dtypes: list[str] = []
    for tensor in tensors:
        dtype = _MISSING.dtype if tensor is None else log_dtype(tensor_base.dtype(tensor))
        dtypes.append(dtype.name)
        array, keep = (_MISSING, Flag(0)) if tensor is None else _held(session, tensor, dtype)
        outputs.append((array, keep))
        if tensor is not None and (appender.compiled or not keep):
            later = remote_values.promise_check(tensor)
            if later is not None:
                promised.append(later)
            else:
                finite = finite and is_finite(tensor)
    template = keeping.unkept if finite else keeping.template.flagged()
    edges = [(row & ROW_MASK, row >> SLOT_SHIFT) for row in rows]
    if compiled.append_slots is not None:
        keeping.slots = _forms(session, tensors)
    row = writer.append_wide(template, outputs, edges, time, duration, forward, None, numbers, dtypes)
    for each in promised:
        each.lies(row)
    return row


def _held(session: Session, tensor: torch.Tensor, dtype: Any) -> tuple[np.ndarray, Flag]:
    """What a slot holds of a tensor, and how; an array of its shape where that is nothing."""
    shape = shape_of(tensor)
    keep = storage(session.writer.policy, session.writer.cap, dtype.itemsize * prod(shape), dtype)
    array = array_of(tensor) if keep & (Flag.KEPT | Flag.INLINE) else None
    return (np.broadcast_to(np.uint8(0), shape), Flag(0)) if array is None else (array, keep)


def _forms(session: Session, tensors: Sequence[torch.Tensor | None]) -> tuple[Keeping, ...]:
    """How each slot is kept, for tensors as these."""
    return tuple([_form(session, each) for each in tensors])


def _form(session: Session, tensor: torch.Tensor | None) -> Keeping:
    shape = _MISSING.shape if tensor is None else shape_of(tensor)
    dtype = _MISSING.dtype if tensor is None else log_dtype(tensor_base.dtype(tensor))
    key = shape, dtype, tensor is None
    form = session.slots.get(key)
    if form is None:
        template = session.writer.template(Kind.OP, shape=shape, dtype=dtype)
        if tensor is None or not template.plain:  # statistics are not taken of slots
            template = examined(template)
        form = session.slots[key] = Keeping(template, tensor)
        form.wanted = form.wanted and tensor is not None
    return form
