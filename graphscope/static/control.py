"""Control flow as nodes: `cond` and `while`, whose bodies are graphs of their own, and how gradients go through them.

A body takes what it uses from around it as inputs, so a node has all that its bodies need among its own inputs.
Nothing recurses: a loop of ten thousand turns is a loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np

from graphscope.engine.core.tensor import Tensor
from graphscope.errors import StaticError
from graphscope.static import interpreter
from graphscope.static.building import Builder
from graphscope.static.gradients import gradients
from graphscope.static.graph import Graph, Node, Value, copy, spelled
from graphscope.static.kinds import kind


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


# cond: the condition, and what the bodies take ------------------------------------------------------------------------


def _joined(node: Node) -> Any:
    one, other = (body.outputs for body in node.bodies)
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
    return _open(one.shape, other.shape), one.dtype or other.dtype


def _open(one: Any, other: Any) -> Any:
    """What two shapes have in common; a dim in which they differ is not known."""
    if one is None or other is None or len(one) != len(other):
        return None
    return tuple(a if a == b else None for a, b in zip(one, other, strict=True))


def _cond_vjp(builder: Builder, node: Node, cotangents: Sequence[Value | None]) -> list[Value | None]:
    """The gradient of a cond is a cond of gradients, on the same condition."""
    taken = node.inputs[1:]
    places = [place for place, value in enumerate(taken) if _floating(value)]
    given = [g for g in cotangents if g is not None]
    with_cotangent = [place for place, g in enumerate(cotangents) if g is not None]
    bodies = [_backward(body, places, with_cotangent) for body in node.bodies]
    types = [(taken[place].shape, taken[place].dtype) for place in places]
    made = builder.append("cond", (*node.inputs, *given), node.attributes, bodies=tuple(bodies), types=types)
    found: list[Value | None] = [None] * len(node.inputs)
    for place, value in zip(places, made.outputs, strict=True):
        found[place + 1] = value
    return found


def _floating(value: Any) -> bool:
    return isinstance(value, Value) and (value.dtype is None or value.dtype.kind in "fc")


def _backward(body: Graph, places: Sequence[int], with_cotangent: Sequence[int]) -> Graph:
    """A body that takes what `body` takes and cotangents of some of its outputs, and gives gradients of some inputs."""
    new, values = copied(body, f"{body.name} backward")
    ys = [values[body.outputs[place]] for place in with_cotangent]
    gs = [new.input(f"grad_{y.node.name}", y.shape, y.dtype) for y in ys]
    xs = [new.inputs[place] for place in places]
    found = gradients(new, ys, xs, gs)
    zeros = [new.add("zeros_like", (x,)) if g is None else g for x, g in zip(xs, found, strict=True)]
    new.outputs = zeros
    return new


def copied(graph: Graph, name: str) -> tuple[Graph, dict[Value, Value]]:
    """A copy to which nodes can be added, and what stands for each value in it."""
    new = Graph(name)
    values: dict[Value, Value] = {}
    for node in graph.nodes:
        made = copy(new, node, [values[v] if isinstance(v, Value) else v for v in node.inputs])
        values.update(zip(node.outputs, made.outputs, strict=True))
    new.inputs = [values[value] for value in graph.inputs]
    new.outputs = [values[value] for value in graph.outputs]
    return new, values


@kind("cond", "One of two bodies, as the condition says.", infer=_joined, vjp=_cond_vjp, several=True)
def _cond(node: Node, values: Sequence[Any]) -> Sequence[Any]:
    body = node.bodies[0 if truth(node, values[0]) else 1]
    return interpreter.run(body, values[1:])


# while: the variables, and what the bodies take beside them -----------------------------------------------------------


def _loop_types(node: Node) -> Any:
    count = node.attributes["variables"]
    condition, body = node.bodies
    if len(body.outputs) != count:
        raise StaticError(
            f"the body of {node.where} gives {len(body.outputs)} values, and it has {count} loop variables",
            hint="give a new value for each, in order",
        )
    for start, after in zip(body.inputs[:count], body.outputs, strict=True):
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
    if start.shape is None or after.shape is None:
        return True
    return len(start.shape) == len(after.shape) and all(
        a is None or b is None or a == b for a, b in zip(start.shape, after.shape, strict=True)
    )


def _while_vjp(builder: Builder, node: Node, cotangents: Sequence[Value | None]) -> list[Value | None]:
    """One node runs the loop forward once more, keeps what each turn began with, and goes back turn by turn."""
    count = node.attributes["variables"]
    _, body = node.bodies
    places = [place for place, value in enumerate(body.inputs) if _floating(value) and _floating(node.inputs[place])]
    carried = [place for place in range(count) if _floating(body.inputs[place])]
    backward = _backward(body, places, carried)
    gs = []
    for place in carried:
        g = cotangents[place]
        gs.append(builder.append("zeros_like", (node.outputs[place],)).outputs[0] if g is None else g)
    attributes = {**node.attributes, "places": tuple(places), "carried": tuple(carried)}
    types = [(node.inputs[place].shape, node.inputs[place].dtype) for place in places]
    made = builder.append("while_vjp", (*node.inputs, *gs), attributes, bodies=(*node.bodies, backward), types=types)
    found: list[Value | None] = [None] * len(node.inputs)
    for place, value in zip(places, made.outputs, strict=True):
        found[place] = value
    return found


@kind("while", "A body run again and again while a condition holds.", infer=_loop_types, vjp=_while_vjp, several=True)
def _while(node: Node, values: Sequence[Any]) -> Sequence[Any]:
    last: Sequence[Any] = ()
    turns = -1
    for last in _turns(node, values):  # noqa: B007 - the last is wanted
        turns += 1
    _counts[node] = turns
    return last


_counts: Final[WeakKeyDictionary[Node, int]] = WeakKeyDictionary()


def turns_of(node: Node) -> int | None:
    """How many turns a loop took when it last ran; None when it has not."""
    return _counts.get(node)


def _turns(node: Node, values: Sequence[Any]) -> Any:
    """The variables before each turn, and after the last."""
    count = node.attributes["variables"]
    most = node.attributes.get("most")
    condition, body = node.bodies[:2]
    given = list(map(interpreter.fed, body.inputs, values))
    variables, rest = given[:count], given[count:]
    holds, once = interpreter.again(condition), interpreter.again(body)
    # What a body gives fits what it takes where both are known; what is known of one alone, each turn is held against.
    loose = [place for place in range(count) if not _is_known(body.outputs[place])]
    turn = 0
    while True:
        yield variables
        if most is not None and turn >= most:
            return
        if not truth(node, holds([*variables, *rest])[0]):
            return
        variables = once([*variables, *rest])
        for place in loose:
            interpreter.fed(body.inputs[place], variables[place])
        turn += 1


def _is_known(value: Value) -> bool:
    return value.shape is not None and None not in value.shape


def _gradient_types(node: Node) -> Any:
    return [(node.inputs[place].shape, node.inputs[place].dtype) for place in node.attributes["places"]]


@kind("while_vjp", "A loop gone back turn by turn: the gradients of what it took.", infer=_gradient_types, several=True)
def _while_backward(node: Node, values: Sequence[Any]) -> Sequence[Any]:
    count, places, carried = (node.attributes[name] for name in ("variables", "places", "carried"))
    backward = node.bodies[2]
    taken = len(node.bodies[1].inputs)
    given, gs = values[:taken], list(values[taken:])
    turns = list(_turns(node, given))
    totals: dict[int, Any] = {}
    back = interpreter.again(backward)
    for variables in reversed(turns[:-1]):
        found = back([*variables, *given[count:], *gs])
        of = dict(zip(places, found, strict=True))
        gs = [of[place] for place in carried]
        for place in places:
            if place >= count:
                totals[place] = of[place] if place not in totals else totals[place] + of[place]
    arrived = dict(zip(carried, gs, strict=True))
    return [
        arrived[place]
        if place < count
        else totals.get(place, Tensor(np.zeros_like(np.asarray(given[place].array))[()]))
        for place in places
    ]
