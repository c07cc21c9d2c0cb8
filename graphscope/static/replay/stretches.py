"""Recorded calls of a framework as a function of some values: run again by the adapter's executor."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from graphscope.adapters import executor
from graphscope.adapters.kit.executor import Executor
from graphscope.errors import StaticError
from graphscope.static.replay.recorded_rows import (
    DRAWN,
    FOLLOWING,
    PRECISE,
    Place,
    call_of_row,
    inside,
    made_inside,
    recorded,
    state_ahead,
    where,
)

if TYPE_CHECKING:
    from graphscope.graph import Node


@dataclasses.dataclass(frozen=True)
class Stretch:
    """Recorded rows in the order in which they ran.

    Attributes:
        executor: What runs them.
        steps: The rows: leaves and calls.
        inputs: The places whose values are given anew at each run.
        outputs: The places whose values are wanted.
        state: Of the random generator at the begin, where the log tells it.
        precise: Whether all is computed in float64.
    """

    executor: Executor
    steps: tuple[Node, ...]
    inputs: tuple[Place, ...]
    outputs: tuple[Place, ...]
    state: np.ndarray | None = None
    precise: bool = False

    def run(self, values: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The values of the outputs for those of the inputs.

        Raises:
            StaticError: A row can't run again; the message says which and why.
        """
        with self.executor.aside():
            found = self._run(values)
            return [self._array(found, place) for place in self.outputs]

    def dtypes(self, values: Sequence[np.ndarray]) -> set[str]:
        """The dtypes of all that it computes."""
        with self.executor.aside():
            return {self.executor.dtype(each) for each in self._run(values).values()}

    def _run(self, values: Sequence[np.ndarray]) -> dict[Place, Any]:
        sources = [edge for step in self.steps for edge in step.inputs]
        dtypes = {(each.source.row, each.slot): each.source.outputs[each.slot][1] for each in sources}
        found = {
            place: self._tensor(value, dtypes.get(place, str(value.dtype)))
            for place, value in zip(self.inputs, values, strict=True)
        }
        if self.state is not None:
            self.executor.draw_from(self.state)
        for step in self.steps:
            self._step(step, found)
        return found

    def _step(self, step: Node, found: dict[Place, Any]) -> None:
        if (step.row, 0) in found:
            return
        if step.kind != "op" or (self.precise and step.op in DRAWN):
            found[step.row, 0] = self._recorded(step, 0)
            return
        inputs = [self._value(edge.source, edge.slot, found) for edge in step.inputs]
        if step.graph.log.op(step.event.op).custom:
            results = [self._value(source, slot, found) for source, slot in made_inside(step)]
        elif step.op in FOLLOWING:
            results = inputs[:1]
        else:
            results = self.executor.call(call_of_row(step, self.precise), inputs)
        if len(results) != len(step.outputs):
            raise StaticError(f"{where(step)} gives {len(results)} tensors when it runs again, not {len(step.outputs)}")
        found.update(((step.row, slot), result) for slot, result in enumerate(results))

    def _value(self, source: Node, slot: int, found: dict[Place, Any]) -> Any:
        if (source.row, slot) not in found:
            found[source.row, slot] = self._recorded(source, slot)
        return found[source.row, slot]

    def _recorded(self, node: Node, slot: int) -> Any:
        return self._tensor(recorded(node, slot), node.outputs[slot][1])

    def _tensor(self, value: np.ndarray, dtype: str) -> Any:
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
    op = node.graph.log.op(node.event.op)
    steps: tuple[Node, ...] = (node,)
    outputs: tuple[Place, ...] = tuple((node.row, slot) for slot in range(len(node.outputs)))
    if op.custom:
        outputs = tuple((source.row, slot) for source, slot in made_inside(node))
        steps = tuple(inside(node))
    inputs = tuple(dict.fromkeys((edge.source.row, edge.slot) for edge in node.inputs))
    return Stretch(executor(op.framework), steps, inputs, outputs, state_ahead(steps[0] if steps else node))
