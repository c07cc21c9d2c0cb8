"""Graphs as steps on arrays: views, calls into planned memory, and calls that make memory of their own."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

import graphscope.static.plans.classifier_calls  # noqa: F401 - its ops are added to the table of calls
from graphscope.engine.core import dtypes
from graphscope.engine.core.op import OPS
from graphscope.engine.core.tensor import Tensor
from graphscope.static.graphs.differentiation import vjp_function
from graphscope.static.graphs.graph import Graph, Node, Value
from graphscope.static.graphs.node_kinds import KINDS, is_several
from graphscope.static.plans.numpy_calls import Call, call_for

# A value is `bound` when it looks at what a run is given, `fixed` when its memory is planned ahead, and `fresh` when
# each run makes it anew (what a run gives, and what comes of functions that make their own results).

SOURCES: Final = frozenset({"input", "variable", "constant"})


@dataclass(eq=False)
class Step:
    """One call on arrays.

    Attributes:
        node: Whose it is.
        function: On arrays and numbers; or the name of a method of the first.
        view: Whether it only looks at the memory of its first input.
        into: Whether it can compute into memory that is there.
        elementwise: Whether it may write over an input that nothing needs any more.
        several: Whether it gives a sequence.
    """

    node: Node
    function: Callable[..., Any] | str
    view: bool = False
    into: bool = False
    elementwise: bool = False
    several: bool = False
    call: Call | None = None
    inputs: tuple[Any, ...] = ()


@dataclass(eq=False)
class Lowered:
    """A graph as steps."""

    graph: Graph
    steps: list[Step] = field(default_factory=list)
    roots: dict[Value, Value] = field(default_factory=dict)
    """For each value the one whose memory it looks at: itself where it has its own."""
    fresh: set[Value] = field(default_factory=set)
    bound: set[Value] = field(default_factory=set)
    samples: dict[Value, Any] = field(default_factory=dict)
    """Arrays as they will be laid out, by which one knows what is a view."""
    made: dict[Value, list[Step]] = field(default_factory=dict)
    users: dict[Value, list[Step]] = field(default_factory=dict)
    graph_outputs: set[Value] = field(default_factory=set)


def lower(graph: Graph, fixed: bool = True) -> Lowered:
    """The steps of a graph all of whose shapes are known (of others, every value is fresh).

    Args:
        graph: An optimised graph.
        fixed: Whether memory is planned ahead at all.
    """
    lowered = Lowered(graph)
    escaping = set(graph.outputs)
    for node in graph.nodes:
        if node.op in SOURCES:
            value = node.outputs[0]
            lowered.roots[value] = value
            if node.op != "constant":
                lowered.bound.add(value)
            lowered.samples[value] = _sample(node)
            continue
        step = _step(lowered, node)
        lowered.steps.append(step)
        _place(lowered, step, fixed, escaping)
        for value in node.outputs:
            lowered.made[value] = [step]
        for value in node.values:
            lowered.users.setdefault(value, []).append(step)
    lowered.graph_outputs = escaping
    return lowered


def _sample(node: Node) -> Any:
    value = node.outputs[0]
    if node.op == "constant":
        array = np.asarray(node.attributes["value"])
        return array if array.flags.c_contiguous else np.ascontiguousarray(array)
    if node.op == "variable":
        return np.asarray(node.attributes["tensor"].array)
    return _empty(value)


def _empty(value: Value) -> Any:
    if value.shape is None or None in value.shape or value.dtype is None:
        return None
    return np.empty(value.shape, value.dtype)


def _step(lowered: Lowered, node: Node) -> Step:
    inputs = node.inputs
    while inputs and inputs[-1] is None and node.op in OPS:
        inputs = inputs[:-1]
    if node.op in OPS and OPS[node.op].view and not OPS[node.op].several:
        function = functools.partial(OPS[node.op].forward, **node.attributes)
        if _is_view(lowered, node, function):
            return Step(node, function, view=True, inputs=inputs)
    call = call_for(node)
    if call is not None:
        given = call.inputs or inputs
        return Step(node, call.fresh, into=True, elementwise=call.elementwise, call=call, inputs=given)
    several = len(node.outputs) != 1 or is_several(node.op)
    own = array_function(node)
    parts = several and node.op in OPS and OPS[node.op].view  # see `_parts`
    return Step(node, own if parts else _with_memory_of_its_own(own), several=several, inputs=inputs)


def _with_memory_of_its_own(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function; where it gives what it was given, or looks at that, a copy: what it was given is written again."""

    def apart(found: Any, given: Sequence[Any]) -> Any:
        if isinstance(found, np.ndarray) and (found.base is not None or any(found is value for value in given)):
            known = any(isinstance(value, np.ndarray) and np.may_share_memory(found, value) for value in given)
            return found.copy() if known else found
        return found

    def call(*given: Any) -> Any:
        found = function(*given)
        return [apart(each, given) for each in found] if isinstance(found, list | tuple) else apart(found, given)

    return call


def _is_view(lowered: Lowered, node: Node, function: Callable[..., Any]) -> bool:
    (source,) = node.inputs[:1]
    sample = lowered.samples.get(source)
    if sample is None or len(node.inputs) > 1:
        return False
    found = function(sample)
    if not isinstance(found, np.ndarray) or not (found is sample or np.may_share_memory(found, sample)):
        return False
    lowered.samples[node.outputs[0]] = found
    return True


def _place(lowered: Lowered, step: Step, fixed: bool, escaping: set[Value]) -> None:
    if step.view:
        source, value = step.inputs[0], step.node.outputs[0]
        lowered.roots[value] = lowered.roots[source]
        if source in lowered.bound:
            lowered.bound.add(value)
        elif source in lowered.fresh:
            lowered.fresh.add(value)
        return
    if (parts := _parts(lowered, step)) is not None:
        for value, part in zip(step.node.outputs, parts, strict=True):
            lowered.roots[value] = lowered.roots[step.inputs[0]]
            lowered.samples[value] = part
            lowered.fresh.add(value)
        return
    for value in step.node.outputs:
        lowered.roots[value] = value
        lowered.samples[value] = sample = _empty(value)
        if not (step.into and fixed and sample is not None and value not in escaping):
            lowered.fresh.add(value)


def _parts(lowered: Lowered, step: Step) -> Sequence[Any] | None:
    """Samples of what a step gives, if all of it looks at the memory of its first input, as `unbind` does."""
    if not (step.several and step.node.op in OPS and OPS[step.node.op].view):
        return None
    sample = lowered.samples.get(step.inputs[0])
    if sample is None:
        return None
    found: Sequence[Any] = step.function(sample)  # type: ignore[operator]
    return found if all(np.may_share_memory(each, sample) for each in found) else None


def array_function(node: Node) -> Callable[..., Any]:
    """What a node computes, on arrays: of an op its forward function, operands of one dtype."""
    if node.op == "vjp":
        return vjp_function(node)
    if node.op in KINDS:
        run, single = KINDS[node.op].run, not is_several(node.op)

        def of_kind(*arrays: Any) -> Any:
            given = [Tensor(value) if isinstance(value, np.ndarray | np.generic) else value for value in arrays]
            found = [value.array if isinstance(value, Tensor) else value for value in run(node, given)]
            return found[0] if single else found

        return of_kind
    op = OPS[node.op]
    attrs = node.attributes
    forward = op.forward
    if op.floating and node.inputs[0].dtype.kind not in "fc":
        forward = dtypes.in_floating(forward)
    if op.in_place:
        return lambda x, *others: _written(op, x, others, attrs)
    known = {value.dtype for value in node.values}
    mixed = len(known) > 1 or (any(not isinstance(v, Value) for v in node.inputs) and not _all_floating(known))
    residuals, several = op.residuals, op.several

    def of_op(*arrays: Any) -> Any:
        if mixed or not op.takes_bool:
            arrays = tuple(dtypes.promoted(op, arrays))
        found = forward(*arrays, **attrs)
        found = found[0] if residuals else found
        return tuple(found) if several else found

    return of_op


def _all_floating(known: set[Any]) -> bool:
    return all(dtype is not None and dtype.kind == "f" for dtype in known)


def _written(op: Any, x: Any, others: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """What a write in place makes of a copy."""
    if not np.ndim(x):
        return np.asarray(op.forward(x, *others, **attrs)).astype(x.dtype)[()]
    out = np.array(x)
    op.forward(out, *others, out=out, **attrs)
    return out


def nbytes(value: Value) -> int:
    """How much room a value takes."""
    assert value.shape is not None
    assert value.dtype is not None
    return math.prod(value.shape) * value.dtype.itemsize  # type: ignore[arg-type]
