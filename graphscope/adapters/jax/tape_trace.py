"""The trace that differentiates backward in the place of JAX's own: each primitive is a node that is pulled back alone.

What it computes, in both passes, it computes in the trace around it, so that it works while a function runs, while it
is traced, and inside of any other transformation. Who sees what is computed there learns by marks what it is.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from graphscope.adapters.jax import marks
from graphscope.adapters.jax.internals import CHECKPOINT, JIT, core, own_vjp, source_info_util, typeof
from graphscope.adapters.jax.rules import is_floating, rule_of
from graphscope.adapters.jax.scopes import scope_of


class Node:
    """A call that was made: what its cotangents go through, and to whom."""

    __slots__ = ("inputs", "pull", "served", "sources", "values")

    def __init__(
        self,
        inputs: Sequence[Any],
        values: Sequence[Any],
        sources: Sequence[Source | None],
        served: Sequence[int],
        pull: Callable[..., Sequence[Any]],
    ) -> None:
        self.inputs = inputs
        self.values = values
        self.sources = sources
        """Where each input comes from; None of what is not differentiated."""
        self.served = served
        """The inputs that the rule makes cotangents for."""
        self.pull = pull
        """The rule: of inputs, values and cotangents."""


Source = tuple[Node | None, int]
"""A node and which of its values, or None and which of the leaves."""


class Differentiated(core.Tracer):  # type: ignore[misc]
    """A value that depends on what is differentiated by."""

    __slots__ = ("source", "value")

    def __init__(self, trace: TapeTrace, value: Any, source: Source) -> None:
        if "aval" in core.Tracer.__slots__:
            super().__init__(trace, typeof(value))
        else:
            super().__init__(trace)
        self.value = value
        self.source = source

    if "aval" not in core.Tracer.__slots__:

        @property
        def aval(self) -> Any:
            """Its abstract value."""
            return typeof(self.value)

    def full_lower(self) -> Any:
        """It can be no less than it is."""
        return self

    def to_concrete_value(self) -> Any:
        """Its elements, where they are known: the program may decide by them."""
        return core.to_concrete_value(self.value)

    def get_referent(self) -> Any:
        """What it stands for."""
        return core.get_referent(self.value)


Differentiated.__name__ = Differentiated.__qualname__ = "LinearizeTracer"  # what the program sees of it is as ever


class TapeTrace(core.Trace):  # type: ignore[misc]
    """Follows a function that is differentiated."""

    def __init__(self, around: Any) -> None:
        super().__init__()
        self.requires_low = False
        self.around = around
        """The trace in which everything is computed."""
        self.nodes: list[Node] = []

    def value(self, tracer: Any) -> Any:
        """What a value of the function is in the trace around."""
        return tracer.value if self._is_own(tracer) else tracer

    def source(self, tracer: Any) -> Source | None:
        """Where a value of the function comes from."""
        return tracer.source if self._is_own(tracer) else None

    def _is_own(self, tracer: Any) -> bool:
        return isinstance(tracer, Differentiated) and tracer._trace is self

    def stage_value(self, value: Any) -> Any:
        """A value of the program's as one of JAX's."""
        return value if self._is_own(value) else self.around.stage_value(value)

    def process_primitive(self, primitive: Any, tracers: Sequence[Any], params: dict[str, Any], /) -> Any:
        """Make a node of the call of a primitive, or of each in it where it is one that holds others."""
        inputs = [self.value(each) for each in tracers]
        sources = [self.source(each) for each in tracers]
        active = tuple(place for place, source in enumerate(sources) if source is not None)
        if active and primitive in OPENED:
            with core.set_current_trace(self):
                return OPENED[primitive](tracers, params)
        with core.set_current_trace(self.around):
            if not active:
                return primitive.bind(*inputs, **params)
            rule = rule_of(primitive, params, inputs, active)
            found = primitive.bind(*inputs, **params)
        values = list(found) if primitive.multiple_results else [found]
        if not rule.served:
            return found
        outputs = self._node(Node(inputs, values, sources, rule.served, functools.partial(_by_rule, rule.run)))
        return outputs if primitive.multiple_results else outputs[0]

    def process_custom_jvp_call(
        self, primitive: Any, fun: Any, jvp: Any, tracers: Sequence[Any], /, *, symbolic_zeros: Any
    ) -> Any:
        """Make one node of the call of a function that has a rule of its own."""

        def call(trace: Any, inputs: Sequence[Any]) -> Any:
            return trace.process_custom_jvp_call(primitive, fun, jvp, inputs, symbolic_zeros=symbolic_zeros)

        return self._whole(function_name(fun), call, tracers)

    def process_custom_vjp_call(
        self, primitive: Any, fun: Any, fwd: Any, bwd: Any, tracers: Sequence[Any], /, **params: Any
    ) -> Any:
        """The same of one that says itself how cotangents go back."""

        def call(trace: Any, inputs: Sequence[Any]) -> Any:
            return trace.process_custom_vjp_call(primitive, fun, fwd, bwd, inputs, **params)

        return self._whole(function_name(fun), call, tracers)

    def process_call(self, primitive: Any, function: Any, tracers: Sequence[Any], params: Any, /) -> Any:
        """Look into what is called."""
        with core.set_current_trace(self):
            return function.call_wrapped(*tracers)

    def _whole(self, name: str, call: Callable[[Any, Sequence[Any]], Any], tracers: Sequence[Any]) -> Any:
        """Let JAX differentiate a call."""
        inputs = [self.value(each) for each in tracers]
        sources = [self.source(each) for each in tracers]
        active = [place for place, source in enumerate(sources) if source is not None]
        if not active:
            return call(self.around, inputs)

        def of_active(*chosen: Any) -> list[Any]:
            given = dict(zip(active, chosen, strict=True))
            with core.take_current_trace() as trace:
                return list(call(trace, [given.get(place, each) for place, each in enumerate(inputs)]))

        with core.set_current_trace(self.around), source_info_util.extend_name_stack(name):
            values, pullback = own_vjp(of_active, *[inputs[place] for place in active])
            values = marks.mark(marks.CALL, values, inputs, (name,))
        return self._node(Node(inputs, values, sources, active, functools.partial(_by_pullback, pullback)))

    def _node(self, node: Node) -> list[Any]:
        self.nodes.append(node)
        return [
            Differentiated(self, value, (node, slot)) if is_floating(value) else value
            for slot, value in enumerate(node.values)
        ]


def _by_rule(rule: Callable[..., list[Any]], node: Node, cotangents: Sequence[Any]) -> Sequence[Any]:
    return rule(*node.inputs, *node.values, *cotangents)


def _by_pullback(pullback: Callable[..., Any], node: Node, cotangents: Sequence[Any]) -> Sequence[Any]:
    arrived = iter(cotangents)
    whole = [
        next(arrived) if is_floating(each) else np.zeros(typeof(each).shape, jax.dtypes.float0) for each in node.values
    ]
    return list(pullback(whole))


def function_name(function: Any) -> str:
    """What the program calls a function that JAX has wrapped."""
    told = getattr(getattr(function, "debug_info", None), "func_name", None)
    return str(told or getattr(getattr(function, "f", function), "__name__", "call"))


def _run_jitted(tracers: Sequence[Any], params: dict[str, Any]) -> Any:
    with scope_of(params["name"], params["jaxpr"]):
        return core.eval_jaxpr(params["jaxpr"].jaxpr, params["jaxpr"].consts, *tracers)


def _run_checkpointed(tracers: Sequence[Any], params: dict[str, Any]) -> Any:
    with source_info_util.extend_name_stack("checkpoint"):
        return core.eval_jaxpr(params["jaxpr"], (), *tracers)


def _run_closed(tracers: Sequence[Any], params: dict[str, Any]) -> Any:
    return core.eval_jaxpr(params["call_jaxpr"].jaxpr, params["call_jaxpr"].consts, *tracers)


OPENED: dict[Any, Callable[[Sequence[Any], dict[str, Any]], Any]] = {
    JIT: _run_jitted,
    CHECKPOINT: _run_checkpointed,
    core.closed_call_p: _run_closed,
}
"""Primitives that hold others: how these are run, each by itself."""


def differentiate(
    function: Callable[..., Any],
    primals: Sequence[Any],
    names: Sequence[str],
    *,
    has_aux: bool = False,
    trained: bool = False,
) -> tuple[Any, ...]:
    """What `jax.vjp` gives: the value of a function, what pulls cotangents back through it, and what else it returns.

    Args:
        function: The function.
        primals: Its arguments.
        names: What the program calls each of their leaves.
        has_aux: Whether it returns a pair, of which the second is only passed on.
        trained: Whether the arguments are parameters.
    """
    leaves, tree = jax.tree.flatten(tuple(primals))
    leaves = [
        marks.mark(marks.LEAF, [leaf], told=(name, trained))[0] if is_floating(leaf) else leaf
        for leaf, name in zip(leaves, names, strict=True)
    ]
    with core.take_current_trace() as around:
        trace = TapeTrace(around)
        tracers = [
            Differentiated(trace, leaf, (None, place)) if is_floating(leaf) else leaf
            for place, leaf in enumerate(leaves)
        ]
        with core.set_current_trace(trace):
            answer = function(*jax.tree.unflatten(tree, tracers))
    aux: tuple[Any, ...] = ()
    if has_aux:
        answer, passed = answer
        aux = (jax.tree.map(trace.value, passed),)
    outputs, shape = jax.tree.flatten(answer)
    back = Pullback(
        trace, leaves, tree, [trace.value(each) for each in outputs], shape, list(map(trace.source, outputs))
    )
    return jax.tree.unflatten(shape, back.outputs), back, *aux


class Pullback:
    """Pulls cotangents of what a function returned back to its arguments."""

    def __init__(
        self,
        trace: TapeTrace,
        leaves: Sequence[Any],
        tree: Any,
        outputs: Sequence[Any],
        shape: Any,
        sources: Sequence[Source | None],
    ) -> None:
        self.nodes = trace.nodes
        self.leaves = leaves
        self.tree = tree
        self.outputs = outputs
        self.shape = shape
        self.sources = sources

    def __call__(self, cotangents: Any) -> Any:
        """The cotangents of the arguments."""
        given, shape = jax.tree.flatten(cotangents)
        if shape != self.shape:
            raise ValueError(f"cotangents are {shape}, what they are of is {self.shape}")
        found = self._pulled(marks.mark(marks.BEGIN, given, self.outputs))
        return jax.tree.unflatten(self.tree, found)

    def _pulled(self, given: Sequence[Any]) -> list[Any]:
        arrived: dict[Any, dict[int, list[Any]]] = {}
        for source, cotangent in zip(self.sources, given, strict=True):
            _arrive(arrived, source, cotangent)
        for node in reversed(self.nodes):
            parts = arrived.pop(node, None)
            if parts is not None:
                for place, cotangent in zip(node.served, _pull(node, parts), strict=True):
                    _arrive(arrived, node.sources[place], cotangent)
        ended = arrived.get(None, {})
        found = [self._gradient(leaf, ended.get(place, [])) for place, leaf in enumerate(self.leaves)]
        floating = [place for place, leaf in enumerate(self.leaves) if is_floating(leaf)]
        for place, gradient in zip(floating, marks.mark(marks.END, [found[each] for each in floating]), strict=True):
            found[place] = gradient
        return found

    def _gradient(self, leaf: Any, parts: list[Any]) -> Any:
        aval = typeof(leaf)
        if not is_floating(leaf):
            return np.zeros(aval.shape, jax.dtypes.float0)
        if not parts:
            return graphscope_zeros(leaf)
        return marks.mark(marks.GRADIENT, [_sum(parts)], [leaf, *(parts if len(parts) > 1 else ())])[0]


def _arrive(arrived: dict[Any, dict[int, list[Any]]], source: Source | None, cotangent: Any) -> None:
    if source is not None:
        arrived.setdefault(source[0], {}).setdefault(source[1], []).append(cotangent)


def _pull(node: Node, parts: dict[int, list[Any]]) -> Sequence[Any]:
    """Run the rule of a node."""
    wholes, summands, counts = [], [], []
    for slot, value in enumerate(node.values):
        if is_floating(value):
            arrived = parts.get(slot, [])
            wholes.append(_sum(arrived) if arrived else graphscope_zeros(value))
            counts.append(len(arrived))
            summands += arrived if len(arrived) > 1 else []
    told = (len(node.values), tuple(counts), tuple(node.served))
    wholes = marks.mark(marks.COTANGENT, wholes, [*node.values, *summands], told)
    return node.pull(node, wholes)


@jax.jit
def graphscope_sum(*parts: Any) -> Any:
    """The sum of what arrives at one place."""
    return functools.reduce(jax.lax.add, parts)


@jax.jit
def graphscope_zeros(like: Any) -> Any:
    """The cotangent of what nobody uses."""
    return jnp.zeros_like(like)


def _sum(parts: Sequence[Any]) -> Any:
    return parts[0] if len(parts) == 1 else graphscope_sum(*parts)
