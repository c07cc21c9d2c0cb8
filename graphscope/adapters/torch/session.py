"""What a recording of a torch program has in hand, from `attach` to `detach`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch

from graphscope.adapters.torch.context import Place
from graphscope.adapters.torch.identity import Identities
from graphscope.adapters.torch.sites import Fields, Frames, Variants
from graphscope.adapters.torch.values import NamedDtype, array_of, is_finite, log_dtype, statistics
from graphscope.eventlog.schema import Flag
from graphscope.eventlog.template import Template
from graphscope.eventlog.values import storage
from graphscope.eventlog.writer import Writer

if TYPE_CHECKING:
    from graphscope.adapters.torch.leaves import Leaves

LINK: Final = "graphscope.link"
"""Where a backward node's `metadata` says which call made it: row, fields, and the sequence number before the call."""

RULE: Final = "graphscope.rule"
"""Where it holds what hooks it."""

_sequence: Final = torch._C._autograd._get_sequence_nr  # type: ignore[attr-defined]


class Session:
    """The state that all parts of the adapter share."""

    leaves: Leaves

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.place = Place()
        self.identities = Identities()
        self.frames = Frames()
        self.variants = Variants()
        self.ended = False
        self.grads: dict[int, Any] = {}

    def link(self, tensor: torch.Tensor, row: int, fields: Fields) -> None:
        """Let the backward node of a tensor say which row made it."""
        node = tensor.grad_fn
        if node is not None:
            place = self.place
            node.metadata[LINK] = (row, fields, place.sequence)
            place.sequence = _sequence()

    def array(self, tensor: torch.Tensor) -> np.ndarray | None:
        """The elements of a tensor, for a person to look at."""
        return array_of(tensor)

    def append_wide(
        self,
        template: Template,
        value: Any,
        edges: list[tuple[int, int]],
        time: int,
        duration: int,
        forward: int = 0,
        tensor: int | None = None,
    ) -> int:
        """Append a row with one value and any number of inputs."""
        outputs = [] if value is None else [(value, Flag(template.keep))]
        return self.writer.append_wide(template, outputs, edges, time, duration, forward, tensor)

    def append_slots(
        self,
        template: Template,
        tensors: list[torch.Tensor | None],
        edges: list[tuple[int, int]],
        time: int,
        duration: int,
        forward: int = 0,
    ) -> int:
        """Append a row with several slots; an empty one stands for a tensor that is not there."""
        writer = self.writer
        outputs: list[tuple[Any, Flag]] = []
        flagged = False
        for tensor in tensors:
            if tensor is None:
                outputs.append((np.empty(0, np.float32), Flag(0)))
                continue
            dtype = log_dtype(tensor.dtype)
            nbytes = tensor.numel() * tensor.element_size()
            keep = storage(writer.policy, writer.cap, nbytes, dtype)
            array = None
            if keep & (Flag.KEPT | Flag.INLINE):
                array = array_of(tensor)
            if array is None or isinstance(dtype, NamedDtype):
                keep = Flag(0)
                flagged = flagged or not is_finite(tensor)
                array = np.broadcast_to(np.zeros((), np.float32), tuple(tensor.shape))
                if not isinstance(dtype, NamedDtype):
                    array = (
                        array.astype(dtype) if array.size < 64 else np.broadcast_to(np.zeros((), dtype), array.shape)
                    )
            outputs.append((array, keep))
        if flagged and template.watched:
            template = template.flagged()
        return writer.append_wide(template, outputs, edges, time, duration, forward)


__all__ = ["LINK", "RULE", "Session", "statistics"]
