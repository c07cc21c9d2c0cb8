"""`cond` and `while` as nodes, whose bodies are graphs of their own, and how gradients go through them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np

from graphscope.engine.core.tensor import Tensor
from graphscope.errors import StaticError
from graphscope.static.graphs import interpreter
from graphscope.static.graphs.differentiation import gradients
from graphscope.static.graphs.graph import Graph, Node, Value, by_input, common, fits, spelled, walk
from graphscope.static.graphs.graph_builder import Builder
from graphscope.static.graphs.node_kinds import kind
from graphscope.static.graphs.op_calls import zeros_as

# A body takes what it uses from around it as inputs, so a node has all that its bodies need among its own inputs.
# Nothing recurses: a loop of ten thousand turns is a loop.
#
# A node that is differentiated keeps what its bodies computed and their rules need: a last output, which only the node
# of its gradient takes. So nothing runs twice, and what is drawn at random is the same in both passes.


def truth(node: Node, value: Any) -> bool:
    """Whether a condition holds.

    Raises:
        StaticError: It is more than one element.
    """
    array = value.array if isinstance(value, Tensor) else value
    if array.__class__ is np.bool_:
        return bool(array)
    if np.size(array) != 1:
        raise StaticError(
            f"the condition of {node.where} has shape {np.shape(array)}", hint="reduce it: .all() or .any()"
        )
    return bool(array)


# What bodies keep for their gradients ---------------------------------------------------------------------------------

_KEPT: Final = np.dtype(object)
"""The dtype of what bodies keep: lists of tensors, which only gradients take."""


def _count(node: Node, body: Graph) -> int:
    """How many values a body gives, without those that are kept of it."""
    return int(node.attributes.get("_count", len(body.outputs)))


def _keeping(node: Node) -> Value:
    """The output with what the bodies of a node keep; from now on it has one."""
    if "_count" not in node.attributes:
        node.attributes["_count"] = len(node.outputs)
        node.bodies = tuple(map(_same_nodes, node.bodies))
        node.outputs = (*node.outputs, Value(node, len(node.outputs), None, _KEPT))
    return node.outputs[-1]


def _same_nodes(body: Graph) -> Graph:
    """A body of the same nodes that can give more."""
    new = Graph(body.name)
    new.nodes, new.inputs, new.outputs = body.nodes, body.inputs, list(body.outputs)
    new.cotangents, new.sums = body.cotangents, body.sums
    return new


def _place_of(value: Value, node: Node, which: int) -> int | None:
    """Where a value lies among what a body of this node keeps, from now on; None if it is none of that body."""
    body, count = node.bodies[which], int(node.attributes["_count"])
    if value.node not in body.nodes:
        return None
    if value not in body.outputs[count:]:
        body.outputs.append(value)
    return body.outputs.index(value, count) - count


def _backward(name: str, ys: Sequence[Value], xs: Sequence[Value]) -> tuple[Graph, list[Value]]:
    """A body that takes cotangents of `ys` and gives gradients by `xs`; and what it takes besides, of other graphs."""
    new = Graph(name)
    gs = [new.input(f"grad_{y.node.name}", y.shape, y.dtype) for y in ys]
    found = gradients(new, ys, xs, gs)
    new.outputs = [new.add("zeros_like", (x,)) if g is None else g for x, g in zip(xs, found, strict=True)]
    wanted = set(walk(new.outputs))
    new.nodes = [node for node in new.nodes if node in wanted or node.op == "input"]
    own = set(new.nodes)
    taken = [value for node in new.nodes for value in node.values] + new.outputs
    taken += [each.of for arrivals in new.cotangents.values() for each in arrivals]  # a log says what gradients are of
    others = list(dict.fromkeys(value for value in taken if value.node not in own))
    new.inputs += others
    return new, others


# cond: the condition, and what the bodies take ------------------------------------------------------------------------


def _joined(node: Node) -> Any:
    one, other = (body.outputs[: _count(node, body)] for body in node.bodies)
    if len(one) != len(other):
        raise StaticError(
            f"the branches of {node.where} give {len(one)} and {len(other)} values", hint="give as many in both"
        )
    return [_either(node, a, b) for a, b in zip(one, other, strict=True)]


def _either(node: Node, one: Value, other: Value) -> Any:
    if one.dtype != other.dtype and None not in (one.dtype, other.dtype):
        raise StaticError(
            f"the branches of {node.where} give {spelled(one.shape, one.dtype)} ({one.name}) and "
            f"{spelled(other.shape, other.dtype)} ({other.name})",
            hint="convert one of them with .to(dtype)",
        )
    return common(one.shape, other.shape), one.dtype or other.dtype


def _arguments(node: Node, which: int) -> list[Value | None]:
    """What stands in a body for each input of a cond but the condition; None for what is kept."""
    body = node.bodies[which]
    if "_given" not in node.attributes:
        return list(body.inputs)
    count = node.attributes["_given"]
    return [*body.inputs[:count], None, *_arguments(_differentiated(node), which)]


def _differentiated(node: Node) -> Node:
    """The cond whose gradient a cond is."""
    found: Node = node.inputs[1 + node.attributes["_given"]].node
    return found


def _cond_vjp(builder: Builder, node: Node, cotangents: Sequence[Value | None]) -> list[Value | None]:
    """The gradient of a cond is a cond of gradients, on the same condition.

    It takes cotangents, what the bodies kept, and all that the cond takes: of that only the gradients are asked for.
    """
    kept = _keeping(node)
    arguments = [_arguments(node, which) for which in range(2)]
    places = [place for place, value in enumerate(node.inputs[1:]) if _floating(value)]
    with_cotangent = [place for place, g in enumerate(cotangents) if g is not None]
    given = [cotangents[place] for place in with_cotangent]
    bodies, saved = [], []
    for which, body in enumerate(node.bodies):
        ys = [body.outputs[place] for place in with_cotangent]
        xs = [value for place in places if (value := arguments[which][place]) is not None]
        new, others = _backward(f"{body.name} backward", ys, xs)
        bodies.append(new)
        saved.append([_source(value, node, which, 1 + len(given)) for value in others])
    types = [(node.inputs[1 + place].shape, node.inputs[1 + place].dtype) for place in places]
    attributes = {"_given": len(given), "_saved": saved}
    inputs = (node.inputs[0], *given, kept, *node.inputs[1:])
    made = builder.append("cond", inputs, attributes, bodies=tuple(bodies), types=types)
    return by_input(node, [place + 1 for place in places], made.outputs)


def _source(value: Value, node: Node, which: int, at: int) -> tuple[int, int]:
    """Which input of a gradient has what was kept of a value, and where: `at` is that with what `node` keeps."""
    place = _place_of(value, node, which)
    if place is not None:
        return at, place
    return _source(value, _differentiated(node), which, at + 1 + node.attributes["_given"])


def _floating(value: Any) -> bool:
    return isinstance(value, Value) and value.flows


@kind("cond", "One of two bodies, as the condition says.", infer=_joined, vjp=_cond_vjp, several=True)
def _cond(node: Node, values: Sequence[Any]) -> Sequence[Any]:
    which = 0 if truth(node, values[0]) else 1
    given = values[1:]
    if "_given" in node.attributes:
        kept = [values[at][place] for at, place in node.attributes["_saved"][which]]
        given = [*values[1 : 1 + node.attributes["_given"]], *kept]
    return _with_kept(node, interpreter.run(node.bodies[which], given))


def _with_kept(node: Node, found: list[Any]) -> list[Any]:
    """What a node gives, of what its body gave: what is kept comes last."""
    count = node.attributes.get("_count")
    return found if count is None else [*found[:count], found[count:]]


# while: the variables, and what the bodies take beside them -----------------------------------------------------------


def _loop_types(node: Node) -> Any:
    count = node.attributes["variables"]
    condition, body = node.bodies
    if _count(node, body) != count:
        raise StaticError(
            f"the body of {node.where} gives {len(body.outputs)} values, and it has {count} loop variables",
            hint="give a new value for each, in order",
        )
    for start, after in zip(body.inputs[:count], body.outputs[:count], strict=True):
        if not _may_be(start, after):
            raise StaticError(
                f"loop variable {start.name!r} of {node.where} is {spelled(start.shape, start.dtype)} and becomes "
                f"{spelled(after.shape, after.dtype)} in a turn",
                hint="keep shape and dtype from turn to turn; a dim that grows is None: give its shape as not known",
            )
    if len(condition.outputs) != 1:
        raise StaticError(f"the condition of {node.where} gives {len(condition.outputs)} values", hint="give one")
    return [(value.shape, value.dtype) for value in body.inputs[:count]]


def _may_be(start: Value, after: Value) -> bool:
    if start.dtype != after.dtype and None not in (start.dtype, after.dtype):
        return False
    return fits(start.shape, after.shape)


def _while_vjp(builder: Builder, node: Node, cotangents: Sequence[Value | None]) -> list[Value | None]:
    """One node goes back turn by turn, with what each turn kept."""
    kept = _keeping(node)
    count, body = node.attributes["variables"], node.bodies[1]
    places = [place for place, value in enumerate(body.inputs) if _floating(value) and _floating(node.inputs[place])]
    carried = [place for place in range(count) if _floating(body.inputs[place])]
    ys, xs = [body.outputs[place] for place in carried], [body.inputs[place] for place in places]
    backward, others = _backward(f"{body.name} backward", ys, xs)
    gs = []
    for place in carried:
        g = cotangents[place]
        gs.append(builder.append("zeros_like", (node.outputs[place],)).outputs[0] if g is None else g)
    saved = [_place_of(value, node, 1) for value in others]
    attributes = {"variables": count, "places": places, "carried": carried, "_saved": saved}
    types = [(node.inputs[place].shape, node.inputs[place].dtype) for place in places]
    inputs = (kept, *gs, *(node.inputs[place] for place in places))
    made = builder.append("while_vjp", inputs, attributes, bodies=(backward,), types=types)
    return by_input(node, places, made.outputs)


@kind("while", "A body run again and again while a condition holds.", infer=_loop_types, vjp=_while_vjp, several=True)
def _while(node: Node, values: Sequence[Any]) -> Sequence[Any]:
    count, most, keeps = node.attributes["variables"], node.attributes.get("most"), "_count" in node.attributes
    condition, body = node.bodies
    given = list(map(interpreter.fed, body.inputs, values))
    variables, rest = given[:count], given[count:]
    holds, once = interpreter.body_function(condition), interpreter.body_function(body)
    # What a body gives fits what it takes where both are known; what is known of one alone, each turn is held against.
    loose = [place for place in range(count) if not _is_known(body.outputs[place])]
    kept: list[Sequence[Any]] = []
    turns = 0
    while (most is None or turns < most) and truth(node, holds([*variables, *rest])[0]):
        found = once([*variables, *rest])
        variables = found[:count]
        if keeps:
            kept.append(found[count:])
        for place in loose:
            interpreter.fed(body.inputs[place], variables[place])
        turns += 1
    _counts[node] = turns
    return [*variables, kept] if keeps else variables


_counts: Final[WeakKeyDictionary[Node, int]] = WeakKeyDictionary()


def turns_of(node: Node) -> int | None:
    """How many turns a loop took when it last ran; None when it has not."""
    return _counts.get(node)


def _is_known(value: Value) -> bool:
    return value.shape is not None and None not in value.shape


def _gradient_types(node: Node) -> Any:
    given = node.inputs[1 + len(node.attributes["carried"]) :]
    return [(value.shape, value.dtype) for value in given]


@kind("while_vjp", "A loop gone back turn by turn: the gradients of what it took.", infer=_gradient_types, several=True)
def _while_backward(node: Node, values: Sequence[Any]) -> Sequence[Any]:
    count, places, carried, saved = (node.attributes[name] for name in ("variables", "places", "carried", "_saved"))
    turns, gs, given = values[0], values[1 : 1 + len(carried)], values[1 + len(carried) :]
    back = interpreter.body_function(node.bodies[0])
    totals: dict[int, Any] = {}
    _counts[node] = len(turns)
    for kept in reversed(turns):
        of = dict(zip(places, back([*gs, *[kept[place] for place in saved]]), strict=True))
        gs = [of[place] for place in carried]
        for place in places:
            if place >= count:
                totals[place] = of[place] if place not in totals else totals[place] + of[place]
    totals.update(zip(carried, gs, strict=True))
    return [
        totals[place] if place in totals else zeros_as(of_input) for place, of_input in zip(places, given, strict=True)
    ]


# To be drawn ----------------------------------------------------------------------------------------------------------


def given_to_bodies(node: Node) -> Sequence[Any]:
    """The inputs of a node that its bodies take first, in order; gradients take what was kept behind them."""
    if node.op == "cond":
        return node.inputs[1 : 1 + node.attributes.get("_given", len(node.inputs))]
    return node.inputs if node.op == "while" else node.inputs[1 : 1 + len(node.attributes["carried"])]


def carried(node: Node) -> Sequence[int]:
    """Which of the values that the body of a loop gives it takes in the next turn, in the order in which it does."""
    places = node.attributes.get("places")
    if places is None:
        return range(node.attributes["variables"])
    return [places.index(place) for place in node.attributes["carried"]]
