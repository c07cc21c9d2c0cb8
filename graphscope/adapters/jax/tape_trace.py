"""The trace that differentiates backward in the place of JAX's own: each primitive is a node that is pulled back alone.

What it computes, in both passes, it computes in the trace around it, so that it works while a function runs, while it
is traced, and inside of any other transformation. Who sees what is computed there learns by marks what it is.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax

from graphscope.adapters.jax import marks, scopes
from graphscope.adapters.jax.internals import CHECKPOINT, JIT, WHILE, core, own_vjp, typeof
from graphscope.adapters.jax.jaxprs import as_arrays, function_of, is_of_jax
from graphscope.adapters.jax.nodes import Node, Source
from graphscope.adapters.jax.rules import is_floating, rule_of


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

    def begin(self, leaves: Sequence[Any], active: Sequence[bool]) -> list[Any]:
        """What the function is given for some leaves, of which some are differentiated by."""
        return [
            Differentiated(self, leaf, (None, place)) if is_active else leaf
            for place, (leaf, is_active) in enumerate(zip(leaves, active, strict=True))
        ]

    def value(self, tracer: Any) -> Any:
        """What a value of the function is in the trace around."""
        return tracer.value if self._is_own(tracer) else tracer

    def source(self, tracer: Any) -> Source | None:
        """Where a value of the function comes from."""
        return tracer.source if self._is_own(tracer) else None

    def add(self, node: Node) -> list[Any]:
        """The values of a node in the function."""
        self.nodes.append(node)
        return [
            Differentiated(self, value, (node, slot)) if is_floating(value) else value
            for slot, value in enumerate(node.values)
        ]

    # As JAX has it ---------------------------------------------------------------------------------------------------

    def stage_value(self, value: Any) -> Any:
        """A value of the program's as one of JAX's."""
        return value if self._is_own(value) else self.around.stage_value(value)

    def process_primitive(self, primitive: Any, tracers: Sequence[Any], params: dict[str, Any], /) -> Any:
        """Make a node of the call of a primitive, or of each in it where it is one that holds others."""
        inputs = [self.value(each) for each in tracers]
        sources = [self.source(each) for each in tracers]
        active = tuple(place for place, source in enumerate(sources) if source is not None)
        if active and primitive in OPENED:
            found = OPENED[primitive](self, tracers, params)
            with core.set_current_trace(self.around):
                return as_arrays(found)
        with core.set_current_trace(self.around):
            if not active:
                return primitive.bind(*inputs, **params)
            if primitive is marks.MARK:
                passed = zip(primitive.bind(*inputs, **params), sources, strict=False)
                return [each if source is None else Differentiated(self, each, source) for each, source in passed]
            rule = rule_of(primitive, params, inputs, active)
            found = primitive.bind(*inputs, **params)
        if not rule.served:
            return found
        values = list(found) if primitive.multiple_results else [found]
        outputs = self.add(Node(inputs, values, sources, rule.served, functools.partial(_by_rule, rule.run)))
        return outputs if primitive.multiple_results else outputs[0]

    def process_custom_jvp_call(
        self, primitive: Any, fun: Any, jvp: Any, tracers: Sequence[Any], /, *, symbolic_zeros: Any
    ) -> Any:
        """Make one node of the call of a function that has a rule of its own."""

        def call(trace: Any, inputs: Sequence[Any]) -> Any:
            return trace.process_custom_jvp_call(primitive, fun, jvp, inputs, symbolic_zeros=symbolic_zeros)

        return self.whole(_name(fun), call, tracers)

    def process_custom_vjp_call(
        self, primitive: Any, fun: Any, fwd: Any, bwd: Any, tracers: Sequence[Any], /, **params: Any
    ) -> Any:
        """The same of one that says itself how cotangents go back."""

        def call(trace: Any, inputs: Sequence[Any]) -> Any:
            return trace.process_custom_vjp_call(primitive, fun, fwd, bwd, inputs, **params)

        return self.whole(_name(fun), call, tracers)

    def process_shard_map(self, primitive: Any, function: Any, tracers: Sequence[Any], /, **params: Any) -> Any:
        """Make one node of what runs on several devices."""
        shapes: list[Any] = []

        def call(trace: Any, inputs: Sequence[Any]) -> Any:
            found = trace.process_shard_map(primitive, function, inputs, **params)
            shapes.append(getattr(found, "update", list))  # newer versions have it in a tree of their own
            return list(found)

        values = self.whole("shard_map", call, tracers)
        return shapes[-1](values)

    def process_call(self, primitive: Any, function: Any, tracers: Sequence[Any], params: Any, /) -> Any:
        """Look into what is called."""
        with core.set_current_trace(self):
            return function.call_wrapped(*tracers)

    # Inside ----------------------------------------------------------------------------------------------------------

    def whole(self, name: str, call: Callable[[Any, Sequence[Any]], Any], tracers: Sequence[Any]) -> Any:
        """Let JAX differentiate a call, which is one node.

        Args:
            name: What the log calls it.
            call: Makes it in a trace.
            tracers: What it is given.
        """
        inputs = [self.value(each) for each in tracers]
        sources = [self.source(each) for each in tracers]
        active = [place for place, source in enumerate(sources) if source is not None]
        if not active:
            return call(self.around, inputs)

        def of_active(*chosen: Any) -> list[Any]:
            given = dict(zip(active, chosen, strict=True))
            with core.take_current_trace() as trace:
                return list(call(trace, [given.get(place, each) for place, each in enumerate(inputs)]))

        with core.set_current_trace(self.around):
            with scopes.named(name):
                values, pullback = own_vjp(of_active, *[inputs[place] for place in active])
            values = marks.mark(marks.CALL, values, inputs, (name,))
        held, shape = jax.tree.flatten(pullback)
        return self.add(Node(inputs, values, sources, active, functools.partial(_by_pullback, shape), held))

    def _is_own(self, tracer: Any) -> bool:
        return isinstance(tracer, Differentiated) and tracer._trace is self


def _by_rule(rule: Callable[..., list[Any]], node: Node, cotangents: Sequence[Any]) -> Sequence[Any]:
    return rule(*node.inputs, *node.values, *cotangents)


def _by_pullback(shape: Any, node: Node, cotangents: Sequence[Any]) -> Sequence[Any]:
    """What JAX's own pullback makes of cotangents."""
    pullback = jax.tree.unflatten(shape, node.held)
    return list(pullback(node.with_none(cotangents)))


def _name(function: Any) -> str:
    """What the program calls a function that JAX has wrapped."""
    return function_of(function) or str(getattr(getattr(function, "f", function), "__name__", "call"))


def _jitted(trace: TapeTrace, tracers: Sequence[Any], params: dict[str, Any]) -> Any:
    closed = params["jaxpr"]
    told = not is_of_jax(closed.jaxpr)  # of its own functions JAX does not tell who called them: that is who runs now
    with core.set_current_trace(trace), scopes.jitted(params["name"], closed):
        return core.eval_jaxpr(closed.jaxpr, closed.consts, *tracers, propagate_source_info=told)


def _checkpointed(trace: TapeTrace, tracers: Sequence[Any], params: dict[str, Any]) -> Any:
    with core.set_current_trace(trace), scopes.named("checkpoint"):
        return core.eval_jaxpr(params["jaxpr"], (), *tracers)


def _closed(trace: TapeTrace, tracers: Sequence[Any], params: dict[str, Any]) -> Any:
    closed = params["call_jaxpr"]
    with core.set_current_trace(trace):
        return core.eval_jaxpr(closed.jaxpr, closed.consts, *tracers)


def _looped(trace: TapeTrace, tracers: Sequence[Any], params: dict[str, Any]) -> Any:
    """There is no way back through a loop of unknown length: JAX says so when one is asked for."""

    def call(inner: Any, inputs: Sequence[Any]) -> Any:
        with core.set_current_trace(inner):
            return WHILE.bind(*inputs, **params)

    return trace.whole("while", call, tracers)


OPENED: dict[Any, Callable[[TapeTrace, Sequence[Any], dict[str, Any]], Any]] = {
    JIT: _jitted,
    CHECKPOINT: _checkpointed,
    core.closed_call_p: _closed,
    WHILE: _looped,
}
"""Primitives that hold others: how these are run, each by itself."""
