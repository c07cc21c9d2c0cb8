"""Writing in place: the tensor becomes a new version of itself, and so do what it is a view of and the views of that.

The way back is rebased, as in PyTorch: after a write through a view, the base is what it was but for the place of the
view (`copy_slices`); and each view that is still in use is taken anew of what the base is now (`take_view`).
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from sys import _getframe
from typing import Any

import numpy as np

from graphscope.engine.core import tracing, writes
from graphscope.engine.core.modes import here
from graphscope.engine.core.node import HOOKS, PLAN, RETAINED, Plan, plan_for
from graphscope.engine.core.op import OPS, Op, completed
from graphscope.engine.core.op_errors import explain_failure
from graphscope.engine.core.rules import WRITTEN
from graphscope.engine.core.tensor import Tensor, attach
from graphscope.engine.ops.view_layout import place_of
from graphscope.eventlog import record as recording
from graphscope.eventlog.gate import Replace
from graphscope.eventlog.schema import ROW_MASK
from graphscope.eventlog.writer import Writer


def write(op: Op, target: Tensor, others: Sequence[Any], attrs: dict[str, Any] | None = None) -> Tensor:
    """Run an op that writes into `target`, which becomes a new version of itself.

    Raises:
        RuntimeError: `target` is a leaf that requires grad or a view of one, or shapes do not fit.
    """
    given = (target, *others)
    tracks = (
        here().grad_enabled
        and target.array.dtype.kind in "fc"
        and (
            any(isinstance(value, Tensor) and value.requires_grad for value in given)
            or (target.made_without_grad and target.base is not None and target.base.requires_grad)
        )
    )
    if tracks:
        refuse(op, target)
        dtype = target.array.dtype
        others = [
            OPS["to"].call(y, dtype)
            if dtype.kind in "fc" and getattr(y, "requires_grad", False) and y.array.dtype != dtype
            else y
            for y in others
        ]
        given = (target, *others)
    writer = recording.writer
    base = target.base
    if writer is None and not tracks:
        before = target.array
        _run(op, target, [value.array if isinstance(value, Tensor) else value for value in others], attrs or {})
        if target.uncounted_of is None:
            target.written()
            writes.note(before if base is None else base.array, op.name, _getframe(2))
        return target
    start = 0
    frame: Any = _getframe(2)
    inputs: list[Tensor] = []
    if writer is not None:
        inputs = [value for value in given if isinstance(value, Tensor)]
        if base is not None and base.row < writer.low:
            tracing.input_row(writer, base, frame, 0)
        tracing.begin(writer, op, inputs, frame)
        start = writer.clock()
    before = target.array
    arrays = [value.array if isinstance(value, Tensor) else value for value in given]
    plan = None
    if tracks:
        plan = plan_for(op, tuple(isinstance(value, Tensor) and value.requires_grad for value in given))
        if any("x" in rule.needs for rule in plan.rules):
            arrays[0] = before.copy()
    try:
        _run(op, target, arrays[1:], attrs or {})
    except (RuntimeError, IndexError) as error:
        raise tracing.failed(writer, frame, op, inputs, error) from None
    owner = before if base is None else base.array
    if target.uncounted_of is None:
        target.written()
        writes.note(owner, op.name, frame)
    site = None
    if writer is not None:
        rows = [value.row for value in inputs]
        given_operands = None if len(inputs) == len(given) else tracing.operands_of(given, Tensor)
        site = _record(writer, op, target, rows, given_operands, attrs, frame, start)
    if target.uncounted_of is not None:
        target.uncounted_of.row = target.row
    if plan is not None and plan.rules:
        _rebase(plan, target, given, arrays, completed(op, attrs or {}), site, writer, frame)
    elif writer is not None and base is not None:
        _tell(writer, base, target, frame)
    elif writer is not None and target.shares is not None and writer.base <= target.shares.row <= ROW_MASK:
        _tell(writer, target.shares, target, frame)
    if any(value is owner or _share(value, owner) for value in arrays[1:]):
        writes.note(owner, op.name, frame)  # what this op itself both saved and wrote (x *= x)
    return target


def _share(value: Any, other: Any) -> bool:
    return isinstance(value, np.ndarray) and isinstance(other, np.ndarray) and np.may_share_memory(value, other)


def refuse(op: Op, target: Tensor) -> None:
    """See that gradients may flow through a write into a tensor.

    Raises:
        RuntimeError: They may not; the message says why, and what to do.
    """
    base = target.base
    instead = "make a new tensor with the op without the underscore"
    if base is not None:
        name = target.grad_fn.name() if target.node is not None else "a view op"
        view = f"{op.name}: Output {target.output_nr} of {name} is a view and is being modified inplace. "
        if target.one_of_several:
            raise RuntimeError(
                f"{view}This view is the output of a function that returns multiple views, and gradients flow through "
                f"it: {instead}, or write into the base at an index."
            )
        if target.made_without_grad:
            raise RuntimeError(
                f"{view}It was created in no_grad mode and is being modified inplace with grad mode enabled, which "
                "is ambiguous: do both inside the no_grad block, or both outside."
            )
        if base.wants_grad and base.node is None:
            raise RuntimeError(
                f"{op.name}: a view of a leaf Variable that requires grad is being used in an in-place operation. "
                f"Do it under no_grad(), or {instead}."
            )
    if target.wants_grad and target.node is None:
        raise RuntimeError(
            f"{op.name}: a leaf Variable that requires grad is being used in an in-place operation. "
            f"Do it under no_grad(), or {instead}."
        )


def _run(op: Op, target: Tensor, others: list[Any], attrs: dict[str, Any]) -> None:
    data = target.array
    try:
        if data.__class__ is np.ndarray:
            op.forward(data, *others, out=data, **attrs)
            return
        result = np.asarray(op.forward(data, *others, **attrs))
        if result.shape:
            raise ValueError(f"the result has shape {result.shape}, the tensor written to has no dims")
        target.array = result.astype(data.dtype, casting="same_kind")[()]
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise explain_failure(op, [data, *others], attrs, error) from None


# The way back ---------------------------------------------------------------------------------------------------------


def _rebase(
    plan: Plan,
    target: Tensor,
    given: Sequence[Any],
    arrays: Sequence[Any],
    attrs: dict[str, Any],
    site: Any,
    writer: Writer | None,
    frame: Any,
) -> None:
    """Give a tensor that was written its new way back, and all that share its memory theirs."""
    base = target.base
    wanted = [given[rule.index] for rule in plan.rules]
    shapes = tuple(value.array.shape for value in wanted)
    saved = plan.save(target.array, *arrays)
    if base is None:
        owner = target
        _renew(target, plan, wanted, saved, shapes, attrs, site)
    elif base.array.dtype != target.array.dtype:
        raise RuntimeError(
            f"a write into {target.array.dtype} that lies in the memory of {base.array.dtype} has no way back here: "
            "make the whole anew, as in torch.complex(z.real * 2, z.imag)"
        )
    else:
        owner = base
        wanted = [_past_hooks(value, writer, frame) if value is target else value for value in wanted]
        if any("out" in rule.needs for rule in plan.rules):
            attrs = {**attrs, WRITTEN: (weakref.ref(target), target.version)}
        part = Tensor(target.array)
        part.row = target.row
        attach(part, plan, wanted, saved, shapes, attrs, site)
        overlay = OPS["copy_slices"]
        place = {"_place": place_of(base.array, target.array)}
        if writer is not None:
            site = _record(writer, overlay, base, [base.row, part.row], None, place, frame, writer.clock())
        over = plan_for(overlay, (base.requires_grad, True))
        sources = [(base, part)[rule.index] for rule in over.rules]
        _renew(base, over, sources, over.save(None, None, None), None, place, site)
    for view in _live(owner):
        if view.array.dtype == owner.array.dtype:  # else it reads the memory as another: no gradient flows through that
            _take(view, owner, writer, frame)


def _take(view: Tensor, owner: Tensor, writer: Writer | None, frame: Any) -> None:
    """Take a view anew of what the tensor is now."""
    op = OPS["take_view"]
    place = {"_place": place_of(owner.array, view.array)}
    site = None
    if writer is not None:
        site = _record(writer, op, view, [owner.row], None, place, frame, writer.clock())
    plan = plan_for(op, (True,))
    _renew(view, plan, [owner], plan.save(None, None), None, place, site)


def _past_hooks(view: Tensor, writer: Writer | None, frame: Any) -> Tensor:
    """A view as it was before a write; where there are hooks on its way from the base, taken anew of that: PyTorch
    calls them no more.
    """
    record, base = view.node, view.base
    while base is not None and record.__class__ is list and record is not base.node:
        if record[HOOKS] or record[PLAN].hooked:
            before = Tensor(view.array)
            _take(before, base, writer, frame)
            return before
        record = record[PLAN].targets(record)[0]
    return view


def _renew(
    tensor: Tensor, plan: Plan, inputs: Sequence[Tensor], saved: Any, shapes: Any, attrs: Any, site: Any
) -> None:
    if tensor.node is not None and tensor.retains_grad:
        tensor.node[RETAINED] = None
    attach(tensor, plan, inputs, saved, shapes, attrs, site)
    tensor.wants_grad = False
    if tensor.retains_grad and tensor.node is not None:
        tensor.node[RETAINED] = weakref.ref(tensor)


def _live(base: Tensor) -> Iterator[Tensor]:
    """The views of a tensor that are still in use."""
    for reference in list(base.views or ()):
        view = reference()
        if view is not None:
            yield view


# The log --------------------------------------------------------------------------------------------------------------


def _tell(writer: Writer, base: Tensor, target: Tensor, frame: Any) -> None:
    """What a write into a view, or into a detached tensor, makes of the tensor whose memory it looks at."""
    _record(writer, OPS["copy_slices"], base, [base.row, target.row], None, None, frame, writer.clock())


def _record(
    writer: Writer,
    op: Op,
    target: Tensor,
    rows: list[int],
    operands: tuple[Any, ...] | None,
    attrs: dict[str, Any] | None,
    frame: Any,
    start: int,
) -> Any:
    """The row of a write; what a person puts in the place of its value is written too."""
    end = writer.clock()
    site, numbers = tracing.call_site(writer, frame, op, target.array, operands, attrs, len(rows))
    identity = target.identity if target.identity >= writer.base else None
    backward = here().context.backward_row
    rows += numbers
    row = writer.append_many(site.template, target.array, rows, end, end - start, backward, identity, target.version)
    if identity is not None and target.first_row < 0:
        target.first_row = identity
    target.row = row
    if writer.gate is not None:
        answer = tracing.pause(writer, row, target.array, frame)
        if isinstance(answer, Replace):
            if target.array.__class__ is np.ndarray:
                np.copyto(target.array, answer.value)
            else:
                target.array = answer.value
    return site
