"""Traced functions as plans, forward and backward planned together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from graphscope.engine.core import modes
from graphscope.engine.core.custom_function import Function
from graphscope.engine.core.tensor import Tensor
from graphscope.errors import StaticError
from graphscope.eventlog import record
from graphscope.static.graphs import interpreter
from graphscope.static.graphs.differentiation import gradients
from graphscope.static.graphs.graph import Graph, Value
from graphscope.static.graphs.node_kinds import is_pure
from graphscope.static.graphs.rewriting import copied
from graphscope.static.passes import ORDERS, optimise
from graphscope.static.passes.telling import tell
from graphscope.static.plans.plan import Plan
from graphscope.static.tracing.trace import Trace, Traced

# A function that gives its value and gradients at once (`value_and_grad`), or a single number, is one plan with its
# gradients; others have a plan for each way.
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
        self._both: dict[tuple[int, tuple[bool, ...]], _WithGradients] = {}

    def plan(self, trace: Trace | None = None) -> Plan:
        """The forward plan of a trace (by default of the newest)."""
        trace = trace or self.traces[-1]
        if id(trace) not in self._forward:
            self._forward[id(trace)] = plan_of(trace.graph, self.backend)
        return self._forward[id(trace)]

    def _run(self, trace: Trace, tensors: Sequence[Tensor]) -> Sequence[Any]:
        if record.writer is not None:
            tell(trace.graph, self.backend)
            return interpreter.run(trace.graph, tensors)
        held = [node.attributes["tensor"] for node in trace.graph.nodes if node.op == "variable"]
        wanted = tuple([modes.is_grad_enabled() and tensor.requires_grad for tensor in (*tensors, *held)])
        if True not in wanted:
            return [Tensor(array) for array in self.plan(trace).run([tensor.array for tensor in tensors])]
        if not _is_loss(trace.graph) and not _repeats(trace.graph):
            return interpreter.run(trace.graph, tensors)
        key = id(trace), wanted
        if key not in self._both:
            forward = None if _is_loss(trace.graph) else self.plan(trace)
            self._both[key] = _WithGradients(trace.graph, forward, self.backend, wanted)
        found = _Planned.apply(self._both[key], len(tensors), *tensors, *held)
        return list(found) if isinstance(found, tuple) else [found]


def differentiated(
    graph: Graph, places: Sequence[int], cotangents: bool = False
) -> tuple[Graph, list[Value], list[Value | None]]:
    """A copy of a graph with its gradients.

    Args:
        graph: The graph.
        places: By which of its inputs, and behind them of its variables, to differentiate.
        cotangents: Whether the copy takes cotangents of its outputs behind its inputs; else they are ones.

    Returns:
        The copy, by what it is differentiated, and for each of that the gradient, if it has one.
    """
    made, _ = copied(graph, graph.name)
    sources = [*made.inputs, *(node.outputs[0] for node in made.nodes if node.op == "variable")]
    xs = [sources[place] for place in places]
    ys = [value for value in made.outputs if value.flows]
    gs = [made.input(f"grad_{y.node.name}", y.shape, y.dtype) for y in ys] if cotangents else None
    return made, xs, gradients(made, ys, xs, gs)


class _WithGradients:
    """Plans of a graph and its gradients.

    One plan gives a loss and its gradients, which the way back multiplies by the cotangent. Of other graphs the plan of
    the way back computes again what it needs of the way there.

    Args:
        graph: What was traced.
        forward: The plan of its outputs; None for a loss.
        backend: What makes plans.
        wanted: For each input and each variable whether its gradient is.
    """

    def __init__(self, graph: Graph, forward: Plan | None, backend: str, wanted: Sequence[bool]) -> None:
        places = [place for place, want in enumerate(wanted) if want]
        both, _, found = differentiated(graph, places, cotangents=forward is not None)
        reached = {place for place, gradient in zip(places, found, strict=True) if gradient is not None}
        self.reached = [place in reached for place in range(len(wanted))]
        self.floating = [value.flows for value in graph.outputs]
        kept = both.outputs if forward is None else []
        both.outputs = [*kept, *(gradient for gradient in found if gradient is not None)]
        self.forward, self.both = forward, plan_of(both, backend)


class _Planned(Function):
    """A call of a compiled function that is differentiated, as a node of the engine's graph."""

    @staticmethod
    def forward(ctx: Any, plans: _WithGradients, count: int, *tensors: Tensor) -> Any:
        ctx.plans, ctx.count = plans, count
        given = [tensor.array for tensor in tensors[:count]]
        if plans.forward is None:
            loss, *ctx.gradients = plans.both.run(given)
            return Tensor(loss)
        ctx.save_for_backward(*tensors)  # what was written since is an error, not another gradient
        outs = tuple(map(Tensor, plans.forward.run(given)))
        ctx.mark_non_differentiable(*(out for out, floating in zip(outs, plans.floating, strict=True) if not floating))
        return outs

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> Any:
        plans = ctx.plans
        if plans.forward is None:
            found = iter([np.multiply(each, gs[0].array, dtype=each.dtype) for each in ctx.gradients])
        else:
            cotangents = [np.asarray(g.array) for g, floating in zip(gs, plans.floating, strict=True) if floating]
            given = [tensor.array for tensor in ctx.saved_tensors[: ctx.count]]
            found = iter(plans.both.run([*given, *cotangents]))
        return None, None, *(Tensor(next(found)) if reached else None for reached in plans.reached)


def _is_loss(graph: Graph) -> bool:
    """Whether a graph gives a single real number."""
    return [(value.shape, getattr(value.dtype, "kind", "")) for value in graph.outputs] == [((), "f")]


def _repeats(graph: Graph) -> bool:
    """Whether a graph gives the same when it runs again."""
    return all(node.op in ("input", "variable", "guard") or is_pure(node) for node in graph.nodes)


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
        places = [range(len(trace.graph.inputs))[place] for place in argnums]
        self.graph, xs, found = differentiated(trace.graph, places)
        self.graph.outputs += [
            self.graph.add("zeros_like", (x,)) if gradient is None else gradient
            for x, gradient in zip(xs, found, strict=True)
        ]
        self.backend, self.plan = backend, plan_of(self.graph, backend)

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
            tell(self.graph, self.backend)
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
