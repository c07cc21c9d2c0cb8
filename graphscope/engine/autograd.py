"""The backward pass: the one place where a VJP runs, where cotangents meet, and where broadcasting is undone."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from heapq import heappop, heappush, heappushpop
from typing import Any

import numpy as np

from graphscope.engine import tracing, writes
from graphscope.engine.modes import Context
from graphscope.engine.modes import modes as mode
from graphscope.engine.op import INPUT_NAMES
from graphscope.engine.node import ATTRS, FREED, MOMENT, PLAN, ROW, SAVED, SITE, ActiveRule, Record
from graphscope.engine.tensor import Tensor
from graphscope.eventlog import record as recording
from graphscope.eventlog.gate import Replace, StepInto
from graphscope.eventlog.schema import SLOT_SHIFT, Flag, Kind, Pass
from graphscope.eventlog.writer import Writer

_ndarray = np.ndarray


NODE, VALUE, ORIGIN, PARTS, OWNED = range(5)
"""Places in an arrival, a plain list: the record or leaf that gradients go to, what has arrived so far (summed), the row
and slot that the first came from, the rows of the contributions when there are several, whether the sum is our own."""

Arrival = list[Any]


def unbroadcast(gradient: Any, shape: tuple[int, ...]) -> Any:
    """Sum a gradient over the dims along which its input of `shape` was broadcast.

    The other way round, the gradient of a full reduction is a single element, and every element of the input gets it.
    """
    if gradient.shape == shape:
        return gradient
    if gradient.shape == ():
        if isinstance(gradient, Tensor):
            return gradient.expand(shape)  # type: ignore[attr-defined]
        out = np.empty(shape, gradient.dtype)
        out.fill(gradient)
        return out
    extra = len(gradient.shape) - len(shape)
    axes = tuple(range(extra)) + tuple(
        extra + axis for axis, length in enumerate(shape) if length == 1 and gradient.shape[extra + axis] != 1
    )
    if isinstance(gradient, Tensor):
        return gradient.sum(axes).reshape(shape) if axes else gradient.reshape(shape)  # type: ignore[attr-defined]
    return np.add.reduce(gradient, axis=axes).reshape(shape) if axes else np.reshape(gradient, shape)


def run_backward(
    roots: Sequence[Tensor],
    gradients: Sequence[Any],
    *,
    retain_graph: bool,
    create_graph: bool,
    wanted: Sequence[Tensor] | None = None,
    accumulate: bool = True,
) -> list[Any]:
    """Send cotangents from the roots back to the leaves.

    Nodes run in the reverse order of their making, which is a topological order; a heap holds those that are due, so
    nothing recurses however long the graph is.

    Args:
        roots: Where to start.
        gradients: Their cotangents: arrays, or tensors under `create_graph`.
        retain_graph: Keep what the rules saved, for another pass.
        create_graph: Run the rules on tensors, so that the gradients can be differentiated.
        wanted: Tensors whose gradients are returned.
        accumulate: Whether leaves keep what arrives in their `grad`.

    Returns:
        The gradients of `wanted` (None where nothing arrived).

    Raises:
        RuntimeError: The graph was freed, or a saved tensor was written in place.
    """
    writer = recording.writer
    frame: Any = recording.user_frame(2) if writer is not None else None
    due: dict[int, Arrival] = {}
    heap: list[int] = []
    leaves: dict[int, Arrival] = {}
    capture = {tensor.node[MOMENT]: None for tensor in wanted if tensor.node is not None} if wanted else {}
    captured: dict[int, Any] = {}
    if writer is not None:
        _mark(writer, Kind.BACKWARD_BEGIN, frame, roots[0])
    for root, gradient in zip(roots, gradients, strict=True):
        if root.node is None:
            _arrive_at_leaf(leaves, root, gradient, True, writer, -1, accumulate)
        elif root.node[MOMENT] in due:
            _add(due[root.node[MOMENT]], gradient, writer, -1)
        else:
            due[root.node[MOMENT]] = [root.node, gradient, -1, None, False]
            heappush(heap, -root.node[MOMENT])
    before = mode.grad_enabled
    mode.grad_enabled = tensors = create_graph
    into = False
    row = -1
    start = 0
    now = 0 if writer is None else writer.clock()
    waiting = heappop(heap) if heap else 0  # the next moment, negated: of a chain, it never enters the heap
    try:
        while waiting:
            arrival = due.pop(-waiting)
            record, gradient, _, _, _ = arrival
            plan, targets, saved, moment, shapes, attrs, _, _, hooks, retained = record
            if saved is FREED:
                raise RuntimeError(_freed(record))
            if moment < writes.last:
                _check_untouched(record)
            if hooks is not None:
                gradient = _call_hooks(hooks, gradient, tensors)
            if writer is not None:
                site = record[SITE]
                forward = record[ROW]
                if arrival[PARTS] is None and writer.gate is None and forward >= writer.base and arrival[ORIGIN] >= 0 and site.single is not None and not tensors:
                    row = writer.append(site.single, gradient, now, 0, forward, arrival[ORIGIN])
                else:
                    row, gradient, into = _record(writer, arrival, gradient, frame, now)
                start = writer.clock()
            if retained is not None:
                _retain(retained, gradient)
            if capture and moment in capture:
                captured[moment] = gradient
            if tensors or into:
                results = _on_tensors(record, gradient, row, unwrap=not tensors)
                targets = plan.targets(record)
            elif plan.single is not None:
                results = (plan.single(gradient) if plan.bare else plan.single(gradient, saved),)
                targets = (targets,)
            elif plan.pair is not None:
                first, second = plan.pair
                results = (first(gradient, *saved[0]), second(gradient, *saved[1]))
            elif plan.wants_attrs:
                results = [
                    rule.rule(gradient, *args, **{name: attrs[name] for name in rule.attrs})
                    for rule, args in zip(plan.rules, saved, strict=True)
                ]
            else:
                results = [rule.rule(gradient, *args) for rule, args in zip(plan.rules, saved, strict=True)]
            if writer is not None:
                now = writer.clock()
                if row >= 0:
                    writer.finish(row, now - start)
            if not retain_graph:
                record[SAVED] = FREED
            waiting = 0
            index = 0
            for target in targets:
                result = results[index]
                if shapes is not None and result.shape != shapes[index]:
                    result = unbroadcast(result, shapes[index])
                origin = row | plan.rules[index].index << SLOT_SHIFT if row >= 0 else -1
                index += 1
                if target.__class__ is list:
                    moment = target[MOMENT]
                    other = due.get(moment)
                    if other is not None:
                        _add(other, result, writer, origin)
                        continue
                    due[moment] = [target, result, origin, None, False]
                    if waiting:
                        heappush(heap, -moment)
                    else:
                        waiting = -moment
                    continue
                known = leaves.get(id(target))
                if known is not None and writer is None:
                    _sum(known, result)
                else:
                    _arrive_at_leaf(leaves, target, result, result is gradient, writer, origin, accumulate)
            if heap:
                waiting = heappushpop(heap, waiting) if waiting else heappop(heap)
    finally:
        mode.grad_enabled = before
    for leaf in leaves.values():
        _settle(leaf, accumulate, create_graph)
    if writer is not None:
        _mark(writer, Kind.BACKWARD_END, frame, roots[0])
    if wanted is None:
        return []
    nothing: Arrival = [None] * 5
    return [
        leaves.get(id(tensor), nothing)[VALUE] if tensor.node is None else captured.get(tensor.node[MOMENT])
        for tensor in wanted
    ]


def _add(arrival: Arrival, value: Any, writer: Writer | None, origin: int) -> None:
    """Another contribution to a cotangent that has begun to arrive; each is a row of its own."""
    if writer is not None:
        if arrival[PARTS] is None:
            arrival[PARTS] = []
            _partial(writer, arrival, arrival[VALUE], arrival[ORIGIN])
        _partial(writer, arrival, value, origin)
    _sum(arrival, value)


def _sum(arrival: Arrival, value: Any) -> None:
    total = arrival[VALUE]
    if arrival[OWNED] and total.__class__ is _ndarray:
        np.add(total, value, out=total)
    else:
        # The first to arrive may be shared with other nodes, so the second makes a sum of our own.
        arrival[VALUE] = total = total + value
        arrival[OWNED] = total.__class__ is _ndarray


def _partial(writer: Writer, arrival: Arrival, value: Any, origin: int) -> None:
    record = arrival[NODE]
    site = record[SITE]
    if site is None or record[ROW] < writer.base:
        return
    data = value.data if value.__class__ is Tensor else value
    template = site.partial_template(writer, origin >= 0)
    origins = (origin,) if origin >= 0 else ()
    arrival[PARTS].append(writer.append(template, data, writer.clock(), 0, record[ROW], *origins))


def _arrive_at_leaf(
    leaves: dict[int, Arrival], leaf: Any, value: Any, shared: bool, writer: Writer | None, origin: int, keep: bool
) -> None:
    known = leaves.get(id(leaf))
    row = -1
    if writer is not None and keep:
        value, row = _contribution(writer, leaf, value, origin, known is None and leaf.grad is None)
    if known is not None:
        known[ORIGIN] = -1
        _sum(known, value)
        return
    if value.__class__ is _ndarray and (shared or value.base is not None):
        value = value.copy()
    leaves[id(leaf)] = [leaf, value, row, None, False]  # of a leaf: the row of its gradient, while that is one row


def _contribution(writer: Writer, leaf: Tensor, value: Any, origin: int, fresh: bool) -> tuple[Any, int]:
    """One contribution to a leaf's gradient, or what a person puts in its place, and its ACCUMULATE row."""
    data = value.data if value.__class__ is Tensor else value
    if leaf.row < writer.base:
        tracing.leaf(writer, leaf, recording.user_frame(2))
    held = leaf.accumulate_template
    if held is None or held[0] is not writer or held[1] is not data.dtype or held[2] != data.shape:
        templates = [
            writer.template(
                Kind.ACCUMULATE,
                shape=data.shape,
                dtype=data.dtype,
                site=leaf.site,
                graph_pass=Pass.BACKWARD,
                input_count=int(origin >= 0),
                flags=flag,
            )
            for flag in (Flag(0), Flag.FRESH)
        ]
        held = leaf.accumulate_template = (writer, data.dtype, data.shape, *templates)
    row = writer.append(held[3 + fresh], data, writer.clock(), 0, leaf.row, max(origin, 0))
    if writer.gate is not None:
        answer = tracing.pause(writer, row, data, recording.user_frame(2))
        if isinstance(answer, Replace):
            return answer.value, row
    return value, row


def _record(writer: Writer, arrival: Arrival, gradient: Any, frame: Any, now: int) -> tuple[int, Any, bool]:
    """The GRAD row of a node whose cotangent is whole; the row, the cotangent to go on with, and whether to step in."""
    record, _, origin, parts, _ = arrival
    site = record[SITE]
    forward = record[ROW]
    if site is None or forward < writer.base:
        return -1, gradient, False  # made before the recording began
    data = gradient.data if gradient.__class__ is Tensor else gradient
    if parts is None:
        template = site.single if origin >= 0 else None
        if template is None or site.kind is not data.__class__:
            template = site.grad_template(writer, int(origin >= 0))
        row = writer.append(template, data, now, 0, forward, origin if origin >= 0 else 0)
    elif len(parts) <= 3:
        row = writer.append(site.grad_template(writer, len(parts)), data, now, 0, forward, *parts)
    else:
        template = site.grad_template(writer, len(parts))
        edges = [(part, 0) for part in parts]
        row = writer.append_wide(template, [(data, template.keep)], edges, now, 0, forward)
    if writer.gate is not None:
        answer = tracing.pause(writer, row, data, frame)
        if isinstance(answer, Replace):
            return row, Tensor(answer.value) if gradient.__class__ is Tensor else answer.value, False
        return row, gradient, isinstance(answer, StepInto)
    return row, gradient, False


def _on_tensors(record: Record, gradient: Any, row: int, *, unwrap: bool) -> list[Any]:
    """Run a node's rules on tensors: under `create_graph`, and when a person steps into a rule."""
    if not isinstance(gradient, Tensor):
        gradient = Tensor(gradient)
    if gradient.row < 0 and row >= 0:
        gradient.row = row
    plan = record[PLAN]
    targets = {rule.index: target for rule, target in zip(plan.rules, plan.targets(record), strict=True)}
    before = mode.context
    mode.context = Context(before.scope, max(row, 0))
    try:
        results = []
        for rule, args in zip(plan.rules, plan.arguments(record[SAVED]), strict=True):
            names = _spread(rule, len(args))
            given = [_as_tensor(record, name, value, targets) for name, value in zip(names, args, strict=True)]
            attrs = {name: record[ATTRS][name] for name in rule.attrs}
            results.append(rule.rule(gradient, *given, **attrs))
    finally:
        mode.context = before
    return [result.data for result in results] if unwrap else results


def _spread(rule: ActiveRule, count: int) -> Sequence[str]:
    return rule.needs if len(rule.needs) == count else INPUT_NAMES[:count]


def _as_tensor(record: Record, name: str, value: Any, targets: dict[int, Any]) -> Any:
    """A saved value as the tensor that it was, with its place in the graph."""
    if not isinstance(value, np.ndarray | np.generic):
        return value
    source: Any = record if name == "out" else targets.get(INPUT_NAMES.index(name))
    if isinstance(source, Tensor) and source.data is value:
        return source
    tensor = Tensor(value)
    if source.__class__ is list:
        tensor.node = source
        tensor.row = source[ROW]
    return tensor


def _settle(arrival: Arrival, accumulate: bool, create_graph: bool) -> None:
    """Give a leaf its gradient, once all of it has arrived."""
    leaf: Tensor = arrival[NODE]
    value = arrival[VALUE]
    if leaf.hooks:
        value = arrival[VALUE] = _call_hooks(leaf.hooks, value, create_graph)
    if not accumulate:
        return
    if leaf.grad is None and isinstance(value, Tensor):
        leaf.grad = value
    elif leaf.grad is None:
        leaf.grad = Tensor(value)
        if not leaf.hooks:
            leaf.grad.row = arrival[ORIGIN]
    elif create_graph:
        leaf.grad = leaf.grad + value  # type: ignore[operator]
    else:
        if leaf.grad.data.__class__ is _ndarray:
            np.add(leaf.grad.data, value, out=leaf.grad.data)
        else:
            leaf.grad.data = leaf.grad.data + value
        leaf.grad.row = -1  # a sum that no row holds: the log is told at its next use


def _call_hooks(hooks: list[Any], gradient: Any, tensors: bool) -> Any:
    for hook in list(hooks):
        given = gradient if isinstance(gradient, Tensor) else Tensor(gradient)
        answer = hook(given)
        if answer is not None:
            if answer.data.shape != given.data.shape:
                raise RuntimeError(
                    f"a hook returned a gradient of shape {answer.data.shape} for one of shape {given.data.shape}"
                )
            gradient = answer if tensors else answer.data
    return gradient


def _retain(reference: weakref.ref[Tensor], gradient: Any) -> None:
    tensor = reference()
    if tensor is None:
        return
    value = gradient if isinstance(gradient, Tensor) else Tensor(np.array(gradient)[()])
    tensor.grad = value if tensor.grad is None else tensor.grad + value  # type: ignore[operator]


def _mark(writer: Writer, kind: Kind, frame: Any, root: Tensor) -> None:
    key = id(frame.f_code) + frame.f_lasti + (kind << 56) if frame is not None else kind
    template = writer.sites.get(key)
    if template is None:
        site = tracing.site_number(writer, frame) if frame is not None else 0
        template = writer.template(kind, site=site, graph_pass=Pass.BACKWARD, input_count=1)
        writer.sites[key] = template
    writer.append(template, None, writer.clock(), 0, 0, max(root.row, writer.base))


def _check_untouched(record: Record) -> None:
    plan = record[PLAN]
    for rule, args in zip(plan.rules, plan.arguments(record[SAVED]), strict=True):
        for name, value in zip(_spread(rule, len(args)), args, strict=False):
            what = writes.since(value, record[MOMENT]) if isinstance(value, np.ndarray | np.generic) else None
            if what is not None:
                raise RuntimeError(
                    f"one of the variables needed for gradient computation has been modified by an inplace operation: "
                    f"{plan.op.name} had saved {_saved_name(name)} of shape {tuple(value.shape)}, and {what} wrote "
                    f"into it before backward. Use the op without the underscore, or clone() the tensor first."
                )


def _saved_name(name: str) -> str:
    return "its output" if name == "out" else f"its input {name}"


def _freed(record: Record) -> str:
    return (
        f"Trying to backward through the graph a second time: what {record[PLAN].op.name} had saved was freed by the "
        "first backward. Pass retain_graph=True to the first one, or compute the loss again."
    )
