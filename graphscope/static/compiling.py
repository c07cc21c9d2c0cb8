"""Compiling: a traced function as plans, forward and backward planned together.

Where gradients are wanted, one graph computes results and gradients; passes see it whole. It is then cut: what waits
for the cotangents is the backward plan, what it takes from before is what the forward plan keeps for it. A function
that gives its value and gradients at once (`value_and_grad`) needs no cut.

While somebody records, or stands at a breakpoint, the graph runs node by node instead, so that all is seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from graphscope.engine import modes
from graphscope.engine.function import Function
from graphscope.engine.tensor import Tensor
from graphscope.errors import StaticError
from graphscope.eventlog import record
from graphscope.static import interpreter
from graphscope.static.control import copied
from graphscope.static.gradients import gradients
from graphscope.static.graph import Graph, Value, copy
from graphscope.static.passes import ORDER, optimise
from graphscope.static.plan import Plan
from graphscope.static.tracing import Trace, Traced


def _machine(graph: Graph) -> Plan:
    from graphscope.static.machine.plan import MachinePlan

    return MachinePlan(graph)


BACKENDS: Final[dict[str, Callable[[Graph], Plan]]] = {"numpy": Plan, "machine": _machine}
"""What makes a plan of a graph: a flat list of NumPy calls, or machine code (the extra `compile`)."""


def plan_of(graph: Graph, backend: str, order: Sequence[str] = ORDER) -> Plan:
    """Optimise a graph and plan it.

    Raises:
        StaticError: There is no such backend, or it is not installed.
    """
    if backend not in BACKENDS:
        raise StaticError(f"there is no backend {backend!r}", hint=f"choose one of {', '.join(BACKENDS)}")
    steps = optimise(graph, order)
    return BACKENDS[backend](steps[-1][1] if steps else graph)


class Compiled(Traced):
    """A function that runs plans of its graph; see `compile`."""

    def __init__(self, function: Callable[..., Any], on_change: str = "retrace", backend: str = "numpy") -> None:
        super().__init__(function, on_change)
        self.backend = backend
        self._forward: dict[int, Plan] = {}
        self._both: dict[int, _Pair] = {}

    def plan(self, trace: Trace | None = None) -> Plan:
        """The forward plan of a trace (by default of the newest)."""
        trace = trace or self.traces[-1]
        if id(trace) not in self._forward:
            self._forward[id(trace)] = plan_of(trace.graph, self.backend)
        return self._forward[id(trace)]

    def _run(self, trace: Trace, tensors: Sequence[Tensor]) -> Sequence[Any]:
        if record.writer is not None:
            return interpreter.run(trace.graph, tensors)
        variables = [node.attributes["tensor"] for node in trace.graph.nodes if node.op == "variable"]
        wanted = modes.is_grad_enabled() and any(tensor.requires_grad for tensor in (*tensors, *variables))
        if not wanted:
            return [Tensor(array) for array in self.plan(trace).run([tensor.array for tensor in tensors])]
        if id(trace) not in self._both:
            self._both[id(trace)] = _Pair(trace.graph, self.backend)
        return self._both[id(trace)](tensors)


class _Pair:
    """A forward and a backward plan that were optimised as one graph."""

    def __init__(self, graph: Graph, backend: str) -> None:
        joint, _ = copied(graph, graph.name)
        self.variables = [node for node in joint.nodes if node.op == "variable"]
        ys = [value for value in joint.outputs if value.dtype is None or value.dtype.kind in "fc"]
        self.floating = [value in ys for value in joint.outputs]
        gs = [joint.input(f"grad_{value.node.name}", value.shape, value.dtype) for value in ys]
        xs = [*joint.inputs[: len(graph.inputs)], *(node.outputs[0] for node in self.variables)]
        found = gradients(joint, ys, xs, gs)
        self.reached = [value is not None for value in found]
        self.tensors = [node.attributes["tensor"] for node in self.variables]
        count = len(joint.outputs)
        joint.outputs = [*joint.outputs, *(value for value in found if value is not None)]
        # What is joined has to be on one side of the cut, so that is left for when it is made.
        best = optimise(joint, [name for name in ORDER if name != "batch"])[-1][1]
        forward, backward, self.kept = cut(best, best.inputs[len(graph.inputs) :], count)
        self.count = count
        self.forward, self.backward = plan_of(forward, backend), plan_of(backward, backend)
        self.inputs = len(graph.inputs)

    def __call__(self, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
        found = _Planned.apply(self, *tensors, *self.tensors)
        return list(found) if isinstance(found, tuple) else [found]


class _Planned(Function):
    """A call of a compiled function, as a node of the engine's graph."""

    @staticmethod
    def forward(ctx: Any, pair: _Pair, *tensors: Tensor) -> Any:
        arrays = pair.forward.run([tensor.array for tensor in tensors[: pair.inputs]])
        ctx.pair = pair
        ctx.kept = arrays[pair.count :]
        ctx.given = [tensor.array for tensor in tensors[: pair.inputs]]
        outs = tuple(Tensor(array) for array in arrays[: pair.count])
        ctx.mark_non_differentiable(*(out for out, floating in zip(outs, pair.floating, strict=True) if not floating))
        return outs

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> Any:
        pair = ctx.pair
        cotangents = [
            np.asarray(g.array) for g, floating in zip(gs, pair.floating, strict=True) if floating and g is not None
        ]
        found = iter(pair.backward.run([*ctx.given, *cotangents, *ctx.kept]))
        return None, *(Tensor(next(found)) if reached else None for reached in pair.reached)


def cut(joint: Graph, late: Sequence[Value], count: int) -> tuple[Graph, Graph, list[Value]]:
    """Two graphs of one: what can run before some inputs are there, and what waits for them.

    Args:
        joint: The graph.
        late: The inputs that come later.
        count: How many of its outputs belong to the first.

    Returns:
        The first graph, which also gives what the second needs; the second, which takes all inputs and then that; and
        what it needs.
    """
    waits = set(late)
    for node in joint.nodes:
        if any(value in waits for value in node.values):
            waits.update(node.outputs)
    needed: dict[Value, None] = {}
    sources = ("input", "constant", "variable")
    for node in joint.nodes:
        if any(value in waits for value in node.outputs):
            needed.update(dict.fromkeys(v for v in node.values if v not in waits and v.node.op not in sources))
    for value in joint.outputs[count:]:
        if value not in waits and value.node.op not in sources:
            needed[value] = None
    kept = list(needed)
    first = _part(joint, [v for v in joint.inputs if v not in set(late)], [*joint.outputs[:count], *kept], waits, {})
    second = _part(joint, joint.inputs, joint.outputs[count:], None, needed)
    return first, second, kept


def _part(joint: Graph, inputs: Sequence[Value], outputs: Sequence[Value], without: Any, given: Any) -> Graph:
    part = Graph(joint.name)
    places: dict[Value, Value] = {}
    for value in inputs:
        places[value] = part.input(value.node.name, value.shape, value.dtype)
    for value in given:
        places[value] = part.input(value.node.name, value.shape, value.dtype)
    for node in joint.nodes:
        if node.outputs and all(value in places for value in node.outputs):
            continue
        if node.op == "input" or (
            without is not None and any(value in without for value in (*node.outputs, *node.values))
        ):
            continue
        if any(value not in places for value in node.values) or (without is None and not node.outputs):
            continue
        made = copy(part, node, [places[v] if isinstance(v, Value) else v for v in node.inputs])
        for old, new in zip(node.outputs, made.outputs, strict=True):
            places.setdefault(old, new)
    part.outputs = [places[value] for value in outputs]
    return optimise(part, ["prune"])[-1][1]


def compile(
    function: Callable[..., Any], *examples: Any, backend: str = "numpy", on_change: str = "retrace"
) -> Compiled:
    """Trace a function, optimise its graph and plan it; the result is called and differentiated like the function.

    Args:
        function: As for `trace`.
        *examples: Its arguments.
        backend: `numpy`, or `machine` for machine code (the extra `compile`).
        on_change: As for `trace`.

    Raises:
        StaticError: As `trace`; or there is no such backend.
    """
    given = examples[0] if len(examples) == 1 and isinstance(examples[0], tuple) else examples
    compiled = Compiled(function, on_change, backend)
    compiled.plan(compiled.add(*given))
    return compiled


class ValueAndGrad:
    """A function that gives a loss and its gradients at once, from one plan; see `value_and_grad`.

    Attributes:
        graph: What was traced, with the gradients.
        plan: What runs; `plan.run` takes and gives arrays.
    """

    def __init__(self, function: Callable[..., Any], examples: tuple[Any, ...], argnums: Sequence[int], backend: str):
        trace = Trace(function, examples, {})
        if len(trace.graph.outputs) != 1 or trace.graph.outputs[0].shape != ():
            raise StaticError(f"{trace.graph.name!r} does not give a single number", hint="return the loss alone")
        self.graph, _ = copied(trace.graph, trace.graph.name)
        xs = [self.graph.inputs[place] for place in argnums]
        found = gradients(self.graph, self.graph.outputs, xs)
        self.graph.outputs += [
            self.graph.add("zeros_like", (x,)) if gradient is None else gradient
            for x, gradient in zip(xs, found, strict=True)
        ]
        self.plan = plan_of(self.graph, backend)

    def __call__(self, *tensors: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        """The loss, and the gradient by each of `argnums`."""
        if record.writer is not None:
            with modes.grad_mode(False):
                value, *found = interpreter.run(self.graph, tensors)
            return value, tuple(found)
        value, *found = [Tensor(array) for array in self.plan.run([tensor.array for tensor in tensors])]
        return value, tuple(found)


def value_and_grad(
    function: Callable[..., Any], *examples: Tensor, argnums: int | Sequence[int] = 0, backend: str = "numpy"
) -> ValueAndGrad:
    """A function of tensors that gives a number, as one that gives the number and its gradients, in one plan.

    Args:
        function: Gives a tensor of one element.
        *examples: Its arguments: tensors of the shapes that it will be called with.
        argnums: By which arguments to differentiate.
        backend: `numpy`, or `machine` for machine code.

    Raises:
        StaticError: As `trace`; or it does not give a number.
    """
    places = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    return ValueAndGrad(function, examples, places, backend)
