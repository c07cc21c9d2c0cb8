"""Gradients as nodes: the engine's own rules, run on symbols."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphscope.engine.core import modes
from graphscope.engine.core.cotangents import unbroadcast
from graphscope.engine.core.node import plan_for
from graphscope.engine.core.op import INPUT_NAMES, OPS, Op
from graphscope.engine.core.tensor import Tensor
from graphscope.errors import StaticError
from graphscope.static.graphs import symbols
from graphscope.static.graphs.graph import Arrival, Graph, Node, Value, by_input, walk
from graphscope.static.graphs.graph_builder import Builder
from graphscope.static.graphs.node_kinds import KINDS, kind, of_first
from graphscope.static.graphs.op_calls import called, gradients_of, zeros_as
from graphscope.static.graphs.symbols import Symbol, twin

# A rule that looks at numbers, or a shape that is known only at run time, has no nodes of its own: then one node of
# kind `vjp` runs the rule on the arrays when the graph runs.


def gradients(
    graph: Graph | Builder, ys: Sequence[Value], xs: Sequence[Value], grad_ys: Sequence[Value | None] | None = None
) -> list[Value | None]:
    """Add the nodes that compute the gradients of the sum of `ys` with respect to each of `xs`.

    Args:
        graph: Where `ys` and `xs` are.
        ys: What is differentiated.
        xs: By what; any values of the graph.
        grad_ys: The cotangents to begin with; ones where None.

    Returns:
        For each of `xs` its gradient; None where `ys` do not depend on it.

    Raises:
        StaticError: A node on the way has no gradient that can be written as nodes.
    """
    builder = graph if isinstance(graph, Builder) else Builder(graph)
    order = walk(ys)
    reached = set(xs)
    for node in order:
        if any(value in reached for value in node.values):
            reached.update(value for value in node.outputs if value.flows)
    arrived: dict[Value, list[tuple[Value, Arrival]]] = {}
    with builder.active():
        for y, given in zip(ys, grad_ys or [None] * len(ys), strict=True):
            with builder.at_place_of(y.node):
                seed = builder.append("ones_like", (y,)).outputs[0] if given is None else given
            arrived.setdefault(y, []).append((seed, Arrival(y)))
        for node in reversed(order):
            wanted = tuple(isinstance(value, Value) and value in reached for value in node.inputs)
            if not any(wanted) or not any(value in arrived for value in node.outputs):
                continue
            with builder.at_place_of(node):
                cotangents = [_whole(builder, arrived, value) for value in node.outputs]
                found = _through(builder, node, cotangents, wanted)
            for place, (value, gradient) in enumerate(zip(node.inputs, found, strict=True)):
                if gradient is not None and isinstance(value, Value) and value in reached:
                    arrived.setdefault(value, []).append((gradient, Arrival(value, ((node, place),))))
        results = []
        for x in xs:
            with builder.at_place_of(x.node):
                results.append(_whole(builder, arrived, x))
    return results


def _whole(builder: Builder, arrived: dict[Value, list[tuple[Value, Arrival]]], value: Value) -> Value | None:
    """The sum of what has arrived for a value."""
    parts = arrived.get(value)
    if not parts:
        return None
    while len(parts) > 1:
        (one, first), (other, second) = parts[:2]
        total = builder.append("add", (one, other))
        builder.graph.sums[total] = first.sources, second.sources
        parts[:2] = [(total.outputs[0], Arrival(value, first.sources + second.sources))]
    whole, arrival = parts[0]
    known = builder.graph.cotangents.setdefault(whole, [])
    if arrival not in known:
        known.append(arrival)
    return whole


def _through(
    builder: Builder, node: Node, cotangents: list[Value | None], wanted: tuple[bool, ...]
) -> Sequence[Value | None]:
    """The gradients of a node's inputs."""
    own = KINDS.get(node.op)
    if own is not None:
        if own.vjp is None:
            raise StaticError(
                f"no gradient goes through {node.where}", hint="differentiate the first derivative when it runs"
            )
        return own.vjp(builder, node, cotangents)
    op = OPS[node.op]
    last = len(op.vjps) - 1
    if not op.vjps or not any(want and op.vjps[min(place, last)] for place, want in enumerate(wanted)):
        return [None] * len(node.inputs)
    if any(_is_complex(value) for value in cotangents):  # rules say transposes: see `graphscope.engine.core.rules`
        turned = [_conjugate(builder, value) for value in cotangents]
        return [_conjugate(builder, value) for value in _by_op(builder, node, op, turned, wanted)]
    return _by_op(builder, node, op, cotangents, wanted)


def _is_complex(value: Value | None) -> bool:
    return value is not None and value.dtype is not None and value.dtype.kind == "c"


def _conjugate(builder: Builder, value: Value | None) -> Value | None:
    return builder.append("conj", (value,)).outputs[0] if value is not None and _is_complex(value) else value


def _by_op(
    builder: Builder, node: Node, op: Op, cotangents: list[Value | None], wanted: tuple[bool, ...]
) -> list[Value | None]:
    begin = len(builder.graph.nodes)
    if not _refused(node, op):
        try:
            return _by_rules(builder, node, op, cotangents, wanted)
        except Exception:  # noqa: BLE001 - whatever a rule can't do with symbols, it can do with arrays
            del builder.graph.nodes[begin:]
    return _by_array(builder, node, op, cotangents, wanted)


def _refused(node: Node, op: Op) -> bool:
    """Whether a node's rules are not to be tried on symbols."""
    known = all(value.shape is not None and None not in value.shape for value in (*node.values, *node.outputs))
    return not known or op.residuals


def _by_rules(
    builder: Builder, node: Node, op: Op, cotangents: list[Value | None], wanted: tuple[bool, ...]
) -> list[Value | None]:
    given = [Symbol.of(value, builder) if isinstance(value, Value) else value for value in node.inputs]
    outs = [Symbol.of(value, builder) for value in node.outputs]
    g: Any = [None if value is None else Symbol.of(value, builder) for value in cotangents]
    if op.several:
        g = tuple(
            symbols.Symbol(np.zeros(out.shape, out.dtype)) if part is None and out.dtype.kind in "fc" else part
            for part, out in zip(g, outs, strict=True)
        )
    else:
        (g,) = g
    names: dict[str, Any] = dict(zip(INPUT_NAMES, given, strict=False))
    names |= {f"{name}_ndim": len(value.shape) for name, value in names.items() if isinstance(value, Symbol)}
    names |= {"out": tuple(outs) if op.several else outs[0], "inputs": tuple(given)}
    found: list[Value | None] = []
    together: Any = None
    for place, want in enumerate(wanted):
        vjp = op.vjps[min(place, len(op.vjps) - 1)]
        if vjp is None or not want:
            found.append(None)
            continue
        attrs = {name: node.attributes[name] for name in vjp.attrs}
        args = [value for name in vjp.needs for value in (names[name] if name == "inputs" else (names[name],))]
        if vjp.joint is not None:
            if together is None:
                together = twin(vjp.joint)(g, *args, **attrs)
            result = together[place]
        else:
            result = twin(vjp.bound(place))(g, *args, **attrs)
        if result is not None and not isinstance(result, Symbol):
            result = Symbol(result)
        if result is not None and result.shape != given[place].shape:
            result = twin(unbroadcast)(result, given[place].shape)
        found.append(None if result is None else result.output)
    return found


def _by_array(
    builder: Builder, node: Node, op: Op, cotangents: list[Value | None], wanted: tuple[bool, ...]
) -> list[Value | None]:
    gs: list[Value | None] = []
    for value, part in zip(node.outputs, cotangents, strict=True):
        zeros = part is None and value.flows
        gs.append(builder.append("zeros_like", (value,)).outputs[0] if zeros else part)
    last = len(op.vjps) - 1
    places = [place for place, want in enumerate(wanted) if want and op.vjps[min(place, last)] is not None]
    attributes = {"op": op.name, "wanted": tuple(places), "outputs": len(gs), "attributes": node.attributes}
    made = builder.append("vjp", (*gs, *node.outputs, *node.inputs), attributes)
    return by_input(node, places, made.outputs)


# Kinds of nodes that gradients need -----------------------------------------------------------------------------------


@kind("ones_like", "Ones of the shape and dtype of another value.", infer=of_first, vjp=lambda *_: [None])
def _ones_like(node: Node, values: Sequence[Any]) -> Sequence[Any]:
    return [Tensor(np.ones_like(values[0].array)[()])]


@kind("zeros_like", "Zeros of the shape and dtype of another value.", infer=of_first, vjp=lambda *_: [None])
def _zeros_like(node: Node, values: Sequence[Any]) -> Sequence[Any]:
    return [zeros_as(values[0])]


def _of_inputs(node: Node) -> Any:
    first = 2 * node.attributes["outputs"]
    given = node.inputs[first:]
    return [(given[place].shape, given[place].dtype) for place in node.attributes["wanted"]]


@kind("vjp", "The rules of an op, run on the arrays: the gradients of its inputs.", infer=_of_inputs, several=True)
def _vjp(node: Node, values: Sequence[Any]) -> Sequence[Any]:
    if modes.is_grad_enabled() and any(isinstance(value, Tensor) and value.requires_grad for value in values):
        count, wanted, op = node.attributes["outputs"], node.attributes["wanted"], OPS[node.attributes["op"]]
        given = values[2 * count :]
        call = functools.partial(called, op, attrs=_attributes(node, given))
        found = gradients_of(call, given, wanted, values[:count])
        return [zeros_as(given[place]) if g is None else g for place, g in zip(wanted, found, strict=True)]
    arrays = [value.array if isinstance(value, Tensor) else value for value in values]
    return [Tensor(found) for found in vjp_function(node)(*arrays)]


def vjp_function(node: Node) -> Callable[..., list[Any]]:
    """What a node of kind `vjp` computes, as a function of arrays."""
    count = node.attributes["outputs"]
    op = OPS[node.attributes["op"]]
    wanted = node.attributes["wanted"]
    given_count = len(node.inputs) - 2 * count
    plan = plan_for(op, tuple(place in wanted for place in range(given_count)))
    several, residuals, alone = op.several, op.residuals, plan.alone

    def run(*arrays: Any) -> list[Any]:
        gs, outs, given = arrays[:count], arrays[count : 2 * count], arrays[2 * count :]
        attrs = _attributes(node, given)
        out: Any = outs if several else outs[0]
        if residuals:
            out = (out, op.forward(*given, **attrs)[1])
        found = plan.gradients(gs if several else gs[0], plan.save(out, *given), attrs)
        return [
            np.zeros_like(given[place]) if result is None else unbroadcast(np.asarray(result), np.shape(given[place]))
            for place, result in zip(wanted, (found,) if alone else found, strict=True)
        ]

    return run


def _attributes(node: Node, given: Sequence[Any]) -> dict[str, Any]:
    """The attributes of the call, with what they say of the shape of its first input as it is now."""
    attrs: dict[str, Any] = node.attributes["attributes"]
    return {**attrs, "_from": tuple(given[0].shape)} if "_from" in attrs else attrs
