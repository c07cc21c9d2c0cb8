"""What the gradient of a leaf is, where that is more than what was added to it."""

from __future__ import annotations

from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from graphscope.adapters.torch import tensor_base
from graphscope.adapters.torch.dtypes import log_dtype
from graphscope.adapters.torch.known_tensors import Known
from graphscope.adapters.torch.tensor_properties import shape_of
from graphscope.adapters.torch.values import Keeping
from graphscope.eventlog.places import site_number
from graphscope.eventlog.schema import ROW_MASK, Flag, Kind, Pass

if TYPE_CHECKING:
    from graphscope.adapters.torch.session import Session


def tell_gradient(
    session: Session, known: Known, gradient: torch.Tensor, op: tuple[str, str], attributes: dict[str, Any],
    frame: FrameType, numbers: Sequence[int] = (), duration: int = 0,
) -> None:  # fmt: skip
    """Append the row of a gradient that stands in the place of all that was added up.

    Args:
        session: The recording.
        known: The leaf.
        gradient: Its gradient.
        op: What has made it so: a name, and a sentence.
        attributes: What else is to be told.
        frame: Where.
        numbers: The bits of each number that the attributes say lies in the row.
        duration: How long it took, in nanoseconds.
    """
    writer, more = session.writer, known.extended()
    form = Keeping(
        writer.template(
            Kind.ACCUMULATE,
            op=session.op_number(*op),
            site=site_number(writer, frame),
            shape=shape_of(gradient),
            dtype=log_dtype(tensor_base.dtype(gradient)),
            attrs=writer.attributes(attributes),
            flags=Flag.FRESH,
            graph_pass=Pass.BACKWARD,
            input_count=int(bool(more.accumulated)),
            number_count=len(numbers),
        )
    )
    template, value = form.read(gradient)
    given = [more.accumulated, *numbers] if more.accumulated else [*numbers]
    more.accumulated = writer.append_many(template, value, given, writer.clock(), duration, known.row & ROW_MASK)
