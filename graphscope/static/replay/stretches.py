"""Recorded calls of a framework as a function of some values: run again by the adapter's executor."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.adapters import executor
from graphscope.adapters.kit.executor import Executor, RecordedCall
from graphscope.errors import StaticError
from graphscope.eventlog.schema import Flag, Kind
from graphscope.eventlog.typed import Dtype

if TYPE_CHECKING:
    from graphscope.graph import Node

Place = tuple[int, int]
"""A row of the log, and which of its outputs."""

PRECISE: Final = {
    "float16": "float64", "bfloat16": "float64", "float32": "float64", "complex64": "complex128",
}  # fmt: skip
"""The most precise dtype in the place of another one."""

_CONVERTING: Final = frozenset({"float", "half", "bfloat16"})
"""Ops that make another dtype of a tensor without saying which by an argument."""

_FOLLOWING: Final = frozenset({"copy_slices", "take_view", "accumulate_grad"})
"""Ops that say how a write through another tensor reaches this one: here it does by itself."""


@dataclasses.dataclass(frozen=True)
class Stretch:
    """Recorded rows in the order in which they ran.

    Attributes:
        steps: The rows: leaves and calls.
        inputs: The places whose values are given anew at each run.
        outputs: The places whose values are wanted.
        precise: Whether all is computed in float64.
    """

    executor: Executor
    steps: tuple[Node, ...]
    inputs: tuple[Place, ...]
    outputs: tuple[Place, ...]
    precise: bool = False

    def run(self, values: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The values of the outputs for those of the inputs.

        Raises:
            StaticError: A row can't run again; the message says which and why.
        """
        with self.executor.aside():
            found = {place: self._tensor(place, value) for place, value in zip(self.inputs, values, strict=True)}
            for step in self.steps:
                self._run(step, found)
            return [self._array(found, place) for place in self.outputs]

    def dtypes(self, values: Sequence[np.ndarray]) -> set[str]:
        """The dtypes of all that it computes."""
        with self.executor.aside():
            found = {place: self._tensor(place, value) for place, value in zip(self.inputs, values, strict=True)}
            for step in self.steps:
                self._run(step, found)
            return {self.executor.dtype(each) for each in found.values()}

    def _run(self, step: Node, found: dict[Place, Any]) -> None:
        if (step.row, 0) in found:
            return
        if step.kind != "op":
            found[step.row, 0] = self._recorded(step, 0)
            return
        inputs = [self._value(edge.source, edge.slot, found) for edge in step.inputs]
        op = step.graph.log.op(step.event.op)
        if op.function:
            results = self.executor.call(self._call(step), inputs)
        elif step.op in _FOLLOWING:
            results = inputs[:1]
        else:
            results = [self._value(source, slot, found) for source, slot in made_inside(step)]
        if len(results) != len(step.outputs):
            raise StaticError(f"{where(step)} gives {len(results)} tensors when it runs again, not {len(step.outputs)}")
        found.update(((step.row, slot), result) for slot, result in enumerate(results))

    def _call(self, step: Node) -> RecordedCall:
        told = step.arguments
        if told.operands is None:
            raise StaticError(f"{where(step)} can't run again: the log does not hold what it was given")
        function = step.graph.log.op(step.event.op).function
        operands, attributes = told.operands, told.attributes
        if self.precise:
            operands, attributes = _precisely(operands), _precisely(dict(attributes))
            function = "torch.Tensor.double" if step.op in _CONVERTING else function
        writes = bool(step.event.flags & Flag.IN_PLACE)
        return RecordedCall(where(step), function, operands, attributes, writes)

    def _value(self, source: Node, slot: int, found: dict[Place, Any]) -> Any:
        if (source.row, slot) not in found:
            found[source.row, slot] = self._recorded(source, slot)
        return found[source.row, slot]

    def _recorded(self, node: Node, slot: int) -> Any:
        value = recorded(node, slot)
        return self._tensor((node.row, slot), value, node.outputs[slot][1])

    def _tensor(self, place: Place, value: np.ndarray, dtype: str = "") -> Any:
        dtype = dtype or str(value.dtype)
        return self.executor.tensor(value, PRECISE.get(dtype, dtype) if self.precise else dtype)

    def _array(self, found: Mapping[Place, Any], place: Place) -> np.ndarray:
        array = self.executor.array(found[place])
        if array is None:
            raise StaticError(f"the elements of #{place[0]} can't be had")
        return array


def stretch_of(node: Node) -> Stretch:
    """What a node computes, as a function of its inputs.

    Raises:
        StaticError: Nothing of the framework is there to run it, or it was not seen whole.
    """
    log = node.graph.log
    op = log.op(node.event.op)
    steps: tuple[Node, ...] = (node,)
    outputs: tuple[Place, ...] = tuple((node.row, slot) for slot in range(len(node.outputs)))
    if not op.function:
        begin, end = _scope_ahead(node)
        steps = tuple(
            node.graph.node(row)
            for row in range(begin + 1, end)
            if (event := log.event(row)).kind in (Kind.OP, Kind.LEAF) and event.thread == node.event.thread
        )
        outputs = tuple((source.row, slot) for source, slot in made_inside(node))
    inputs = tuple(dict.fromkeys((edge.source.row, edge.slot) for edge in node.inputs))
    return Stretch(executor(op.framework), steps, inputs, outputs)


def made_inside(node: Node) -> list[tuple[Node, int]]:
    """The rows inside of a custom function that made its outputs, and which of theirs these are."""
    log, graph = node.graph.log, node.graph
    _, end = _scope_ahead(node)
    found = [(graph.node(row), slot) for row, slot in log.inputs(end)]
    if len(found) != len(node.outputs):
        raise StaticError(f"{where(node)} can't run again: what its forward function computes was not seen whole")
    return found


def recorded(node: Node, slot: int) -> np.ndarray:
    """The recorded value of an output.

    Raises:
        StaticError: It was not kept.
    """
    value = node.output(slot)
    if value is None:
        raise StaticError(f"the value of {where(node)} was not kept", hint="record with values='full' and a larger cap")
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
