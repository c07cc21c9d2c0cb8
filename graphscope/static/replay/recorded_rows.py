"""Rows of a framework's program as the log has them: calls, values, and what a custom function is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.adapters.kit.executor import RecordedCall
from graphscope.errors import StaticError
from graphscope.eventlog.schema import Flag, Kind
from graphscope.eventlog.typed import Dtype
from graphscope.eventlog.values import advice

if TYPE_CHECKING:
    from graphscope.graph import Node

Place = tuple[int, int]
"""A row of the log, and which of its outputs."""

PRECISE: Final = {
    "float16": "float64", "bfloat16": "float64", "float32": "float64", "complex64": "complex128",
}  # fmt: skip
"""The most precise dtype in the place of another one."""

FOLLOWING: Final = frozenset({"copy_slices", "take_view", "accumulate_grad", "changed"})
"""Ops that say how a write that is no call of its own reaches a tensor."""

DRAWN: Final = frozenset(
    {
        "bernoulli", "bernoulli_", "exponential_", "geometric_", "multinomial", "normal_", "poisson", "rand_like",
        "randint_like", "randn_like", "random_", "uniform_",
    }
)  # fmt: skip
"""Ops that draw random numbers, others in float64, which do not hang on their inputs but by steps."""

_CONVERTING: Final = frozenset({"float", "half", "bfloat16"})
"""Ops that make another dtype of a tensor without saying which by an argument."""


def call_of_row(node: Node, precise: bool = False) -> RecordedCall:
    """The call that a row records; `precise`: in float64 what was in less.

    Raises:
        StaticError: The log does not hold what it was given.
    """
    told = node.arguments
    if told.operands is None or len(node.inputs) < len(node.event.inputs):
        raise StaticError(f"{where(node)} can't run again: the log does not hold all that it was given")
    op = node.graph.log.op(node.event.op)
    function = op.function
    if not function:
        raise StaticError(f"{where(node)} can't run again: the log does not tell what it computes")
    operands, attributes = told.operands, dict(told.attributes)
    autocast = node.attrs.get("autocast")
    if precise:
        operands, attributes, autocast = _precisely(operands), _precisely(attributes), None
        function = "torch.Tensor.double" if node.op in _CONVERTING else function
    has_gradient = not node.flags & Flag.NO_GRAD
    writes = bool(node.flags & Flag.IN_PLACE)
    return RecordedCall(where(node), function, operands, attributes, writes, autocast, has_gradient, op.custom)


def state_ahead(node: Node) -> np.ndarray | None:
    """The state of the random generator as a call found it; None where the log does not tell."""
    log = node.graph.log
    marks = log.rare()
    for row in marks[: int(np.searchsorted(marks, node.row))][::-1].tolist():
        if log.event(row).kind == Kind.RANDOM:
            return log.value(row)
    return None


def inside(node: Node) -> list[Node]:
    """The leaves and calls that a custom function is made of, in order."""
    log = node.graph.log
    begin, end = _scope_ahead(node)
    return [
        node.graph.node(row)
        for row in range(begin + 1, end)
        if (event := log.event(row)).kind in (Kind.OP, Kind.LEAF) and event.thread == node.event.thread
    ]


def made_inside(node: Node) -> list[tuple[Node, int]]:
    """The rows inside of a custom function that made its outputs, and which of theirs these are."""
    log, graph = node.graph.log, node.graph
    _, end = _scope_ahead(node)
    found = [(graph.node(row), slot) for row, slot in log.inputs(end)]
    if len(found) != len(node.outputs):
        raise StaticError(f"{where(node)} can't run again: what its forward function computes was not seen whole")
    return found


def reads_numbers(node: Node) -> bool:
    """Whether the forward function of a custom one read numbers out of tensors: what hangs on them was not seen."""
    log = node.graph.log
    if not log.op(node.event.op).custom:
        return False
    _, end = _scope_ahead(node)
    return bool(log.attrs(log.event(end).attrs).get("reads"))


def recorded(node: Node, slot: int) -> np.ndarray:
    """The recorded value of an output.

    Raises:
        StaticError: It was not kept.
    """
    value = node.output(slot)
    if value is None:
        raise StaticError(f"the value of {where(node)} was not kept", hint=advice(node.dtype))
    return np.asarray(value)


def where(node: Node) -> str:
    """How messages name a node."""
    return f"#{node.row} {node.label}"


def _scope_ahead(node: Node) -> tuple[int, int]:
    """The marks at both ends of the scope that ends ahead of a row: what a custom function computes lies between."""
    log = node.graph.log
    row, end, depth = node.row - 1, -1, 0
    while row >= log.first:
        event = log.event(row)
        if event.thread == node.event.thread:
            if event.kind == Kind.SCOPE_EXIT:
                end = row if end < 0 else end
                depth += 1
            elif event.kind == Kind.SCOPE_ENTER:
                depth -= 1
                if end >= 0 and depth == 0:
                    return row, end
            elif end < 0 and event.kind != Kind.LEAF:
                break
        row -= 1
    raise StaticError(f"{where(node)} can't run again: the log does not tell what it computes")


def _precisely(value: Any) -> Any:
    """Constants with the most precise dtype in the place of each other one."""
    if isinstance(value, Dtype):
        return Dtype(PRECISE.get(value.name, value.name))
    if isinstance(value, (tuple, list)):
        return type(value)(_precisely(each) for each in value)
    if isinstance(value, dict):
        return {name: _precisely(each) for name, each in value.items()}
    return value
