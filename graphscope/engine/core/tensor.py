"""Tensor, and the one place where an op runs: compute, tell the log, remember the way back."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from sys import _getframe
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.engine.core import dtypes, modes, operands, tracing, writes
from graphscope.engine.core.node import Plan, Record, plan_for
from graphscope.engine.core.op import Op
from graphscope.engine.core.op_errors import explain_failure
from graphscope.eventlog import record as recording
from graphscope.eventlog.gate import Replace
from graphscope.eventlog.schema import ROW_MASK

_ndarray = np.ndarray
_new = object.__new__
_next_moment = writes.moments.__next__

FAILURES: Final = (ValueError, TypeError, IndexError, OverflowError, np.exceptions.AxisError)
"""What a forward function raises when its operands do not fit."""
_NUMPY: Final = (np.ndarray, np.generic)
_MANY_VIEWS: Final = 64
"""So many views are noted, and then twice as many and so on, before those that are gone are taken out."""


class Tensor:
    """An n-dimensional array that remembers how it was made.

    Attributes:
        array: The elements: a NumPy array, or a NumPy scalar for a tensor of no dimensions.
        gradient: What backward passes have accumulated here: a Tensor of the same shape, or None. Programs read and
            set it as `grad`, which tells the log.
        node: The record of the op that made it (see `graphscope.engine.core.node`); None for a leaf.
        wants_grad: Of a leaf: whether gradients are to flow to it. Of other tensors `node` says so.
        name: What to call it in the log; by default the variable that it is assigned to.
        base: Of a view, the tensor whose memory it looks at. `one_of_several` is a view of several made by one op;
            `made_without_grad` one made under no_grad().
        shares: Of a detached tensor, the one whose memory it shares, and which counts the writes of both.
        views: Weak references to its views, which a write must bring up to date.
    """

    # What every op sets and reads has a slot; the rest has a default here and is seldom set.
    __slots__ = ("__dict__", "__weakref__", "array", "node", "row", "wants_grad")

    array: Any
    node: Record | None
    wants_grad: bool
    row: int
    gradient: Tensor | None = None
    name: str | None = None
    base: Tensor | None = None
    one_of_several: bool = False
    made_without_grad: bool = False
    shares: Tensor | None = None
    uncounted_of: Tensor | None = None
    views: Any = None
    hooks: Any = None
    hooks_behind: Any = None
    retains_grad: bool = False
    is_parameter: bool = False
    is_trained: bool = False
    version_count: int = 0
    first_row: int = -1
    site: int = 0
    accumulate_templates: Any = None

    __array_priority__ = 1000
    __hash__ = object.__hash__

    def __init__(self, *data: Any, requires_grad: bool = False) -> None:
        """`Tensor([1, 2])`, `Tensor(2, 3)`; the engine gives an array, or a NumPy scalar for a tensor of no dims."""
        if len(data) == 1 and isinstance(data[0], _NUMPY):
            self.array = data[0]
        else:
            (self.array,) = self._given(data)
        self.node = None
        self.wants_grad = bool(requires_grad)
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
        row = self.row if self.first_row < 0 else self.first_row
        return row if row <= ROW_MASK else -1  # of a slot: the log knows it by its node alone

    @property
    def version(self) -> int:
        """How often its memory was written in place."""
        base = self if self.base is None else self.base
        return (base if base.shares is None else base.shares).version_count

    def written(self) -> None:
        """Count a write into its memory."""
        base = self if self.base is None else self.base
        base = base if base.shares is None else base.shares
        base.version_count += 1

    def shared(self) -> Any:
        """Its array, for another tensor to look at: what was a number becomes an array of no dims."""
        if isinstance(self.array, np.generic):
            self.array = writes.memory(self.array)
        return self.array

    def note_view(self, view: Tensor) -> None:
        """Remember a view: while it lives, a write into this tensor makes its way back a new one."""
        views = self.views
        if views is None:
            views = self.views = []
        elif len(views) >= _MANY_VIEWS and not len(views) & len(views) - 1:
            views[:] = [reference for reference in views if reference() is not None]
        views.append(weakref.ref(view))

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
        return np.asarray(self.array, dtype=dtype)


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
    track = not modes.disabled or modes.here().grad_enabled
    inputs, tensors, arrays, constants, targets = operands.gather(op, inputs, Tensor, track)
    start = 0
    frame: Any = None
    if writer is not None:
        frame = _getframe(depth)
        if tracing.begin(writer, op, inputs, frame):
            arrays = dtypes.promoted(op, inputs)
        start = writer.clock()
    if op.view:
        arrays[0] = tensors[0].shared()
    try:
        result = op.forward(*arrays, **attrs) if attrs else op.forward(*arrays)
    except FAILURES as error:
        raise tracing.failed(writer, _getframe(depth), op, tensors, explain_failure(op, arrays, attrs, error)) from None
    residuals = None
    if op.residuals:
        result, residuals = result
    out = _new(Tensor)
    out.node = None
    out.wants_grad = False
    out.row = -1
    site = None
    if op.view:
        note_view(out, tensors[0], result, arrays[0])
    if writer is not None:
        end = writer.clock()
        rows = [tensor.row for tensor in tensors]
        given = tracing.operands_of(inputs, Tensor) if constants else None
        site, numbers = tracing.call_site(writer, frame, op, result, given, attrs, len(rows))
        rows += numbers
        row = writer.append_many(site.template, result, rows, end, end - start, modes.here().context.backward_row)
        out.row = row
        if writer.gate is not None:
            answer = tracing.pause(writer, row, result, frame)
            if answer.__class__ is Replace:
                result = answer.value
    out.array = result
    if targets is not None and result.dtype.kind in "fc":
        wanting = tuple([target is not None for target in targets])
        plan = op.plans.get(wanting) or plan_for(op, wanting)
        if plan.rules:
            saved = plan.save((result, residuals) if op.residuals else result, *arrays)
            shapes = tuple([arrays[index].shape for index in plan.wanted])
            goal: Any = [targets[index] for index in plan.wanted]
            goal = goal[0] if plan.alone else tuple(goal)
            row = -1 if site is None else out.row
            out.node = [plan, goal, saved, _next_moment(), shapes, attrs, row, site, None, None]
    return out


def note_view(out: Tensor, source: Tensor, result: np.ndarray, array: np.ndarray) -> None:
    """Join a view to its base; where NumPy had to copy, it is none."""
    if result.base is not array and writes.buffer(result) is not writes.buffer(array):
        return
    base = out.base = source if source.base is None else source.base
    base.note_view(out)
    if modes.disabled and not modes.here().grad_enabled:
        out.made_without_grad = True


def attach(out: Tensor, plan: Plan, inputs: Sequence[Tensor], saved: Any, shapes: Any, attrs: Any, site: Any) -> None:
    """Give a result its way back."""
    row = out.row if site is not None else -1
    targets: Any = tuple(value.node or value for value in inputs)
    if plan.alone:
        (targets,) = targets
    out.node = [plan, targets, saved, _next_moment(), shapes, attrs, row, site, None, None]
