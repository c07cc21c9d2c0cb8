"""From a group of steps to kernels: their text, and which values they take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from graphscope.static.graphs.graph import Value
from graphscope.static.machine import kernels
from graphscope.static.machine.assembly import Code
from graphscope.static.machine.fusion import Group
from graphscope.static.machine.kernels import Expression, Operand, Place
from graphscope.static.plans.lowering import Lowered

Describe = Callable[[Value], Operand]
Kernel = tuple[str, list[tuple[Value, int]]]
"""The text of a kernel, in which NAME stands for its name, and the values whose addresses it takes: so many bytes
behind their first."""


def kernel_of(lowered: Lowered, group: Group, describe: Describe) -> Iterator[Kernel]:
    """The kernels that run a group."""
    yield from _WRITERS[group.kind](lowered, group, describe)


def _elementwise(lowered: Lowered, group: Group, describe: Describe) -> Iterator[Kernel]:
    outer: dict[Value, int] = {}
    for step in group.steps:
        for value in step.node.values:
            if value not in group.made:
                outer.setdefault(value, len(outer))
    numbers = {value: Place(number) for value, number in outer.items()}
    expressions, results = [], {}
    for number, step in enumerate(group.steps):
        (value,) = step.node.outputs
        floating = next(v.dtype for v in (*step.node.values, value) if v.dtype is not None and v.dtype.kind == "f")
        kind = "float" if floating.itemsize == 4 else "double"
        given = tuple(numbers[v] if isinstance(v, Value) else float(v) for v in step.node.inputs)
        expressions.append(Expression(step.node.op, given, kind))
        numbers[value] = Place(len(outer) + number)
        results[value] = number
    inside = {id(step) for step in group.steps}
    stored = [value for value in results if _needed(lowered, value, inside)]
    stores = [(results[value], describe(value)) for value in stored]
    code = kernels.elementwise(group.shape, [describe(value) for value in outer], expressions, stores)
    yield _text(code, len(outer) + len(stores)), [(value, 0) for value in (*outer, *stored)]


def _needed(lowered: Lowered, value: Value, inside: set[int]) -> bool:
    """Whether a value is used outside of its group."""
    return value in lowered.graph_outputs or any(id(step) not in inside for step in lowered.users.get(value, ()))


def _product(lowered: Lowered, group: Group, describe: Describe) -> Iterator[Kernel]:
    node = group.steps[0].node
    x, y = node.values
    (out,) = node.outputs
    yield _text(kernels.product(describe(x), describe(y), describe(out)), 3), [(x, 0), (y, 0), (out, 0)]


def _total(lowered: Lowered, group: Group, describe: Describe) -> Iterator[Kernel]:
    node = group.steps[0].node
    (x,), (out,) = node.values, node.outputs
    yield _text(kernels.total(describe(x)), 2), [(x, 0), (out, 0)]


def _stack(lowered: Lowered, group: Group, describe: Describe) -> Iterator[Kernel]:
    """Copies of the rows."""
    (out,) = group.steps[0].node.outputs
    whole = describe(out)
    for place, value in enumerate(group.steps[0].node.values):
        row = Operand(whole.shape[1:], whole.strides[1:], whole.dtype)
        start = place * whole.strides[0] * int(whole.dtype[1:])
        yield _text(kernels.copied(describe(value), row), 2), [(value, 0), (out, start)]


def _text(code: Code, count: int) -> str:
    arguments = ", ".join(f"ptr noalias %p{number}" for number in range(count))
    return code.function("NAME", arguments)


_WRITERS: dict[str, Any] = {"elementwise": _elementwise, "product": _product, "total": _total, "stack": _stack}
