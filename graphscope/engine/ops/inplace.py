"""In-place ops: they write into their first input, which becomes a new version of the same tensor."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from sys import _getframe
from typing import Any, Final

import numpy as np

from graphscope.engine import dtypes, tracing, writes
from graphscope.engine.errors import explain_failure
from graphscope.engine.modes import here
from graphscope.engine.node import RETAINED, plan_for
from graphscope.engine.op import OPS, Op, Rule, register
from graphscope.engine.ops.index import getitem, marked, plain, where
from graphscope.engine.tensor import Tensor, attach
from graphscope.eventlog import record as recording
from graphscope.eventlog.gate import Replace
from graphscope.eventlog.writer import Writer

__all__ = [
    "add_",
]

_DEFAULTS: Final = {"alpha": 1}
"""Attributes that rules take and that a call may leave out."""


def write(op: Op, target: Tensor, others: Sequence[Any], attrs: dict[str, Any] | None = None) -> Tensor:
    """Run an op that writes into `target`, which becomes a new version of itself.

    Raises:
        RuntimeError: `target` is a leaf that requires grad, or a view of a tensor that does, or shapes do not fit.
    """
    given = (target, *others)
    tracks = here().grad_enabled and any(isinstance(value, Tensor) and value.requires_grad for value in given)
    if tracks:
        _refuse(op, target)
        dtype = target.data.dtype
        others = [
            OPS["to"].call(y, dtype) if getattr(y, "requires_grad", False) and y.data.dtype != dtype else y
            for y in others
        ]
        given = (target, *others)
    writer = recording.writer
    if writer is None and not tracks:
        before = target.data
        _run(op, target, [value.data if isinstance(value, Tensor) else value for value in others], attrs or {})
        (target if target.base is None else target.base).version_count += 1
        writes.note(before, op.name)
        return target
    start = 0
    frame: Any = None
    inputs: list[Tensor] = []
    if writer is not None:
        frame = _getframe(2)
        inputs = [value for value in given if isinstance(value, Tensor)]
        for argument, value in enumerate(inputs):
            if value.row < writer.low:
                tracing.input_row(writer, value, frame, argument)
        if writer.gate is not None and writer.gate.wants_before:
            tracing.ahead(writer, op, inputs, frame)
        start = writer.clock()
    before = target.data
    arrays = [value.data if isinstance(value, Tensor) else value for value in given]
    plan = None
    if tracks:
        plan = plan_for(op, tuple(isinstance(value, Tensor) and value.requires_grad for value in given))
        if any("x" in rule.needs for rule in plan.rules):
            arrays[0] = before.copy()
    try:
        _run(op, target, arrays[1:], attrs or {})
    except (RuntimeError, IndexError) as error:
        raise tracing.failed(writer, _getframe(2), op, inputs, error) from None
    (target if target.base is None else target.base).version_count += 1
    site = None
    if writer is not None:
        site = _record(writer, op, target, inputs, others, attrs, frame, start)
    if plan is not None and plan.rules:
        wanted = [given[rule.index] for rule in plan.rules]
        shapes = tuple(value.data.shape for value in wanted)
        if target.node is not None:
            target.node[RETAINED] = None
        attach(target, plan, wanted, plan.save(target.data, *arrays), shapes, {**_DEFAULTS, **(attrs or {})}, site)
        if target.retains_grad and target.node is not None:
            target.node[RETAINED] = weakref.ref(target)
    # Noted last: what this op itself both saved and wrote (x *= x) counts as written after it was saved.
    writes.note(before, op.name)
    return target


def _refuse(op: Op, target: Tensor) -> None:
    if target.wants_grad and target.node is None:
        raise RuntimeError(
            f"{op.name}: a leaf Variable that requires grad is being used in an in-place operation. "
            "Do it under no_grad(), or make a new tensor with the op without the underscore."
        )
    if target.base is not None:
        raise RuntimeError(
            f"{op.name}: the tensor is a view, and gradients flow through it: "
            "make a new tensor with the op without the underscore, or clone() the view first."
        )
    if any(reference() is not None for reference in target.views or ()):
        raise RuntimeError(
            f"{op.name}: a view of the tensor is in use, and gradients flow through it: "
            "make a new tensor with the op without the underscore, or clone() what the view is taken of."
        )
    target.views = None


def _run(op: Op, target: Tensor, others: list[Any], attrs: dict[str, Any]) -> None:
    data = target.data
    try:
        if data.__class__ is np.ndarray:
            op.forward(data, *others, out=data, **attrs)
            return
        result = np.asarray(op.forward(data, *others, **attrs))
        if result.shape:
            raise ValueError(f"the result has shape {result.shape}, the tensor written to has no dims")
        target.data = result.astype(data.dtype, casting="same_kind")[()]
    except (ValueError, TypeError, IndexError) as error:
        raise explain_failure(op, [data, *others], attrs, error) from None


def _record(
    writer: Writer,
    op: Op,
    target: Tensor,
    inputs: list[Tensor],
    others: Sequence[Any],
    attrs: dict[str, Any] | None,
    frame: Any,
    start: int,
) -> Any:
    """The row of a write; what a person puts in the place of its value is written too."""
    end = writer.clock()
    rows = [value.row for value in inputs]
    constant = next((value for value in others if not isinstance(value, Tensor)), None)
    site = tracing.call_site(writer, frame, op, target.data, constant, attrs, len(rows))
    site.template.turn_version(target.version)
    identity = target.identity if target.identity >= writer.base else None
    first, second = (*rows, 0)[:2]
    context = here().context
    row = writer.append(
        site.template, target.data, end, end - start, context.backward_row, first, second, tensor=identity
    )
    if identity is not None and target.first_row < 0:
        target.first_row = identity
    target.row = row
    if writer.gate is not None:
        answer = tracing.pause(writer, row, target.data, frame)
        if isinstance(answer, Replace):
            if target.data.__class__ is np.ndarray:
                np.copyto(target.data, answer.value)
            else:
                target.data = answer.value
    return site


def _define(
    name: str,
    doc: str,
    formula: str,
    forward: Callable[..., Any],
    vjp: list[Rule | None],
    *aliases: str,
    samples: Sequence[Any],
) -> Any:
    op = register(name, doc, formula=formula, forward=forward, vjp=vjp, in_place=True, samples=samples)

    def call(input: Tensor, *others: Any, **attrs: Any) -> Tensor:
        return write(op, input, tuple(dtypes.operand(value) for value in others), attrs or None)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{doc}\n\n{formula}"
    op.call = call
    for method in (name, *aliases):
        setattr(Tensor, method, call)
    return call


def _add(x: Any, y: Any, *, alpha: float = 1, out: Any = None) -> Any:
    return np.add(x, y if alpha == 1 else y * alpha, out=out)


def _zero(x: Any, *, out: Any = None) -> Any:
    return _fill(x, 0, out=out)


def _fill(x: Any, y: Any, *, out: Any = None) -> Any:
    if out is None:
        return x.dtype.type(y)
    out.fill(y)
    return out


def _copy(x: Any, y: Any, *, out: Any = None) -> Any:
    if out is None:
        return y
    np.copyto(out, y, casting="unsafe")
    return out


def _set(x: Any, y: Any, *, index: Any, out: Any = None) -> Any:
    if out is None:
        raise TypeError("a tensor of no dims can't be written at an index; use fill_() or copy_()")
    out[index] = y
    return out


add_ = _define(
    "add_", "Add in place; `alpha` scales what is added.", "x ← x + alpha · y",
    _add, [lambda g: g, lambda g, *, alpha: g if alpha == 1 else g * alpha], "__iadd__",
    samples=[((2, 3), (3,)), ((2, 3), (2, 3), {"alpha": 0.5}), ((), ())],
)  # fmt: skip

sub_ = _define(
    "sub_", "Subtract in place.", "x ← x - y",
    np.subtract, [lambda g: g, lambda g: -g], "__isub__",
    samples=[((2, 3), (3,)), ((), ())],
)  # fmt: skip

mul_ = _define(
    "mul_", "Multiply in place.", "x ← x · y",
    np.multiply, [lambda g, y: g * y, lambda g, x: g * x], "__imul__",
    samples=[((2, 3), (3,)), ((2, 3), (2, 3)), ((), ())],
)  # fmt: skip

div_ = _define(
    "div_", "Divide in place.", "x ← x / y",
    np.true_divide, [lambda g, y: g / y, lambda g, x, y: -g * x / (y * y)], "__itruediv__",
    samples=[("positive", (2, 3), (3,)), ("positive", (2, 3), (2, 3))],
)  # fmt: skip

zero_ = _define(
    "zero_", "Set every element to 0.", "x ← 0",
    _zero, [lambda g: g * 0],
    samples=[((2, 3),), ((),)],
)  # fmt: skip

fill_ = _define(
    "fill_", "Set every element to a number.", "x ← y",
    _fill, [lambda g: g * 0, None],
    samples=[((2, 3), 0.5), ((), 2.0)],
)  # fmt: skip

copy_ = _define(
    "copy_", "Copy the elements of another tensor.", "x ← y",
    _copy, [lambda g: g * 0, lambda g: g],
    samples=[((2, 3), (2, 3)), ((2, 3), (3,)), ((), ())],
)  # fmt: skip

setitem = _define(
    "setitem", "Set the elements at an index.", "x[index] ← y",
    _set, [lambda g, *, index: where(marked(g.shape, index), 0.0, g), lambda g, *, index: getitem(g, index)],
    samples=[((3, 4), (2,), {"index": (slice(0, 2), 1)}), ((3, 4), 0.5, {"index": 1}),
             ((5,), (2,), {"index": np.array([0, 3])})],
)  # fmt: skip


def _setitem(self: Tensor, index: Any, value: Any) -> None:
    setitem(self, value, index=plain(index))


setattr(Tensor, "__setitem__", _setitem)  # noqa: B010
