"""What a recording of a torch program has in hand, from `attach` to `detach`."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import torch

from graphscope.adapters.kit.recording import Recording
from graphscope.adapters.torch import remote_values, tensor_base
from graphscope.adapters.torch.arrays import Arrays
from graphscope.adapters.torch.assignments import Assignments
from graphscope.adapters.torch.callers import Callers
from graphscope.adapters.torch.calls import READING, Call, spelled
from graphscope.adapters.torch.compiled import rule_of
from graphscope.adapters.torch.context import Places
from graphscope.adapters.torch.describing import Given
from graphscope.adapters.torch.dtypes import log_dtype
from graphscope.adapters.torch.hooked_leaves import HookedLeaves
from graphscope.adapters.torch.known_tensors import Identities
from graphscope.adapters.torch.leaves import Leaves
from graphscope.adapters.torch.memory import Memory
from graphscope.adapters.torch.originals import Originals
from graphscope.adapters.torch.random_states import DRAWING, RandomStates
from graphscope.adapters.torch.rules import Arrivals, Rule
from graphscope.adapters.torch.sharded_parameters import ShardedParameters
from graphscope.adapters.torch.sites import Fields, TorchFrames
from graphscope.adapters.torch.tensor_elements import array_of
from graphscope.adapters.torch.tensor_properties import grad_fn, is_symbolic, shape_of
from graphscope.adapters.torch.tensor_reader import tensor_of
from graphscope.adapters.torch.ties import Ties
from graphscope.adapters.torch.values import Keeping
from graphscope.eventlog.presenting import present_as
from graphscope.eventlog.schema import Kind, Pass
from graphscope.eventlog.scopes import ScopePath
from graphscope.eventlog.typed import Input
from graphscope.eventlog.writer import Writer

TENSOR, NESTED, PLAIN, OPAQUE, STRANGE = 1, 2, 3, 4, 5
"""What is done with an argument: it is an input, it may hold inputs, it is a constant, its class is; or it is an input
of a class that need not answer as torch's own."""

_sequence: Final = torch._C._autograd._get_sequence_nr


class Session(Recording):
    """The state that all parts of the adapter share."""

    __slots__ = (
        "_count", "_gradients", "arrays", "arrivals", "assignments", "born", "callers", "calls", "follows",
        "hooked_leaves", "identities", "kinds", "leaves", "make_calls", "memory", "no_fields", "originals", "places",
        "random_states", "remote", "sharded", "skipped", "slots", "suspended", "ties",
    )  # fmt: skip

    frames: TorchFrames

    def __init__(self, writer: Writer) -> None:
        super().__init__(writer, "PyTorch", TorchFrames())
        self.make_calls: Callable[[], Any] = lambda: None
        """Makes the mode that sees the calls of one thread."""
        self.places = Places(ScopePath())
        self.identities = Identities()
        self.originals = Originals()
        self.follows = writer.capture != "calls"
        """Whether backward passes are recorded."""
        self.suspended = False
        """Whether it is `ended` for some training steps alone."""
        self.remote = False
        """Whether the program was seen to compute on an accelerator."""
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
        self.callers = Callers(writer)
        self.leaves = Leaves(self)
        self.hooked_leaves = HookedLeaves(self)
        self.sharded = ShardedParameters(self)
        self.random_states = RandomStates(writer)
        self.arrays = Arrays(self)
        self.assignments = Assignments(self)
        self.ties = Ties(self)
        self.skipped: weakref.WeakSet[type] = weakref.WeakSet()
        """Classes of tensors that could not be recorded, which was reported."""
        self.born: dict[bytes, int] = {}
        """Torch's count of its own writes into results that it makes by writing, by what their rows begin with."""
        self._gradients: dict[Any, Keeping] = {}
        self.arrivals: dict[Any, Arrivals] = {}
        """The templates of what is added to leaves, by shape, dtype and thread."""
        self.slots: dict[Any, Keeping] = {}
        """How one of several slots is kept, by shape and dtype."""
        self.memory = Memory(self) if writer.memory else None
        """Follows what tensors hold of memory, where that was asked for."""
        if torch.cuda.is_initialized():  # type: ignore[no-untyped-call] # the first call is measured there, too
            self.meets_remote(torch.device("cuda", torch.cuda.current_device()))
        self.no_fields = Fields(self, "", {"op": 0, "site": 0, "scope": 0, "shape": (), "dtype": None, "attrs": 0})

    def meets_remote(self, device: torch.device) -> None:
        """The program computes on an accelerator."""
        if not self.remote:
            self.remote = True
            if device.type == "cuda":
                remote_values.begin(self.writer, device.index)

    def give_up(self, error: Exception) -> None:
        if self.suspended:  # it is none of the steps to come either
            self.ended = self.suspended = False
        super().give_up(error)

    def learn(self, function: Any) -> Call:
        """What is known of a function that was not called before."""
        found = self.calls[function] = self.new_call(function)
        if self.writer.policy == "full" and found.name in DRAWING:
            found.random = True
            found.plain = found.writes = False  # so that we are asked ahead of it
        if self.writer.policy == "full" and self.writer.capture != "ops" and spelled(function)[0] in READING:
            found.reads, found.ignored, found.plain = True, False, False
        return found

    def new_call(self, function: Any) -> Call:
        """A call with a number of its own."""
        if not self._count:  # the program does compute with torch
            present_as(self.writer.path, tensor_of)
        self._count += 1
        return Call(function, self._count)

    def op_of(self, call: Call, given: Given, count: int, result: torch.Tensor | None) -> int:
        """The number of an op in the table `ops`, for a call that was given so much, among it `count` tensors."""
        operands, named = given
        node: Any = grad_fn(result) if result is not None and self.follows else None
        inputs = tuple(map(Input, range(count))) if operands is None else operands
        entry = call.describe(inputs, named, "" if node is None else node.name())
        entry |= {"framework": self.framework, "function": call.function}
        if call.custom:
            entry["custom"] = True
        return self.writer.intern("ops", (call.name, call.function, entry["formula"], *entry["inputs"]), entry)

    def gradient_of_leaf(self, gradient: torch.Tensor, count: int) -> Keeping:
        """The template of the row of a gradient that `autograd.grad` returns, and that is added to nothing."""
        key = (shape_of(gradient), tensor_base.dtype(gradient), count, self.writer.thread())
        found = self._gradients.get(key)
        if found is None:
            dtype = log_dtype(tensor_base.dtype(gradient))
            template = self.writer.template(
                Kind.GRAD,
                op=self.op_number("grad"),
                shape=key[0],
                dtype=dtype,
                graph_pass=Pass.BACKWARD,
                input_count=count,
            )
            found = self._gradients[key] = Keeping(template)
        return found

    def kind(self, value: Any) -> int:
        """What is to be done with an argument."""
        found = self.kinds.get(value.__class__)
        if found is None:
            if isinstance(value, torch.Tensor):
                found = STRANGE
            elif isinstance(value, (list, tuple)):
                found = NESTED
            else:
                found = PLAIN if type(value).__module__ == "torch" and not is_symbolic(value) else OPAQUE
            if value.__class__.__module__.partition(".")[0] in ("torch", "builtins"):  # others may be gone tomorrow
                self.kinds[value.__class__] = found
        return found

    def link(self, tensor: torch.Tensor, row: int, fields: Fields) -> None:
        """Let the backward node of a tensor say which row made it."""
        place = self.places.here
        self.tie(grad_fn(tensor), row, fields, place.sequence)
        place.sequence = _sequence()

    def tie(self, node: Any, row: int, fields: Fields, since: int, name: str = "", main: Rule | None = None) -> None:
        """Let a backward node say which row made it, unless it does already; `name`, `main`: as those of `Rule`."""
        if node is None or not self.follows:
            return
        line_calls = self.places.here.line_calls
        if line_calls is None or line_calls.outer is None:  # else it is the call's around it
            found = rule_of(node)
            if found is None or not found.used or found.session is not self:
                node.register_prehook(Rule(self, row, fields, since, name, main))

    def array(self, tensor: torch.Tensor) -> np.ndarray | None:
        """The elements of a tensor, for a person to look at."""
        return array_of(tensor)
