"""Batching: families of like nodes over independent data become one node over a stack."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from graphscope.static.graphs.graph import Graph, Node, Value
from graphscope.static.graphs.node_kinds import frozen, is_pure
from graphscope.static.graphs.rewriting import copy
from graphscope.static.plans.numpy_calls import ELEMENTWISE

# Two patterns: the same elementwise op, or product with a shared matrix, over data of which none depends on another;
# and a sum of products, which is one product of the stacks. Rows of a stack are laid where they are made (see
# `layout`), so that stacking costs nothing.

_FEWEST: Final = 4
"""So many like nodes are worth a stack."""


def batch(graph: Graph, least: int = 1) -> Graph:
    """Join like nodes over independent data into one node over a stack.

    Args:
        graph: The graph.
        least: Of how many elements the results have to be.
    """
    tried: set[Any] = set()
    while True:
        found = _sum_of_products(graph) or _family(graph, tried, least)
        if found is None:
            return graph
        graph = found


def batch_arrays(graph: Graph) -> Graph:
    """As batch, but single numbers stay single: in machine code each is an instruction, and a stack would be more."""
    return batch(graph, least=2)


# Families -------------------------------------------------------------------------------------------------------------


def _family(graph: Graph, tried: set[Any], least: int) -> Graph | None:
    """The graph with one more family joined; None when there is no more."""
    families: dict[Any, list[Node]] = {}
    for node in graph.nodes:
        key = _kin(node)
        if key is not None and key not in tried and _size(node) >= least:
            families.setdefault(key, []).append(node)
    users: dict[Value, list[Node]] | None = None
    for key, members in families.items():
        tried.add(key)
        if len(members) >= _FEWEST:
            users = graph.users() if users is None else users
            chosen = _independent(members, users)
            if len(chosen) >= _FEWEST:
                return _rebuilt(graph, chosen, _JOINED[key[0]])
    return None


def _size(node: Node) -> int:
    shape: Any = node.outputs[0].shape
    return math.prod(shape)


def _kin(node: Node) -> Any:
    """What members of a family have in common; None where a node is of no kind that is joined."""
    if node.op not in _JOINED or not is_pure(node) or node.after or len(node.outputs) != 1:
        return None
    out = node.outputs[0]
    if out.shape is None or None in out.shape or any(v.shape is None or None in v.shape for v in node.values):
        return None
    if node.op == "matmul":
        x, y = node.inputs
        if len(x.shape) != 2 or len(y.shape) != 2 or x.dtype != y.dtype:
            return None
        if y.shape[1] == 1 and x.shape[1] != 1:
            return ("matmul", "left", x, y.shape, x.dtype)
        return None
    rank = len(out.shape)
    if not all((isinstance(v, Value) and v.dtype == out.dtype and len(v.shape or ()) == rank)
               or isinstance(v, int | float) for v in node.inputs):  # fmt: skip
        return None
    given = tuple((v.shape, v.dtype) if isinstance(v, Value) else frozen(v) for v in node.inputs)
    return (node.op, given, out.shape, out.dtype, frozen(node.attributes))


def _independent(members: Sequence[Node], users: dict[Value, list[Node]]) -> list[Node]:
    """The members that need nothing that another one gives."""
    family = set(members)
    seen: set[Node] = set()
    pending = list(members)
    while pending:
        for value in pending.pop().outputs:
            for user in users[value]:
                if user not in seen:
                    seen.add(user)
                    if user not in family:
                        pending.append(user)
    return [node for node in members if node not in seen]


Joiner = Callable[[Graph, Sequence[Node], Sequence[Sequence[Any]]], list[Value]]


def _elementwise(new: Graph, members: Sequence[Node], inputs: Sequence[Sequence[Any]]) -> list[Value]:
    first = members[0]
    count = len(members)
    given = [_together(new, members, column) for column in zip(*inputs, strict=True)]
    out = first.outputs[0]
    assert out.shape is not None
    types = [((count, *out.shape), out.dtype)]
    made = new.append(first.op, given, first.attributes, types=types, **_about(members)).outputs[0]
    return _rows(new, made, members, out.shape)


def _matrix_by_columns(new: Graph, members: Sequence[Node], inputs: Sequence[Sequence[Any]]) -> list[Value]:
    """A·b for many columns b: the rows b stacked, by A transposed."""
    matrix = inputs[0][0]
    width, count = matrix.shape[1], len(members)
    lines = [_reshaped(new, column, (width,), members) for _, column in inputs]
    stacked = _stack(new, lines, members)
    turned = new.append("t", (matrix,), types=[(matrix.shape[::-1], matrix.dtype)], **_about(members)).outputs[0]
    types = [((count, matrix.shape[0]), matrix.dtype)]
    made = new.append("matmul", (stacked, turned), types=types, **_about(members)).outputs[0]
    shape = members[0].outputs[0].shape
    return _rows(new, made, members, shape)


_JOINED: Final[dict[str, Joiner]] = {**dict.fromkeys(ELEMENTWISE, _elementwise), "matmul": _matrix_by_columns}
"""How the members of a family become one, by their op."""


def _together(new: Graph, members: Sequence[Node], column: Sequence[Any]) -> Any:
    """What a joined node takes in the place of what its members took: the same for all, or a stack."""
    first = column[0]
    if all(value is first for value in column) or not isinstance(first, Value):
        return first
    return _stack(new, column, members)


def _about(members: Sequence[Node]) -> dict[str, Any]:
    origins = tuple(dict.fromkeys(origin for node in members for origin in node.origins))
    return {"site": members[0].site, "scope": members[0].scope, "origins": origins}


def _stack(new: Graph, values: Sequence[Value], members: Sequence[Node]) -> Value:
    first = values[0]
    assert first.shape is not None
    types = [((len(values), *first.shape), first.dtype)]
    return new.append("stack", values, {"dim": 0}, types=types, **_about(members)).outputs[0]


def _rows(new: Graph, made: Value, members: Sequence[Node], shape: Any) -> list[Value]:
    rows = []
    for number, node in enumerate(members):
        about = {"site": node.site, "scope": node.scope, "origins": node.origins}
        assert made.shape is not None
        types = [(made.shape[1:], made.dtype)]
        attributes = {"index": number, "_from": made.shape}
        row = new.append("getitem", (made,), attributes, types=types, **about).outputs[0]
        rows.append(_reshaped(new, row, shape, [node]))
    return rows


def _reshaped(new: Graph, value: Value, shape: Any, members: Sequence[Node]) -> Value:
    """A value in another shape; a transposed line is that line."""
    source = value
    while source.node.op in ("reshape", "view") or (source.node.op in ("t", "transpose") and 1 in (source.shape or ())):
        source = source.node.inputs[0]
    if source.shape == shape:
        return source
    types = [(shape, value.dtype)]
    return new.append("reshape", (source,), {"shape": shape}, types=types, **_about(members)).outputs[0]


# Sums of products -----------------------------------------------------------------------------------------------------


def _sum_of_products(graph: Graph) -> Graph | None:
    """The graph with one sum of many products as one product of stacks; None when there is none."""
    users = graph.users()
    outputs = set(graph.outputs)
    inner = {
        value for node in graph.nodes if node.op == "add" for value in node.values
        if value.node.op == "add" and len(users[value]) == 1 and value not in outputs
    }  # fmt: skip
    for node in graph.nodes:
        if node.op == "add" and node.outputs[0] not in inner:
            terms, adds = _terms(node, inner)
            like: dict[Any, list[Node]] = {}
            for value in terms:
                key = _product(value)
                if key is not None and len(users[value]) == 1 and value not in outputs:
                    like.setdefault(key, []).append(value.node)
            chosen = next((nodes for nodes in like.values() if len(nodes) >= _FEWEST), None)
            if chosen is not None:
                return _rebuilt(graph, [node], _summed(terms, adds, chosen))
    return None


def _terms(node: Node, inner: set[Value]) -> tuple[list[Value], list[Node]]:
    """What a chain of additions adds up, and its inner nodes."""
    terms: list[Value] = []
    adds = [node]
    pending = list(node.inputs)[::-1]
    while pending:
        value = pending.pop()
        if isinstance(value, Value) and value in inner:
            adds.append(value.node)
            pending += list(value.node.inputs)[::-1]
        else:
            terms.append(value)
    return terms, adds


def _product(value: Any) -> Any:
    if not isinstance(value, Value) or value.node.op != "matmul" or value.node.after:
        return None
    x, y = value.node.inputs
    if x.shape is None or y.shape is None or None in (*x.shape, *y.shape) or len(x.shape) != 2 or len(y.shape) != 2:
        return None
    return (x.shape, y.shape, x.dtype) if x.shape[1] == 1 and x.dtype == y.dtype else None


def _summed(terms: Sequence[Value], adds: Sequence[Node], products: Sequence[Node]) -> Joiner:
    """Column by row, many times, added up: the stack of columns transposed, by the stack of rows."""
    joined = {node.outputs[0] for node in products}
    needs = [*(v for node in products for v in node.inputs), *(v for v in terms if v not in joined)]

    def join(new: Graph, members: Sequence[Node], inputs: Sequence[Sequence[Any]]) -> list[Value]:
        given = dict(zip(needs, inputs[0], strict=True))
        (x, y), out = products[0].inputs, members[0].outputs[0]
        about = [*products, *adds]
        columns = [_reshaped(new, given[node.inputs[0]], (x.shape[0],), [node]) for node in products]
        rows = [_reshaped(new, given[node.inputs[1]], (y.shape[1],), [node]) for node in products]
        left, right = _stack(new, columns, products), _stack(new, rows, products)
        assert left.shape is not None
        turned = new.append("t", (left,), types=[(left.shape[::-1], left.dtype)], **_about(products)).outputs[0]
        types = [(out.shape, out.dtype)]
        total = new.append("matmul", (turned, right), types=types, **_about(about)).outputs[0]
        for value in terms:
            if value not in joined:
                total = new.append("add", (total, given[value]), types=types, **_about(adds)).outputs[0]
        return [total]

    join.needs = needs  # type: ignore[attr-defined]
    return join


# The graph around -----------------------------------------------------------------------------------------------------


def _rebuilt(graph: Graph, members: Sequence[Node], join: Joiner) -> Graph:
    """The graph with its members joined, in an order in which it can run; without recursion."""
    new = Graph(graph.name)
    places: dict[Value, Value] = {}
    family = set(members)
    needs = getattr(join, "needs", None)
    wanted = [value for node in members for value in node.values] if needs is None else needs
    doing = [value.node for value in graph.outputs] + [n for n in graph.nodes if not is_pure(n)]
    order = [value.node for value in graph.inputs] + [node for node in graph.nodes if not is_pure(node)]
    pending: list[tuple[Node, bool]] = [(node, False) for node in (*order, *doing)][::-1]
    made: dict[Node, Node] = {}
    started: set[Node] = set()
    while pending:
        node, ready = pending.pop()
        if (node.outputs and node.outputs[0] in places) or node in made:
            continue
        if not ready:
            pending.append((node, True))
            if node in started:
                continue
            started.add(node)
            before = [value.node for value in wanted] if node in family else list(node.before)
            pending += [(each, False) for each in before[::-1] if not (each.outputs and each.outputs[0] in places)]
        elif node in family:
            inputs = [[places.get(v) if isinstance(v, Value) else v for v in each.inputs] for each in members]
            if needs is not None:
                inputs = [[places.get(v) for v in needs]]
            for member, value in zip(members, join(new, members, inputs), strict=True):
                places[member.outputs[0]] = value
        else:
            given = [places[v] if isinstance(v, Value) else v for v in node.inputs]
            made[node] = copied = copy(new, node, given, made)
            places.update(zip(node.outputs, copied.outputs, strict=True))
    new.inputs = [places[value] for value in graph.inputs]
    new.outputs = [places[value] for value in graph.outputs]
    return new
