"""In-place ops: they write into their first input, which becomes a new version of the same tensor."""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from typing import Any

import numpy as np

from graphscope.engine import dtypes, modes, tracing, writes
from graphscope.engine.errors import explain_failure
from graphscope.engine.op import Op, register
from graphscope.engine.tensor import Tensor, attach, plan_for
from graphscope.engine.modes import modes as mode
from graphscope.eventlog import record as recording
from graphscope.eventlog.gate import Replace


def write(op: Op, target: Tensor, others: tuple[Any, ...]) -> Tensor:
    """Run an op and put its result into `target`, as a new version of it.

    Raises:
        RuntimeError: `target` is a leaf that requires grad, or a view of a tensor that does, or shapes do not fit.
    """
    tracks = mode.grad_enabled and (target.requires_grad or any(getattr(y, "requires_grad", False) for y in others))
    if tracks and target.requires_grad and target.node is None:
        raise RuntimeError(
            f"{op.name}: a leaf Variable that requires grad is being used in an in-place operation. "
            "Do it under no_grad(), or make a new tensor with the op without the underscore."
        )
    if tracks and target.base is not None:
        raise RuntimeError(
            f"{op.name}: the tensor is a view, and gradients flow through it: "
            "make a new tensor with the op without the underscore, or clone() the view first."
        )
    writer = recording.writer
    frame: Any = None
    inputs = [value for value in (target, *others) if isinstance(value, Tensor)]
    start = 0
    if writer is not None:
        frame = _getframe(2)
        for argument, value in enumerate(inputs):
            if value.row < writer.low:
                tracing.input_row(writer, value, frame, argument)
        if writer.gate is not None and writer.gate.wants_before:
            tracing.ahead(writer, op, inputs, frame)
        start = writer.clock()
    before = target.data
    arrays = [before, *(value.data if isinstance(value, Tensor) else value for value in others)]
    try:
        result = op.forward(*arrays)
        if before.shape != np.shape(result):
            raise ValueError(f"the result has shape {np.shape(result)}, the tensor written to {before.shape}")
        saved_before = before
        if before.__class__ is np.ndarray:
            np.copyto(before, result, casting="same_kind")
        else:
            target.data = before.dtype.type(result)
    except (ValueError, TypeError) as error:
        raise explain_failure(op, arrays, None, error) from error
    root = target.base or target
    root.version_count += 1
    site = None
    if writer is not None:
        end = writer.clock()
        rows = [value.row for value in inputs]
        constant = next((value for value in others if not isinstance(value, Tensor)), None)
        site = tracing.call_site(writer, frame, op, target.data, constant, None, len(rows), root.version_count)
        identity = target.identity if target.identity >= writer.base else None
        target.row = writer.append(site.template, target.data, end, end - start, 0, *rows, tensor=identity)
        if writer.gate is not None:
            answer = tracing.pause(writer, target.row, target.data, frame)
            if isinstance(answer, Replace):
                if target.data.__class__ is np.ndarray:
                    np.copyto(target.data, answer.value)
                else:
                    target.data = answer.value
    writes.note(saved_before, op.name)
    if tracks:
        given = (target, *others)
        plan = plan_for(op, tuple(isinstance(value, Tensor) and value.requires_grad for value in given))
        if plan.rules:
            wanted = [given[rule.index] for rule in plan.rules]
            shapes = tuple(value.data.shape for value in wanted)
            attach(target, plan, wanted, plan.save(target.data, *arrays), site)
            if target.node is not None:
                target.node.shapes = shapes
    return target


def _define(name: str, doc: str, formula: str, forward: Callable[..., Any], vjp: list[Any], *aliases: str) -> Any:
    op = register(name, doc, formula=formula, forward=forward, vjp=vjp, in_place=True, samples=[])

    def call(input: Tensor, *others: Any) -> Tensor:
        return write(op, input, tuple(dtypes.operand(value) for value in others))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{doc}\n\n{formula}"
    op.call = call
    for method in (name, *aliases):
        setattr(Tensor, method, call)
    return call


add_ = _define("add_", "Add in place.", "x ← x + y", np.add, [lambda g: g, lambda g: g], "__iadd__")
sub_ = _define("sub_", "Subtract in place.", "x ← x - y", np.subtract, [lambda g: g, lambda g: -g], "__isub__")
mul_ = _define(
    "mul_", "Multiply in place.", "x ← x · y", np.multiply, [lambda g, y: g * y, None], "__imul__"
)
div_ = _define("div_", "Divide in place.", "x ← x / y", np.true_divide, [lambda g, y: g / y, None], "__itruediv__")
zero_ = _define("zero_", "Set every element to 0.", "x ← 0", np.zeros_like, [lambda g: g * 0])
copy_ = _define(
    "copy_",
    "Copy the elements of another tensor.",
    "x ← y",
    lambda x, y: np.broadcast_to(y, x.shape),
    [lambda g: g * 0, lambda g: g],
)
fill_ = _define("fill_", "Set every element to a number.", "x ← y", lambda x, y: np.full_like(x, y), [lambda g: g * 0, None])
_ = modes
