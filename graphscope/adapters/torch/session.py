"""What a recording of a torch program has in hand, from `attach` to `detach`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import torch

from graphscope.adapters.torch.calls import Call
from graphscope.adapters.torch.context import Places
from graphscope.adapters.torch.identity import Identities
from graphscope.adapters.torch.leaves import Leaves
from graphscope.adapters.torch.sites import Fields, Frames, Variants
from graphscope.adapters.torch.values import Keeping, NamedDtype, array_of, is_finite, log_dtype
from graphscope.eventlog.schema import INLINE_INPUTS, ROW_MASK, SLOT_SHIFT, Flag, Kind, Pass
from graphscope.eventlog.template import Template
from graphscope.eventlog.values import storage
from graphscope.eventlog.writer import Writer

LINK: Final = "graphscope.link"
"""Where a backward node's `metadata` says which call made it: row, fields, and the sequence number before the call."""

RULE: Final = "graphscope.rule"
"""Where it holds what hooks it."""

TENSOR, NESTED, PLAIN, OPAQUE = 1, 2, 3, 4
"""What is done with an argument: it is an input, it may hold inputs, it is a constant, its class is."""

_sequence: Final = torch._C._autograd._get_sequence_nr


class Session:
    """The state that all parts of the adapter share."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.places = Places()
        self.identities = Identities()
        self.frames = Frames()
        self.variants = Variants()
        self.ended = False
        self.calls: dict[Any, Call] = {}
        """What is known of the functions of torch."""
        self._count = 0
        self.kinds: dict[type, int] = {
            torch.Tensor: TENSOR,
            torch.nn.Parameter: TENSOR,
            list: NESTED,
            tuple: NESTED,
            dict: NESTED,
            torch.Size: PLAIN,
            **dict.fromkeys((int, float, bool, str, type(None), complex, slice, torch.dtype, type(Ellipsis)), PLAIN),
        }
        """What is to be done with an argument of a class."""
        self.leaves = Leaves(self)
        self._gradients: dict[Any, Keeping] = {}
        self.no_fields = Fields(self, "", {"op": 0, "site": 0, "scope": 0, "shape": (), "dtype": None, "attrs": 0})

    def learn(self, function: Any) -> Call:
        """What is known of a function that was not called before."""
        found = self.calls[function] = self.new_call(function)
        return found

    def new_call(self, function: Any) -> Call:
        """A call with a number of its own."""
        self._count += 1
        return Call(function, self._count)

    def op(self, name: str, doc: str = "") -> int:
        """The number of an op that is no function of torch."""
        entry = {"name": name, "formula": "", "doc": doc, "vjp": [], "inputs": []}
        return self.writer.intern("ops", name, entry)

    def gradient_of_leaf(self, gradient: torch.Tensor, count: int) -> Keeping:
        """The template of the row of a gradient that was asked for, and is added to nothing."""
        key = (tuple(gradient.shape), gradient.dtype, count)
        found = self._gradients.get(key)
        if found is None:
            dtype = log_dtype(gradient.dtype)
            template = self.writer.template(
                Kind.GRAD, op=self.op("grad"), shape=key[0], dtype=dtype, graph_pass=Pass.BACKWARD, input_count=count
            )
            found = self._gradients[key] = Keeping(template)
        return found

    def kind(self, value: Any) -> int:
        """What is to be done with an argument."""
        found = self.kinds.get(value.__class__)
        if found is None:
            if isinstance(value, torch.Tensor):
                found = TENSOR
            elif isinstance(value, (list, tuple)):
                found = NESTED
            else:
                found = PLAIN if type(value).__module__ == "torch" else OPAQUE
            self.kinds[value.__class__] = found
        return found

    def link(self, tensor: torch.Tensor, row: int, fields: Fields) -> None:
        """Let the backward node of a tensor say which row made it."""
        node: Any = tensor.grad_fn  # what torch's annotations say of nodes is not what they are
        if node is not None:
            place = self.places.here
            node.metadata[LINK] = (row, fields, place.sequence)
            place.sequence = _sequence()

    def array(self, tensor: torch.Tensor) -> np.ndarray | None:
        """The elements of a tensor, for a person to look at."""
        return array_of(tensor)

    def append_many(
        self,
        template: Template,
        value: Any,
        rows: list[int],
        time: int,
        duration: int,
        forward: int = 0,
        tensor: int | None = None,
    ) -> int:
        """Append a row with one value and any number of inputs."""
        if len(rows) <= INLINE_INPUTS:
            three = [*rows, 0, 0, 0][:INLINE_INPUTS]
            return self.writer.append(template, value, time, duration, forward, *three, tensor=tensor)
        if value.__class__ is int:
            value = template.memory(value)
        outputs = [] if value is None else [(value, Flag(template.keep))]
        edges = [(row & ROW_MASK, row >> SLOT_SHIFT) for row in rows]
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
