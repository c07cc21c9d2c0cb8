"""Which steps become machine code, and which elementwise ones become one loop."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from graphscope.static.graphs.graph import Value
from graphscope.static.machine.math_functions import takes
from graphscope.static.plans.lowering import Lowered, Step
from graphscope.static.plans.numpy_calls import is_stack

_MOST_PRODUCTS: Final = 1 << 17
"""Multiplications; a larger product of matrices is left to BLAS, which blocks it for the cache."""


@dataclass(eq=False)
class Group:
    """Steps that run together.

    Attributes:
        kind: `elementwise`, `product`, `total`, `stack`, or `call` for what stays a call of NumPy.
        shape: Of an elementwise group, the shape of all of its results.
    """

    kind: str
    steps: list[Step] = field(default_factory=list)
    shape: tuple[int, ...] = ()
    made: set[Value] = field(default_factory=set)


def groups_of(lowered: Lowered) -> list[Group]:
    """The steps of a graph in groups; those that only look at memory are in none."""
    found: list[Group] = []
    for step in lowered.steps:
        if step.view:
            continue
        kind = _kind(lowered, step)
        shape: Any = step.node.outputs[0].shape if step.node.outputs else ()
        last = found[-1] if found else None
        if kind == "elementwise" and last is not None and last.kind == kind and _joins(lowered, last, step):
            group = last
        else:
            group = Group(kind, shape=shape)
            found.append(group)
        group.steps.append(step)
        group.made.update(step.node.outputs)
    return found


def _joins(lowered: Lowered, group: Group, step: Step) -> bool:
    """Whether a step can run in the loop of a group: it takes what that makes element by element, or not at all."""
    if step.node.outputs[0].shape != group.shape:
        return False
    roots = {lowered.roots[value] for value in group.made}
    return all(
        value in group.made or lowered.roots[value] not in roots for value in step.inputs if isinstance(value, Value)
    )


def _kind(lowered: Lowered, step: Step) -> str:
    node = step.node
    if not step.into or len(node.outputs) != 1:
        return "call"
    values = [*node.values, *node.outputs]
    if any(value.shape is None or None in value.shape or lowered.samples.get(value) is None for value in values):
        return "call"
    if any(_size(value) == 0 for value in values) or not _known_layout(lowered, node.values):
        return "call"
    dtypes = [value.dtype for value in values]
    if takes(node.op, dtypes) and step.elementwise and _one_type(node.op, dtypes):
        return "elementwise"
    if any(dtype is None or dtype.str[1:] not in ("f4", "f8") for dtype in dtypes) or len(set(dtypes)) > 1:
        return "call"
    if node.op == "matmul":
        x, y = (value.shape for value in node.values)
        if len(x) == len(y) == 2 and x[0] * x[1] * y[1] <= _MOST_PRODUCTS:  # type: ignore[arg-type, operator, index]
            return "product"
    if node.op == "sum" and node.attributes.get("dim") is None:
        return "total"
    return "stack" if is_stack(node) and node.outputs[0] not in lowered.fresh else "call"


def _one_type(op: str, dtypes: Sequence[Any]) -> bool:
    floating = {dtype for dtype in dtypes if dtype.kind == "f"}
    return len(floating) == 1


def _known_layout(lowered: Lowered, values: Any) -> bool:
    """Whether arrays lie as their samples do: what a function of Python makes may lie otherwise."""
    for value in values:
        root = lowered.roots[value]
        made = lowered.made.get(root)
        if made is not None and not made[0].into:
            return False
    return True


def _size(value: Value) -> int:
    return math.prod(value.shape or ())  # type: ignore[arg-type]
