"""Tensor, and the one place where an op runs: compute, tell the log, remember the way back."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from sys import _getframe
from typing import TYPE_CHECKING, Any

import numpy as np

from graphscope.engine import dtypes, modes, tracing, writes
from graphscope.engine.errors import explain_failure
from graphscope.engine.node import Plan, Record, plan_for
from graphscope.engine.op import Op
from graphscope.eventlog import record as recording
from graphscope.eventlog.gate import Replace

_ndarray = np.ndarray
_new = object.__new__
_next_moment = writes.moments.__next__


class Tensor:
    """An n-dimensional array that remembers how it was made.

    Attributes:
        data: The elements: a NumPy array, or a NumPy scalar for a tensor of no dimensions.
        grad: What backward passes have accumulated here: a Tensor of the same shape, or None.
        node: The record of the op that made it (see `graphscope.engine.node`); None for a leaf.
        wants_grad: Of a leaf: whether gradients are to flow to it. Of other tensors `node` says so.
        name: What to call it in the log; by default the variable that it is assigned to.
    """

    # What every op sets and reads has a slot; the rest has a default here and is seldom set.
    __slots__ = ("__dict__", "__weakref__", "data", "node", "row", "wants_grad")

    data: Any
    node: Record | None
    wants_grad: bool
    row: int
    grad: Tensor | None = None
    name: str | None = None
    base: Tensor | None = None
    views: Any = None
    hooks: Any = None
    retains_grad: bool = False
    is_parameter: bool = False
    version_count: int = 0
    first_row: int = -1
    site: int = 0
    accumulate_template: Any = None

    __array_priority__ = 1000
    __hash__ = object.__hash__

    def __init__(self, data: Any, requires_grad: bool = False) -> None:
        self.data = data
        self.node = None
        self.wants_grad = requires_grad
        self.row = -1

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to this tensor."""
        return self.node is not None or self.wants_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    @property
    def identity(self) -> int:
        """The row of its first version in the log, by which the log knows it; -1 when it has none."""
        return self.row if self.first_row < 0 else self.first_row

    @property
    def version(self) -> int:
        """How often its memory was written in place."""
        return (self if self.base is None else self.base).version_count

    def note_view(self, view: Tensor) -> None:
        """Remember a view: while it lives, a write into this tensor would make its way back untrue."""
        if self.views is None:
            self.views = []
        self.views.append(weakref.ref(view))

    if TYPE_CHECKING:
        # Ops and `methods` add the rest: see OPS.
        def __getattr__(self, name: str) -> Any: ...
        def __getitem__(self, index: Any) -> Tensor: ...
        def __setitem__(self, index: Any, value: Any) -> None: ...
        def __neg__(self) -> Tensor: ...
        def __add__(self, other: Any) -> Tensor: ...
        def __radd__(self, other: Any) -> Tensor: ...
        def __sub__(self, other: Any) -> Tensor: ...
        def __rsub__(self, other: Any) -> Tensor: ...
        def __mul__(self, other: Any) -> Tensor: ...
        def __rmul__(self, other: Any) -> Tensor: ...
        def __truediv__(self, other: Any) -> Tensor: ...
        def __rtruediv__(self, other: Any) -> Tensor: ...
        def __pow__(self, other: Any) -> Tensor: ...
        def __matmul__(self, other: Any) -> Tensor: ...

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.data, dtype=dtype)


def method(function: Any) -> Any:
    """Make a function a method of Tensor."""
    setattr(Tensor, function.__name__, function)
    return function


def apply(op: Op, inputs: Sequence[Any], attrs: dict[str, Any] | None = None, depth: int = 2) -> Tensor:
    """Run an op on tensors and Python numbers, of any number and kind.

    Args:
        op: The op.
        inputs: Tensors, or numbers that take part as they are.
        attrs: Keyword arguments of its forward function.
        depth: How many frames up the caller's program is.

    Raises:
        RuntimeError: The shapes or dtypes do not fit; the message says which and how.
    """
    writer = recording.writer
    if len(inputs) > 1 and modes.here().grad_enabled:
        inputs = dtypes.aligned(op, inputs)
    tensors = [value for value in inputs if isinstance(value, Tensor)]
    constants = [value for value in inputs if not isinstance(value, Tensor)]
    start = 0
    frame: Any = None
    if writer is not None:
        frame = _getframe(depth)
        for argument, value in enumerate(inputs):
            if isinstance(value, Tensor) and value.row < writer.low:
                tracing.input_row(writer, value, frame, argument)
        if writer.gate is not None and writer.gate.wants_before:
            tracing.ahead(writer, op, tensors, frame)
        start = writer.clock()
    arrays = dtypes.promoted(op, inputs)
    try:
        result = op.forward(*arrays, **attrs) if attrs else op.forward(*arrays)
    except (ValueError, TypeError, IndexError, np.exceptions.AxisError) as error:
        raise tracing.failed(writer, _getframe(depth), op, tensors, explain_failure(op, arrays, attrs, error)) from None
    out = _new(Tensor)
    out.node = None
    out.wants_grad = False
    out.row = -1
    site = None
    if op.view and writes.buffer(result) is writes.buffer(arrays[0]):
        base = out.base = tensors[0] if tensors[0].base is None else tensors[0].base
        if base.node is not None:
            base.note_view(out)
    if writer is not None:
        end = writer.clock()
        rows = [tensor.row for tensor in tensors]
        described = {**(attrs or {}), **({"operands": constants} if len(constants) > 1 else {})}
        constant = constants[0] if len(constants) == 1 else None
        site = tracing.call_site(writer, frame, op, result, constant, described, len(rows))
        if len(rows) <= 3:
            row = writer.append(site.template, result, end, end - start, modes.here().context.backward_row, *rows)
        else:
            edges = [(row, 0) for row in rows]
            keep = [(result, site.template.keep)]
            row = writer.append_wide(site.template, keep, edges, end, end - start, modes.here().context.backward_row)
        out.row = row
        if writer.gate is not None:
            answer = tracing.pause(writer, row, result, frame)
            if answer.__class__ is Replace:
                result = answer.value
    out.data = result
    if modes.here().grad_enabled:
        wanting = tuple(isinstance(value, Tensor) and (value.node is not None or value.wants_grad) for value in inputs)
        if any(wanting) and result.dtype.kind in "fc":
            plan = plan_for(op, wanting)
            if plan.rules:
                wanted = [inputs[rule.index] for rule in plan.rules]
                shapes = tuple(value.data.shape for value in wanted)
                attach(out, plan, wanted, plan.save(result, *arrays), shapes, attrs, site)
    return out


def attach(out: Tensor, plan: Plan, inputs: Sequence[Tensor], saved: Any, shapes: Any, attrs: Any, site: Any) -> None:
    """Give a result its way back."""
    row = out.row if site is not None else -1
    targets: Any = tuple(value.node or value for value in inputs)
    if plan.single:
        (targets,) = targets
    out.node = [plan, targets, saved, _next_moment(), shapes, attrs, row, site, None, None]
