"""Tensor, and the one place where an op runs: compute, tell the log, remember the way back."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from sys import _getframe
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.engine import dtypes, modes, tracing, writes
from graphscope.engine.errors import explain_failure
from graphscope.engine.node import Plan, Record, plan_for
from graphscope.engine.op import Op
from graphscope.eventlog import record as recording
from graphscope.eventlog.gate import Replace
from graphscope.eventlog.schema import ROW_MASK, SLOT_SHIFT

_ndarray = np.ndarray
_new = object.__new__
_next_moment = writes.moments.__next__

FAILURES: Final = (ValueError, TypeError, IndexError, np.exceptions.AxisError)
"""What a forward function raises when its operands do not fit."""
_MANY_VIEWS: Final = 64
"""So many views are noted, and then twice as many and so on, before those that are gone are taken out."""


class Tensor:
    """An n-dimensional array that remembers how it was made.

    Attributes:
        array: The elements: a NumPy array, or a NumPy scalar for a tensor of no dimensions.
        grad: What backward passes have accumulated here: a Tensor of the same shape, or None.
        node: The record of the op that made it (see `graphscope.engine.node`); None for a leaf.
        wants_grad: Of a leaf: whether gradients are to flow to it. Of other tensors `node` says so.
        name: What to call it in the log; by default the variable that it is assigned to.
        base: Of a view, the tensor whose memory it looks at. `one_of_several` is a view of several made by one op;
            `made_without_grad` one made under no_grad(); `picked` an element, as (array, index).
        shares: Of a detached tensor, the one whose memory it shares, and which counts the writes of both.
        views: Weak references to the views that a write must bring up to date; `views_made` counts all ever made.
    """

    # What every op sets and reads has a slot; the rest has a default here and is seldom set.
    __slots__ = ("__dict__", "__weakref__", "array", "node", "row", "wants_grad")

    array: Any
    node: Record | None
    wants_grad: bool
    row: int
    grad: Tensor | None = None
    name: str | None = None
    base: Tensor | None = None
    one_of_several: bool = False
    made_without_grad: bool = False
    shares: Tensor | None = None
    picked: Any = None
    uncounted_of: Tensor | None = None
    views: Any = None
    views_made: int = 0
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

    def __init__(self, data: Any, requires_grad: bool = False) -> None:
        self.array = data
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

    def rewritten(self) -> None:
        """Bring up to date the tensor of which this is the `data`."""
        whole = self.uncounted_of
        if whole is not None:
            whole.array = self.array
            whole.row = -1 if self.row < 0 else self.row

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
    given = dtypes.Operands(op, inputs, Tensor, not modes.disabled or modes.here().grad_enabled)
    inputs, tensors, arrays = given.inputs, given.tensors, given.arrays
    start = 0
    frame: Any = None
    if writer is not None:
        frame = _getframe(depth)
        for argument, value in enumerate(inputs):
            if isinstance(value, Tensor) and value.row < writer.low:
                tracing.input_row(writer, value, frame, argument)
        if writer.gate is not None and writer.gate.wants_before:
            tracing.ahead(writer, op, tensors, frame)
            arrays = dtypes.promoted(op, inputs)
        start = writer.clock()
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
    if op.view and arrays[0].__class__ is _ndarray:
        note_view(out, tensors[0], result, arrays[0], attrs)
    if writer is not None:
        end = writer.clock()
        rows = [tensor.row for tensor in tensors]
        constants = given.constants
        described = {**(attrs or {}), **({"operands": constants} if len(constants) > 1 else {})}
        constant = constants[0] if len(constants) == 1 else None
        site = tracing.call_site(writer, frame, op, result, constant, described, len(rows))
        if len(rows) <= 3:
            row = writer.append(site.template, result, end, end - start, modes.here().context.backward_row, *rows)
        else:
            edges = [(row & ROW_MASK, row >> SLOT_SHIFT) for row in rows]
            keep = [(result, site.template.keep)]
            row = writer.append_wide(site.template, keep, edges, end, end - start, modes.here().context.backward_row)
        out.row = row
        if writer.gate is not None:
            answer = tracing.pause(writer, row, result, frame)
            if answer.__class__ is Replace:
                result = answer.value
    out.array = result
    if given.tracked and result.dtype.kind in "fc":
        wanting = tuple(
            [isinstance(value, Tensor) and (value.node is not None or value.wants_grad) for value in inputs]
        )
        plan = op.plans.get(wanting) or plan_for(op, wanting)
        if plan.rules:
            wanted = [inputs[rule.index] for rule in plan.rules]
            shapes = tuple([value.array.shape for value in wanted])
            kept = (result, residuals) if op.residuals else result
            attach(out, plan, wanted, plan.save(kept, *arrays), shapes, attrs, site)
    return out


def note_view(out: Tensor, source: Tensor, result: Any, array: np.ndarray, attrs: Any) -> None:
    """Join a view to its base; where NumPy had to copy, it is none."""
    if result.__class__ is not _ndarray:
        if attrs is None or "index" not in attrs:
            return
        out.picked = (array, attrs["index"])  # an element is a number of its own, which a write has to bring up to date
    elif result.base is not array and writes.buffer(result) is not writes.buffer(array):
        return
    base = out.base = source if source.base is None else source.base
    base.views_made += 1
    if base.node is not None or out.picked is not None:
        base.note_view(out)
    if modes.disabled and not modes.here().grad_enabled:
        out.made_without_grad = True


def attach(out: Tensor, plan: Plan, inputs: Sequence[Tensor], saved: Any, shapes: Any, attrs: Any, site: Any) -> None:
    """Give a result its way back."""
    row = out.row if site is not None else -1
    targets: Any = tuple(value.node or value for value in inputs)
    if plan.single:
        (targets,) = targets
    out.node = [plan, targets, saved, _next_moment(), shapes, attrs, row, site, None, None]
