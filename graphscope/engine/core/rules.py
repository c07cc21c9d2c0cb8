"""Running the rules of a node where the straight line of the backward pass does not: on tensors, with hooks, slots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from graphscope.engine.core import modes, slots, writes
from graphscope.engine.core.backward_errors import anomaly_message, blamed
from graphscope.engine.core.cotangents import conjugated, is_complex
from graphscope.engine.core.modes import Context, here
from graphscope.engine.core.node import ATTRS, PLAN, ROW, SAVED, Record, spread
from graphscope.engine.core.op import INPUT_NAMES, OPS
from graphscope.engine.core.precision import half_of, rounded, widened
from graphscope.engine.core.slots import Cotangents
from graphscope.engine.core.tensor import Tensor
from graphscope.eventlog import record as recording

WRITTEN: Final = "_written"
"""A write through a view keeps the view and its version then beside the attributes of the call, under this name."""


def slowly(record: Record, gradient: Any, row: int, tensors: bool, into: bool) -> Sequence[Any]:
    """Run the rules of a node on tensors, or look at what they give."""
    results = rules_of(record, gradient, row, tensors, into)
    if modes.anomaly and record[PLAN].slot < 0:
        for number, result in enumerate(results):
            if result is not None and np.isnan(result.array if isinstance(result, Tensor) else result).any():
                raise blamed(record, anomaly_message(record, number))
    return results


def rules_of(record: Record, gradient: Any, row: int, tensors: bool, into: bool = False) -> Sequence[Any]:
    """The gradients that the rules of a node give: as tensors, or arrays (found on tensors, to be looked into)."""
    if tensors or into:
        return _on_tensors(record, gradient, row, unwrap=not tensors)
    return specially(record, gradient, row)


def _customized(record: Record, gradient: Any, row: int, tensors: bool) -> Sequence[Any]:
    """Let a node that has a function of its own find the gradients, between the hooks that it may have."""
    plan = record[PLAN]
    if plan.hooked:
        gradient = plan.ahead(gradient, tensors)
    results = plan.custom(record, gradient, row, tensors)
    return plan.behind(record, results, gradient, tensors) if plan.hooked else results  # type: ignore[no-any-return]


def specially(record: Record, gradient: Any, row: int) -> Sequence[Any]:
    """Run, on bare arrays, the rules of a node that is not like most: see `Plan`."""
    plan = record[PLAN]
    if plan.slot >= 0:
        return (Cotangents({plan.slot: gradient}),)
    if plan.custom is not None:
        return _customized(record, gradient, row, False)
    if plan.op.several:
        gradient = slots.whole(record, gradient, False)
    if not plan.hooked and not plan.alone and not is_complex(gradient) and half_of(gradient) is None:
        return plan.gradients(gradient, record[SAVED], record[ATTRS])  # type: ignore[no-any-return]
    if plan.hooked:
        gradient = plan.ahead(gradient, False)
    results = _one_by_one(plan, gradient, plan.arguments(record[SAVED]), record[ATTRS])
    return plan.behind(record, results, gradient, False) if plan.hooked else results


def _one_by_one(plan: Any, gradient: Any, arguments: Sequence[Any], attrs: Any) -> list[Any]:
    """Run the rules; where a cotangent is complex, between two conjugations.

    What is of half precision is brought to single precision for the rules, and what they give is rounded: they add up.

    A rule says the transpose of the derivative, g · f'(x), which is all there is to say of real numbers. The gradient
    of complex numbers is by convention dL/d(re) + i · dL/d(im): it goes back by the conjugate transpose, and that is
    the conjugate of what the rule says of the conjugate.

    Source: PyTorch's note "Autograd mechanics", on complex numbers.
    """
    half = half_of(gradient)
    if half is not None and plan.op is not OPS["to"]:  # whose rule is to tell the precision
        found = _one_by_one_transposed(plan, widened(gradient), widened(arguments), attrs)
        return [rounded(result, half) for result in found]
    if is_complex(gradient):
        found = _one_by_one_transposed(plan, conjugated(gradient), arguments, attrs)
        return [conjugated(result) for result in found]
    return _one_by_one_transposed(plan, gradient, arguments, attrs)


def _one_by_one_transposed(plan: Any, gradient: Any, arguments: Sequence[Any], attrs: Any) -> list[Any]:
    if plan.joint is not None:
        rule = plan.rules[0]
        found = plan.joint(gradient, *arguments[0], **{name: attrs[name] for name in rule.attrs})
        return [found[rule.index] for rule in plan.rules]
    return [
        rule.rule(gradient, *args, **{name: attrs[name] for name in rule.attrs})
        for rule, args in zip(plan.rules, arguments, strict=True)
    ]


def _on_tensors(record: Record, gradient: Any, row: int, *, unwrap: bool) -> Sequence[Any]:
    """Run a node's rules on tensors: under `create_graph`, and when a person steps into a rule."""
    plan = record[PLAN]
    if plan.slot >= 0:
        return specially(record, gradient, row)
    if plan.custom is not None:
        found = _customized(record, gradient, row, True)
        return [result.array if isinstance(result, Tensor) else result for result in found] if unwrap else found
    if plan.op.several:
        gradient = slots.whole(record, gradient, True)
        for slot, part in enumerate(gradient):
            if part is not None and part.row < 0 and row >= 0 and not slot:
                part.row = row
    else:
        if not isinstance(gradient, Tensor):
            gradient = Tensor(gradient)
        if gradient.row < 0 and row >= 0:
            gradient.row = row
    targets = {rule.index: target for rule, target in zip(plan.rules, plan.targets(record), strict=True)}
    rows = _input_rows(record)
    mode = here()
    before = mode.context
    mode.context = Context(before.scope, max(row, 0))
    given = []
    for rule, args in zip(plan.rules, plan.arguments(record[SAVED]), strict=True):
        names = spread(rule, len(args))
        given.append([_as_tensor(record, name, value, targets, rows) for name, value in zip(names, args, strict=True)])
    try:
        with modes.grad_mode(not unwrap):
            if plan.hooked:
                gradient = plan.ahead(gradient, True)
            results = _one_by_one(plan, gradient, given, record[ATTRS])
            if plan.hooked:
                results = plan.behind(record, results, gradient, True)
    finally:
        mode.context = before
    return [result.array if isinstance(result, Tensor) else result for result in results] if unwrap else results


def _input_rows(record: Record) -> tuple[int, ...]:
    """The rows of what the op was given, where each of its operands was a tensor and the log has it at hand."""
    writer = recording.writer
    rows = () if writer is None or record[ROW] < writer.low else writer.inputs_of(record[ROW])
    return rows if len(rows) == len(record[PLAN].op.vjps) else ()


def _as_tensor(record: Record, name: str, value: Any, targets: dict[int, Any], rows: tuple[int, ...]) -> Any:
    """A saved value as the tensor that it was, with its place in the graph."""
    if name == "residuals":
        return tuple(_placed(part, None) for part in value) if isinstance(value, tuple) else _placed(value, None)
    if isinstance(value, tuple):
        return tuple(
            _placed(part, slots.slot_record(record, number) if name == "out" else targets.get(number))
            for number, part in enumerate(value)
        )
    if not isinstance(value, np.ndarray | np.generic):
        return value
    if name == "out":
        return _placed(value, _result(record))
    index = INPUT_NAMES.index(name)
    found = _placed(value, targets.get(index))
    if found.row < 0 and index < len(rows):
        found.row = rows[index]
    return found


def _result(record: Record) -> Record:
    """Where the result of a node stands in the graph; of a write through a view, at the view as long as it is one."""
    reference, version = (record[ATTRS] or {}).get(WRITTEN, (None, 0))
    view = reference and reference()
    return record if view is None or view.version != version or view.node is None else view.node


def _placed(value: Any, source: Any) -> Any:
    """An array as a tensor that came from `source`: a record, a leaf, or nothing that requires grad."""
    if not isinstance(value, np.ndarray | np.generic) or (
        isinstance(source, Tensor) and (source.array is value or writes.stands_for(source.array, value))
    ):
        return source if isinstance(source, Tensor) else value
    tensor = Tensor(value)
    if source.__class__ is list and value.dtype.kind in "fc":
        tensor.node = source
        tensor.row = slots.row_of(source)
    return tensor
