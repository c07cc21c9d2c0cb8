"""Batching: families of like nodes over independent data become one node over a stack."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from graphscope.static.graphs.graph import Graph, Node, Value, ordered
from graphscope.static.graphs.node_kinds import frozen, is_pure
from graphscope.static.graphs.rewriting import copied
from graphscope.static.plans.numpy_calls import ELEMENTWISE

# Two patterns: the same elementwise op, or product with a shared matrix, over data of which none depends on another;
# and a sum of products, which is one product of the stacks.

_FEWEST: Final = 4
"""So many like nodes are worth a stack."""


def batch(graph: Graph, least: int = 1) -> Graph:
    """Join like nodes over independent data into one node over a stack.

    Args:
        graph: The graph.
        least: Of how many elements the results have to be.
    """
    tried: set[Any] = set()
    new, _ = copied(graph, graph.name)
    while _join_products(new) or _join_family(new, tried, least):
        pass
    return new


def batch_arrays(graph: Graph) -> Graph:
    """As batch, but single numbers stay single: in machine code each is an instruction, and a stack would be more."""
    return batch(graph, least=2)


def _replace(graph: Graph, members: Sequence[Node], values: Sequence[Value]) -> None:
    """Let other values stand for what some nodes give, and leave out what nothing needs then."""
    places = dict(zip((node.outputs[0] for node in members), values, strict=True))
    for node in graph.nodes:
        node.inputs = tuple(places.get(each, each) if isinstance(each, Value) else each for each in node.inputs)
    graph.outputs = [places.get(value, value) for value in graph.outputs]
    doing = [node for node in graph.nodes if not is_pure(node)]
    graph.nodes = ordered([*doing, *(value.node for value in graph.outputs)])


# Families -------------------------------------------------------------------------------------------------------------


def _join_family(graph: Graph, tried: set[Any], least: int) -> bool:
    """Join one more family; whether there was one."""
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
                _replace(graph, chosen, _JOINED[key[0]](graph, chosen))
                return True
    return False


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


Joiner = Callable[[Graph, Sequence[Node]], list[Value]]


def _elementwise(graph: Graph, members: Sequence[Node]) -> list[Value]:
    first = members[0]
    given = [_together(graph, members, column) for column in zip(*(node.inputs for node in members), strict=True)]
    out = first.outputs[0]
    assert out.shape is not None
    made = _add(graph, first.op, given, (len(members), *out.shape), out.dtype, members, **first.attributes)
    return _rows(graph, made, members, out.shape)


def _matrix_by_columns(graph: Graph, members: Sequence[Node]) -> list[Value]:
    """A·b for many columns b: the rows b stacked, by A transposed."""
    matrix = members[0].inputs[0]
    width, count = matrix.shape[1], len(members)
    lines = [_reshaped(graph, node.inputs[1], (width,), members) for node in members]
    stacked = _stack(graph, lines, members)
    turned = _add(graph, "t", (matrix,), matrix.shape[::-1], matrix.dtype, members)
    made = _add(graph, "matmul", (stacked, turned), (count, matrix.shape[0]), matrix.dtype, members)
    return _rows(graph, made, members, members[0].outputs[0].shape)


_JOINED: Final[dict[str, Joiner]] = {**dict.fromkeys(ELEMENTWISE, _elementwise), "matmul": _matrix_by_columns}
"""How the members of a family become one, by their op."""


def _together(graph: Graph, members: Sequence[Node], column: Sequence[Any]) -> Any:
    """What a joined node takes in the place of what its members took: the same for all, or a stack."""
    first = column[0]
    if all(value is first for value in column) or not isinstance(first, Value):
        return first
    return _stack(graph, column, members)


def _add(
    graph: Graph, op: str, inputs: Sequence[Any], shape: Any, dtype: Any, members: Sequence[Node], **attributes: Any
) -> Value:
    """Add a node that stands for some others."""
    return graph.append(op, inputs, attributes, types=[(shape, dtype)], **_about(members)).outputs[0]


def _about(members: Sequence[Node]) -> dict[str, Any]:
    origins = tuple(dict.fromkeys(origin for node in members for origin in node.origins))
    return {"site": members[0].site, "scope": members[0].scope, "origins": origins}


def _stack(graph: Graph, values: Sequence[Value], members: Sequence[Node]) -> Value:
    first = values[0]
    assert first.shape is not None
    return _add(graph, "stack", values, (len(values), *first.shape), first.dtype, members, dim=0)


def _rows(graph: Graph, made: Value, members: Sequence[Node], shape: Any) -> list[Value]:
    rows = []
    for number, node in enumerate(members):
        assert made.shape is not None
        row = _add(graph, "getitem", (made,), made.shape[1:], made.dtype, [node], index=number, _from=made.shape)
        rows.append(_reshaped(graph, row, shape, [node]))
    return rows


def _reshaped(graph: Graph, value: Value, shape: Any, members: Sequence[Node]) -> Value:
    """A value in another shape; a transposed line is that line."""
    source = value
    while source.node.op in ("reshape", "view") or (source.node.op in ("t", "transpose") and 1 in (source.shape or ())):
        source = source.node.inputs[0]
    if source.shape == shape:
        return source
    made = graph.append("reshape", (source,), {"shape": shape}, types=[(shape, value.dtype)], **_about(members))
    return made.outputs[0]


# Sums of products -----------------------------------------------------------------------------------------------------


def _join_products(graph: Graph) -> bool:
    """Make of one sum of many products one product of stacks; whether there was one."""
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
                _replace(graph, [node], [_summed(graph, terms, adds, chosen)])
                return True
    return False


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


def _summed(graph: Graph, terms: Sequence[Value], adds: Sequence[Node], products: Sequence[Node]) -> Value:
    """Column by row, many times, added up: the stack of columns transposed, by the stack of rows."""
    (x, y), out = products[0].inputs, adds[0].outputs[0]
    columns = [_reshaped(graph, node.inputs[0], (x.shape[0],), [node]) for node in products]
    rows = [_reshaped(graph, node.inputs[1], (y.shape[1],), [node]) for node in products]
    left, right = _stack(graph, columns, products), _stack(graph, rows, products)
    assert left.shape is not None
    turned = _add(graph, "t", (left,), left.shape[::-1], left.dtype, products)
    total = _add(graph, "matmul", (turned, right), out.shape, out.dtype, [*products, *adds])
    for value in terms:
        if value.node not in products:
            total = _add(graph, "add", (total, value), out.shape, out.dtype, adds)
    return total
