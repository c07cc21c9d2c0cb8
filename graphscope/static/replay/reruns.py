"""Recorded rows run again in their order: forward, backward and optimizer, with other values in some places."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from graphscope.adapters.kit.executor import Executor
from graphscope.errors import StaticError
from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.static.replay import optimizer_steps
from graphscope.static.replay.recorded_passes import RecordedPass, pass_at
from graphscope.static.replay.recorded_rows import FOLLOWING, Place, call_of_row, made_inside, recorded, where

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Event
    from graphscope.graph import Graph, Node

Seen = Callable[["Node", Sequence[Any]], None]
"""Is told of each node that ran again, and what it gave."""


class Rerun:
    """A run of recorded rows.

    Args:
        graph: The recorded graph.
        executor: What runs them.
        changes: The values that are to stand at rows: of forward nodes, or the gradients of backward nodes.
        gradients: The gradients that are to take the place of those that arrive at forward nodes, by their rows.
        differentiates: Whether a backward pass follows.
        seen: Is told of each node that ran.
    """

    def __init__(
        self,
        graph: Graph,
        executor: Executor,
        changes: Mapping[int, np.ndarray],
        gradients: Mapping[int, np.ndarray] | None = None,
        differentiates: bool = True,
        seen: Seen | None = None,
    ) -> None:
        self.graph = graph
        self.executor = executor
        self.found: dict[Place, Any] = {}
        """What was computed so far, by row and slot."""
        self._changes = changes
        self._differentiates = differentiates
        self._seen = seen
        self._tensors: dict[int, Any] = {}
        """The tensors of leaves, by the rows of their first versions."""
        self._writes: dict[int, int] = {}
        """How often tensors had been written when their newest version was met."""
        self._optimizers = optimizer_steps.Optimizers(graph.log, executor)
        self._running: RecordedPass | None = None
        self._gradient_changes = gradients or {}
        self._changed_in_passes = self._by_forward_node()

    def run(self, rows: Iterable[int]) -> None:
        """Run rows of the log, in their order.

        Raises:
            StaticError: One can't run again; the message says which and why.
        """
        end = -1
        for row in rows:
            if row <= end:
                continue
            event = self.graph.log.event(row)
            if event.kind == Kind.BACKWARD_BEGIN:
                end = self._backward(event)
            else:
                self._run_row(event)

    def array(self, place: Place) -> np.ndarray:
        """What stands at a place now.

        Raises:
            StaticError: It did not run, or its elements can't be had.
        """
        node = self.graph.node(place[0])
        held = self.found.get(place)
        array = recorded(node, place[1]) if held is None else self.executor.array(held)
        if array is None:
            raise StaticError(f"the elements of {where(node)} can't be had")
        return array

    # Rows ------------------------------------------------------------------------------------------------------------

    def _run_row(self, event: Event) -> None:
        if event.kind == Kind.RANDOM:
            state = self.graph.log.value(event.row)
            if state is not None:
                self.executor.draw_from(state)
        elif event.kind == Kind.ASSIGN:
            self._assign(event)
        elif event.kind == Kind.EDIT:
            raise StaticError(f"at #{event.row} a person replaced a value: what follows can't run again")
        elif event.kind in (Kind.LEAF, Kind.OP) and event.graph_pass == Pass.FORWARD and not event.flags & Flag.FAILED:
            node = self.graph.node(event.row)
            results = self._leaf(node) if event.kind == Kind.LEAF else self._op(node)
            self._note(node, results)

    def _note(self, node: Node, results: Sequence[Any]) -> None:
        if len(results) != len(node.outputs):
            raise StaticError(f"{where(node)} gives {len(results)} tensors when it runs again, not {len(node.outputs)}")
        for slot, result in enumerate(results):
            self.found[node.row, slot] = result
        change = self._changes.get(node.row)
        if change is not None:
            self.executor.write(results[0], change)
        self._listen(node.row, results[0])
        self._writes[node.tensor] = self.executor.writes(results[0])
        if self._seen is not None:
            self._seen(node, results)

    def _listen(self, row: int, tensor: Any) -> None:
        """Let gradients that are changed take the place of those that arrive at a tensor."""
        if row in self._changed_in_passes or row in self._gradient_changes:
            self.executor.on_gradient(tensor, lambda: self._gradient_in_place(row))

    def _leaf(self, node: Node) -> list[Any]:
        held = self._tensors.get(node.tensor)
        if held is None:
            value, strides = recorded(node, 0), node.attrs.get("strides")
            has_gradient = bool(node.flags & Flag.REQUIRES_GRAD)
            held = self.executor.tensor(value, node.dtype, strides, has_gradient)
            self._tensors[node.tensor] = held
        return [held]

    def _op(self, node: Node) -> list[Any]:
        op = node.graph.log.op(node.event.op)
        if self._optimizers.steps(node):
            held = self._input(node, 0)
            self._optimizers.update(node, held)
            return [held]
        inputs = [self._input(node, number) for number in range(len(node.inputs))]
        if node.op in FOLLOWING:
            return self._follow(node, inputs)
        if op.custom and (not self._differentiates or not node.flags & Flag.REQUIRES_GRAD):
            return [self._value(source, slot) for source, slot in made_inside(node)]
        return self.executor.call(call_of_row(node), inputs)

    def _follow(self, node: Node, inputs: list[Any]) -> list[Any]:
        """Bring a tensor up to date, unless what ran again has done so."""
        held = inputs[0]
        if node.op == "accumulate_grad":
            return [held]
        if node.op == "changed":
            is_written = self.executor.writes(held) != self._writes.get(node.tensor, self.executor.writes(held))
        else:
            is_written = len(inputs) > 1 and self.executor.share(held, inputs[1])
        if not is_written:
            if self._changes:
                raise StaticError(f"{where(node)} can't run again: what wrote into it is not in the log")
            self.executor.write(held, recorded(node, 0))
        return [held]

    def _assign(self, event: Event) -> None:
        facts = self.graph.log.attrs(event.attrs)
        for row in facts.get("tensors", ()):
            held = self._tensors.get(row)
            if held is None:
                continue
            if facts.get("set") == "grad":
                given = self.found.get(event.inputs[0]) if event.inputs else None
                self.executor.set_gradient(held, given)
            elif facts.get("set") == "requires_grad":
                self.executor.set_has_gradient(held, bool(facts.get("to")))

    def _input(self, node: Node, number: int) -> Any:
        edge = node.inputs[number]
        return self._value(edge.source, edge.slot)

    def _value(self, source: Node, slot: int) -> Any:
        place = source.row, slot
        if place not in self.found:
            self.found[place] = self._taken(source, slot)
            self._listen(source.row, self.found[place])
        return self.found[place]

    def _taken(self, source: Node, slot: int) -> Any:
        """A tensor that did not run again, as the log has it; gradients flow to it where it is a leaf."""
        log, dtype = self.graph.log, source.outputs[slot][1]
        first = log.event(source.tensor) if source.tensor >= log.first else source.event
        flows = first.kind == Kind.LEAF and first.flags & Flag.REQUIRES_GRAD
        strides = log.attrs(first.attrs).get("strides") if first.kind == Kind.LEAF else None
        return self.executor.tensor(recorded(source, slot), dtype, strides, bool(flows))

    # Passes ----------------------------------------------------------------------------------------------------------

    def _backward(self, event: Event) -> int:
        """Run a backward pass; the row of its end."""
        recorded_pass = self._running = pass_at(self.graph, event)
        roots = [self._value(root, slot) for root, slot in recorded_pass.roots]
        if recorded_pass.wanted:
            inputs = [self._value(node, 0) for _, node in recorded_pass.wanted]
            gradients = self.executor.gradients(roots, recorded_pass.cotangents, inputs)
            for (row, _), gradient in zip(recorded_pass.wanted, gradients, strict=True):
                self.found[row, 0] = gradient
        else:
            self.executor.backward(roots, recorded_pass.cotangents)
        for row, leaf in recorded_pass.accumulated:
            held = self._tensors.get(leaf.tensor)
            gradient = None if held is None else self.executor.gradient(held)
            if gradient is None:
                raise StaticError(
                    f"no gradient comes to {where(leaf)} when the pass at #{event.row} runs again",
                    hint="something that the log does not tell of joins it to the loss",
                )
            self.found[row, 0] = gradient
        self._running = None
        return recorded_pass.end

    def _by_forward_node(self) -> dict[int, int]:
        """The backward rows whose gradients are changed, by the forward rows that they belong to."""
        found: dict[int, int] = {}
        for row in self._changes:
            node = self.graph.node(row)
            if node.kind in ("grad", "accumulate") and node.forward is not None:
                found[node.forward.row] = row
        return found

    def _gradient_in_place(self, forward_row: int) -> np.ndarray | None:
        """What takes the place of a gradient that has arrived in the pass that runs."""
        row, running = self._changed_in_passes.get(forward_row), self._running
        if row is not None and running is not None and running.begin < row < running.end:
            return self._changes[row]
        return self._gradient_changes.get(forward_row)
