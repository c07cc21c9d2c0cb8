"""The backward pass: the one place where a VJP runs, where cotangents meet, and where broadcasting is undone."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np

from graphscope.engine import tracing, writes
from graphscope.engine.modes import modes as mode
from graphscope.engine.op import INPUT_NAMES
from graphscope.engine.tensor import AccumulateGrad, ActiveRule, Node, Tensor
from graphscope.eventlog import record as recording
from graphscope.eventlog.gate import Replace, StepInto
from graphscope.eventlog.schema import SLOT_SHIFT, Flag, Kind, Pass
from graphscope.eventlog.writer import Writer

_ndarray = np.ndarray


class Cotangent:
    """What has arrived for one node so far, and from which rows of the log."""

    __slots__ = ("node", "origins", "owned", "parts", "value")

    def __init__(self, node: Any, value: Any, origin: int) -> None:
        self.node = node
        self.value = value
        self.origins = origin
        self.owned = False
        self.parts: list[int] | None = None


def unbroadcast(gradient: Any, shape: tuple[int, ...]) -> Any:
    """Sum a gradient over the dims along which its input of `shape` was broadcast."""
    if gradient.shape == shape:
        return gradient
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
    due: dict[int, Cotangent] = {}
    heap: list[int] = []
    leaves: dict[int, Cotangent] = {}
    captured: dict[int, Any] = {}
    capture = {id(tensor.node): True for tensor in wanted if tensor.node is not None} if wanted else {}
    if writer is not None:
        _mark(writer, Kind.BACKWARD_BEGIN, frame, roots[0])
    for root, gradient in zip(roots, gradients, strict=True):
        if root.node is None:
            _arrive_at_leaf(leaves, root, gradient, True, writer, -1, 0)
        else:
            _arrive(due, heap, root.node, gradient, writer, -1)
    before = mode.grad_enabled
    mode.grad_enabled = create_graph
    tensors = create_graph
    row = -1
    try:
        while heap:
            cotangent = due.pop(-heappop(heap))
            node = cotangent.node
            gradient = cotangent.value
            saved = node.saved
            if saved is None:
                raise RuntimeError(_freed(node))
            if node.moment < writes.last:
                _check_untouched(node)
            if node.hooks is not None:
                gradient = _call_hooks(node.hooks, gradient, tensors)
            into = False
            if writer is not None:
                row, gradient, into = _record(writer, cotangent, gradient, frame)
                start = writer.clock()
            if node.retained is not None:
                _retain(node.retained, gradient)
            if capture and id(node) in capture:
                captured[id(node)] = gradient
            plan = node.plan
            if tensors or into:
                results = _on_tensors(node, gradient, row, unwrap=not tensors)
            elif plan.wants_attrs:
                results = [
                    rule.rule(gradient, *args, **{name: node.attrs[name] for name in rule.attrs})
                    for rule, args in zip(plan.rules, saved, strict=True)
                ]
            else:
                results = [rule.rule(gradient, *args) for rule, args in zip(plan.rules, saved, strict=False)]
            if writer is not None:
                writer.finish(row, writer.clock() - start)
            shapes = node.shapes
            if shapes is not None:
                results = [unbroadcast(result, shape) for result, shape in zip(results, shapes, strict=True)]
            for rule, target, result in zip(plan.rules, node.targets, results, strict=False):
                origin = row | rule.index << SLOT_SHIFT if row >= 0 else -1
                if target.__class__ is Node:
                    moment = target.moment
                    other = due.get(moment)
                    if other is None:
                        due[moment] = Cotangent(target, result, origin)
                        heappush(heap, -moment)
                    else:
                        _add(other, result, writer, origin)
                else:
                    _arrive_at_leaf(leaves, target, result, result is gradient, writer, origin, accumulate)
            if not retain_graph:
                node.saved = None
    finally:
        mode.grad_enabled = before
    for leaf in leaves.values():
        _settle(leaf, accumulate, create_graph)
    if writer is not None:
        _mark(writer, Kind.BACKWARD_END, frame, roots[0])
    if wanted is None:
        return []
    return [
        captured.get(id(tensor.node))
        if tensor.node is not None
        else leaves[id(tensor)].value
        if id(tensor) in leaves
        else None
        for tensor in wanted
    ]


def _arrive(due: dict[int, Cotangent], heap: list[int], node: Node, value: Any, writer: Any, origin: int) -> None:
    other = due.get(node.moment)
    if other is None:
        due[node.moment] = Cotangent(node, value, origin)
        heappush(heap, -node.moment)
    else:
        _add(other, value, writer, origin)


def _add(cotangent: Cotangent, value: Any, writer: Writer | None, origin: int) -> None:
    """Another contribution to a cotangent that has begun to arrive; each is a row of its own."""
    if writer is not None:
        node = cotangent.node
        if cotangent.parts is None:
            cotangent.parts = []
            _partial(writer, node, cotangent, cotangent.value, cotangent.origins)
        value = _partial(writer, node, cotangent, value, origin)
    _sum(cotangent, value)


def _sum(cotangent: Cotangent, value: Any) -> None:
    total = cotangent.value
    if cotangent.owned and total.__class__ is _ndarray:
        np.add(total, value, out=total)
    else:
        # The first to arrive may be shared with other nodes, so the second makes a sum of our own.
        cotangent.value = total + value
        cotangent.owned = cotangent.value.__class__ is _ndarray


def _partial(writer: Writer, node: Node, cotangent: Cotangent, value: Any, origin: int) -> Any:
    site = node.site
    data = value.data if value.__class__ is Tensor else value
    if site is None or node.row < writer.base:
        return value
    template = site.partial_template(writer)
    origins = (origin,) if origin >= 0 else ()
    row = writer.append(template, data, writer.clock(), 0, node.row, *origins)
    assert cotangent.parts is not None
    cotangent.parts.append(row)
    return value


def _arrive_at_leaf(
    leaves: dict[int, Cotangent], leaf: Any, value: Any, shared: bool, writer: Writer | None, origin: int, keep: Any
) -> None:
    known = leaves.get(id(leaf))
    if writer is not None and keep:
        value = _contribution(writer, leaf, value, origin, known is None and leaf.grad is None)
    if known is None:
        if value.__class__ is _ndarray and (shared or value.base is not None):
            value = value.copy()
        leaves[id(leaf)] = Cotangent(leaf, value, origin)
    else:
        _sum(known, value)


def _contribution(writer: Writer, leaf: Tensor, value: Any, origin: int, fresh: bool) -> Any:
    """The ACCUMULATE row of one contribution to a leaf's gradient; what a person puts in its place is returned."""
    data = value.data if value.__class__ is Tensor else value
    if leaf.row < writer.base:
        tracing.leaf(writer, leaf, recording.user_frame(2))
    held = leaf.accumulate_template
    if held is None or held[0] is not writer or held[1] is not data.dtype or held[2] != data.shape:
        flags = (Flag.FRESH, Flag(0))
        templates = [
            writer.template(
                Kind.ACCUMULATE,
                shape=data.shape,
                dtype=data.dtype,
                site=leaf.site,
                graph_pass=Pass.BACKWARD,
                input_count=1,
                flags=flag,
            )
            for flag in flags
        ]
        held = leaf.accumulate_template = (writer, data.dtype, data.shape, *templates)
    template = held[3] if fresh else held[4]
    row = writer.append(template, data, writer.clock(), 0, leaf.row, max(origin, 0))
    if writer.gate is not None:
        answer = tracing.pause(writer, row, data, recording.user_frame(2))
        if isinstance(answer, Replace):
            return answer.value
    return value


def _record(writer: Writer, cotangent: Cotangent, gradient: Any, frame: Any) -> tuple[int, Any, bool]:
    """The GRAD row of a node whose cotangent is whole; the row, the cotangent to go on with, and whether to step in."""
    node = cotangent.node
    site = node.site
    if site is None or node.row < writer.base:
        return -1, gradient, False  # made before the recording began
    data = gradient.data if gradient.__class__ is Tensor else gradient
    parts = cotangent.parts
    if parts is None:
        origin = cotangent.origins
        if origin >= 0:
            row = writer.append(site.grad_template(writer, 1), data, writer.clock(), 0, node.row, origin)
        else:
            row = writer.append(site.grad_template(writer, 0), data, writer.clock(), 0, node.row)
    elif len(parts) <= 3:
        row = writer.append(site.grad_template(writer, len(parts)), data, writer.clock(), 0, node.row, *parts)
    else:
        template = site.grad_template(writer, len(parts))
        edges = [(part, 0) for part in parts]
        row = writer.append_wide(template, [(data, template.keep)], edges, writer.clock(), 0, node.row)
    if writer.gate is not None:
        answer = tracing.pause(writer, row, data, frame)
        if isinstance(answer, Replace):
            return row, Tensor(answer.value) if gradient.__class__ is Tensor else answer.value, False
        return row, gradient, isinstance(answer, StepInto)
    return row, gradient, False


def _on_tensors(node: Node, gradient: Any, row: int, *, unwrap: bool) -> list[Any]:
    """Run a node's rules on tensors: under `create_graph`, and when a person steps into a rule."""
    if not isinstance(gradient, Tensor):
        gradient = Tensor(gradient)
    if gradient.row < 0 and row >= 0:
        gradient.row = gradient.identity = row
    targets = {rule.index: target for rule, target in zip(node.plan.rules, node.targets, strict=True)}
    before, mode.backward_row = mode.backward_row, max(row, 0)
    try:
        results = []
        for rule, args in zip(node.plan.rules, node.saved, strict=True):
            names = _spread(rule, len(args))
            given = [_as_tensor(node, name, value, targets) for name, value in zip(names, args, strict=True)]
            attrs = {name: (node.attrs or {})[name] for name in rule.attrs}
            results.append(rule.rule(gradient, *given, **attrs))
    finally:
        mode.backward_row = before
    return [result.data for result in results] if unwrap else results


def _spread(rule: ActiveRule, count: int) -> Sequence[str]:
    return rule.needs if len(rule.needs) == count else INPUT_NAMES[:count]


def _as_tensor(node: Node, name: str, value: Any, targets: dict[int, Any]) -> Any:
    """A saved value as the tensor that it was, with its place in the graph."""
    if not isinstance(value, np.ndarray | np.generic):
        return value
    if name == "out":
        source: Any = node
    else:
        source = targets.get(INPUT_NAMES.index(name))
        if isinstance(source, Tensor) and source.data is value:
            return source
    tensor = Tensor(value)
    if isinstance(source, Node):
        tensor.node = source
        tensor.requires_grad = True
        tensor.row = tensor.identity = source.row
    return tensor


def _settle(cotangent: Cotangent, accumulate: bool, create_graph: bool) -> None:
    """Give a leaf its gradient, once all of it has arrived."""
    leaf: Tensor = cotangent.node
    value = cotangent.value
    if leaf.hooks:
        value = cotangent.value = _call_hooks(leaf.hooks, value, create_graph)
    if not accumulate:
        return
    if leaf.grad is None:
        leaf.grad = value if isinstance(value, Tensor) else Tensor(value)
    elif create_graph:
        leaf.grad = leaf.grad + value  # type: ignore[operator]
    elif leaf.grad.data.__class__ is _ndarray:
        np.add(leaf.grad.data, value, out=leaf.grad.data)
    else:
        leaf.grad.data = leaf.grad.data + value


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
    key = (kind, id(frame.f_code), frame.f_lasti) if frame is not None else kind
    template = writer.sites.get(key)
    if template is None:
        site = tracing.site_number(writer, frame) if frame is not None else 0
        template = writer.template(kind, site=site, graph_pass=Pass.BACKWARD, input_count=1)
        writer.sites[key] = template
    writer.append(template, None, writer.clock(), 0, 0, max(root.row, writer.base))


def _check_untouched(node: Node) -> None:
    for rule, args in zip(node.plan.rules, node.saved, strict=False):
        for name, value in zip(_spread(rule, len(args)), args, strict=False):
            what = writes.since(value, node.moment) if isinstance(value, np.ndarray | np.generic) else None
            if what is not None:
                raise RuntimeError(
                    f"one of the variables needed for gradient computation has been modified by an inplace operation: "
                    f"{node.plan.op.name} had saved {_saved_name(name)} of shape {tuple(value.shape)}, and {what} wrote "
                    f"into it before backward. Use the op without the underscore, or clone() the tensor first."
                )


def _saved_name(name: str) -> str:
    return "its output" if name == "out" else f"its input {name}"


def _freed(node: Node) -> str:
    return (
        f"Trying to backward through the graph a second time: what {node.plan.op.name} had saved was freed by the "
        "first backward. Pass retain_graph=True to the first one, or compute the loss again."
    )


__all__ = ["AccumulateGrad", "run_backward", "unbroadcast"]
