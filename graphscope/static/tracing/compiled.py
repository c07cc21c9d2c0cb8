"""Traced functions as plans, forward and backward planned together."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from graphscope.engine.core import modes
from graphscope.engine.core.custom_function import Function
from graphscope.engine.core.op import OPS
from graphscope.engine.core.tensor import Tensor
from graphscope.errors import StaticError
from graphscope.eventlog import record
from graphscope.static.graphs import interpreter
from graphscope.static.graphs.differentiation import gradients
from graphscope.static.graphs.graph import Graph, Node, Value
from graphscope.static.graphs.node_kinds import is_pure
from graphscope.static.graphs.rewriting import copied, copy
from graphscope.static.passes import ORDER, ORDERS, optimise
from graphscope.static.plans.plan import Plan
from graphscope.static.tracing.trace import Trace, Traced

# Where gradients are wanted, one graph computes results and gradients; passes see it whole. It is then cut: what waits
# for the cotangents is the backward plan, what it takes from before is what the forward plan keeps for it. A function
# that gives its value and gradients at once (`value_and_grad`) needs no cut.
#
# While somebody records, or stands at a breakpoint, the graph runs node by node instead, so that all is seen.


def _machine(graph: Graph) -> Plan:
    from graphscope.static.machine.machine_plan import MachinePlan

    return MachinePlan(graph)


BACKENDS: Final[dict[str, Callable[[Graph], Plan]]] = {"numpy": Plan, "machine": _machine}
"""What makes a plan of a graph: a flat list of NumPy calls, or machine code (the extra `compile`)."""


def plan_of(graph: Graph, backend: str) -> Plan:
    """Optimise a graph and plan it.

    Raises:
        StaticError: There is no such backend, or it is not installed.
    """
    if backend not in BACKENDS:
        raise StaticError(f"there is no backend {backend!r}", hint=f"choose one of {', '.join(BACKENDS)}")
    return BACKENDS[backend](optimise(graph, ORDERS[backend])[-1][1])


class Compiled(Traced):
    """A function that runs plans of its graph; see `compile`."""

    def __init__(self, function: Callable[..., Any], on_change: str = "retrace", backend: str = "numpy") -> None:
        super().__init__(function, on_change)
        self.backend = backend
        self._forward: dict[int, Plan] = {}
        self._both: dict[tuple[int, tuple[bool, ...]], _Pair] = {}

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
        wanted = tuple([modes.is_grad_enabled() and tensor.requires_grad for tensor in (*tensors, *variables)])
        if True not in wanted:
            return [Tensor(array) for array in self.plan(trace).run([tensor.array for tensor in tensors])]
        key = id(trace), wanted
        if key not in self._both:
            self._both[key] = _Pair(trace.graph, self.backend, wanted)
        return self._both[key](tensors)


class _Pair:
    """A forward and a backward plan that were optimised as one graph.

    Args:
        graph: What was traced.
        backend: What makes plans.
        wanted: For each input and each variable whether its gradient is.
    """

    def __init__(self, graph: Graph, backend: str, wanted: Sequence[bool]) -> None:
        joint, _ = copied(graph, graph.name)
        self.variables = [node for node in joint.nodes if node.op == "variable"]
        ys = [value for value in joint.outputs if value.dtype is None or value.dtype.kind in "fc"]
        self.floating = [value in ys for value in joint.outputs]
        gs = [joint.input(f"grad_{value.node.name}", value.shape, value.dtype) for value in ys]
        # Cotangents are new at each call; where they always lie at the same place, the plan need not look at others.
        self.rooms = [_room(g) for g in gs]
        xs = [*joint.inputs[: len(graph.inputs)], *(node.outputs[0] for node in self.variables)]
        told = iter(gradients(joint, ys, [x for x, want in zip(xs, wanted, strict=True) if want], gs))
        found = [next(told) if want else None for want in wanted]
        self.reached = [value is not None for value in found]
        self.tensors = [node.attributes["tensor"] for node in self.variables]
        count = len(joint.outputs)
        joint.outputs = [*joint.outputs, *(value for value in found if value is not None)]
        # What is joined has to be on one side of the cut, so that is left for when it is made.
        best = optimise(joint, [name for name in ORDER if name != "batch"])[-1][1]
        forward, backward, self.kept = cut(best, best.inputs[len(graph.inputs) :], count, recompute=_is_cheap(graph))
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
        for place, room in enumerate(pair.rooms):
            if room is not None:
                room[...] = cotangents[place]
                cotangents[place] = room
        found = iter(pair.backward.run([*ctx.given, *cotangents, *ctx.kept]))
        return None, *(Tensor(next(found)) if reached else None for reached in pair.reached)


_SMALL: Final = 1 << 10
"""Elements that are copied faster than a plan looks at another array."""


def _elements(value: Value) -> float:
    """How many there are; infinitely many where that is not known."""
    shape: Any = value.shape
    return math.inf if shape is None or None in shape else math.prod(shape)


def _room(value: Value) -> Any:
    """An array for something small."""
    shape: Any = value.shape
    return np.empty(shape, value.dtype) if value.dtype is not None and _elements(value) <= _SMALL else None


_CHEAP: Final = 1 << 18
"""So many operations take less time than it takes to hand what they made from one plan to another."""
_DEAR: Final = frozenset({"conv1d", "conv2d", "conv3d", "py_func"})


def _is_cheap(graph: Graph) -> bool:
    """Whether to run a graph twice costs little, and gives the same."""
    total = 0.0
    for node in graph.nodes:
        known = node.op in ("input", "constant", "variable", "guard") or (is_pure(node) and not node.bodies)
        if not known or node.op in _DEAR:
            return False
        terms = (node.inputs[0].shape or (1,))[-1] or math.inf if node.op == "matmul" else 1
        total += terms * sum(map(_elements, node.outputs))
    return total <= _CHEAP


def cut(joint: Graph, later: Sequence[Value], count: int, recompute: bool) -> tuple[Graph, Graph, list[Value]]:
    """Two graphs of one: what can run before some inputs are there, and what waits for them.

    Args:
        joint: The graph.
        later: The inputs that come later.
        count: How many of its outputs belong to the first.
        recompute: Whether the second computes again what it needs of the first.

    Returns:
        The first graph, which also gives what the second needs; the second, which takes all inputs and then that; and
        what it needs.
    """
    waits = set(later)
    for node in joint.nodes:
        if any(value in waits for value in node.values):
            waits.update(node.outputs)
    needed: dict[Value, None] = {}
    sources = ("input", "constant", "variable")
    taken = [v for node in joint.nodes if any(value in waits for value in node.outputs) for v in node.values]
    for value in (*taken, *joint.outputs[count:]):
        if value not in waits:
            while _is_view(value.node):
                value = next(value.node.values)  # a view is made again: it costs nothing, and a copy does
            if value.node.op not in sources:
                needed[value] = None
    if recompute:
        needed.clear()
    kept = list(needed)
    first = _part(joint, [v for v in joint.inputs if v not in set(later)], [*joint.outputs[:count], *kept], waits, {})
    second = _part(joint, joint.inputs, joint.outputs[count:], None, needed)
    return first, second, kept


def _is_view(node: Node) -> bool:
    op = OPS.get(node.op)
    return op is not None and op.view and not op.several and len(list(node.values)) == 1


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
        forward: What was traced.
        argnums: By which arguments it is differentiated.
        graph: What was traced, with the gradients.
        plan: What runs; `plan.run` takes and gives arrays.
    """

    def __init__(self, function: Callable[..., Any], examples: tuple[Any, ...], argnums: Sequence[int], backend: str):
        trace = Trace(function, examples, {})
        if len(trace.graph.outputs) != 1 or trace.graph.outputs[0].shape != ():
            raise StaticError(f"{trace.graph.name!r} does not give a single number", hint="return the loss alone")
        self.forward, self.argnums = trace.graph, tuple(argnums)
        self.graph, _ = copied(trace.graph, trace.graph.name)
        xs = [self.graph.inputs[place] for place in argnums]
        found = gradients(self.graph, self.graph.outputs, xs)
        self.graph.outputs += [
            self.graph.add("zeros_like", (x,)) if gradient is None else gradient
            for x, gradient in zip(xs, found, strict=True)
        ]
        self.plan = plan_of(self.graph, backend)

    def __call__(self, *tensors: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        """The loss, and the gradient by each of `argnums`.

        Raises:
            StaticError: These are not as many tensors as it was traced with, or of other types.
        """
        wrong = next((each for each in tensors if not isinstance(each, Tensor)), None)
        if len(tensors) != len(self.graph.inputs) or wrong is not None:
            given = f"{len(tensors)} arguments" if wrong is None else f"a {type(wrong).__name__}"
            raise StaticError(
                f"{self.graph.name!r} takes {len(self.graph.inputs)} tensors, and was given {given}",
                hint="call it with tensors of the types of the examples: tensor(...), from_numpy(...)",
            )
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
