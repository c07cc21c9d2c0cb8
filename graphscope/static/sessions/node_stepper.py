"""tfdbg's NodeStepper: one run of a session, node by node, with values overridden on the way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from graphscope.errors import StaticError
from graphscope.static.graphs import interpreter
from graphscope.static.graphs.graph import Node, Value, walk
from graphscope.static.graphs.trees import leaves_of
from graphscope.static.sessions.session import Session, _shown

STATES: Final = {
    "P": "placeholder",
    "U": "can't be fed",
    "H": "continued to: its value is at hand",
    "O": "overridden",
    "D": "variable that was written",
}
"""The states of nodes, by letter."""


class NodeStepper:
    """Goes through what some fetches need, one node at a time and in any order.

    Args:
        session: Whose graph.
        fetches: What the run is for.
        feed_dict: What is fed.

    Raises:
        StaticError: A fetch or feed is unknown, or does not fit.
    """

    def __init__(self, session: Session, fetches: Any, feed_dict: Mapping[Any, Any] | None = None) -> None:
        self._session = session
        self._fed = session.fed(feed_dict or {})
        wanted = [session.named(fetch) for fetch in leaves_of(fetches)]
        self._closure = walk(wanted)
        self._values: dict[Value, Any] = dict(self._fed)
        self._overridden: dict[Value, Any] = {}
        self._before: dict[Node, Any] = {}

    def sorted_nodes(self) -> list[str]:
        """The names of the nodes that the fetches need, in an order in which they can run."""
        return [node.name for node in self._closure]

    def states(self) -> dict[str, str]:
        """For each of these nodes its states, as letters of STATES."""
        return {node.name: "".join(self._letters(node)) for node in self._closure}

    def cont(self, target: Any) -> Any:
        """Continue to a tensor or node: run what it needs that is not at hand, and give its value.

        Raises:
            StaticError: It is none that the fetches need, or a placeholder on the way was not fed.
        """
        value = self._of(target)
        order = walk([value], stop=self._values)
        for node in order:
            if (holder := _holder(node)) is not None:
                self._before.setdefault(node, holder[0])
        interpreter.run_nodes(order, self._values, self._session.graph)
        return _shown(self._values[value])

    def step(self) -> str | None:
        """Continue to the next node that has no value yet; its name, or None behind the last."""
        for node in self._closure:
            if any(value not in self._values for value in node.outputs):
                self.cont(node)
                return node.name
        return None

    def override_tensor(self, target: Any, value: Any) -> None:
        """Let a tensor have another value; what was computed from it is forgotten.

        Raises:
            StaticError: It is none that the fetches need, or the value does not fit.
        """
        place = self._of(target)
        self._overridden[place] = interpreter.fed(place, value)
        self._forget(place)
        self._values[place] = self._overridden[place]

    def remove_override(self, target: Any) -> None:
        """Let a tensor be computed again.

        Raises:
            StaticError: It was not overridden.
        """
        place = self._of(target)
        if self._overridden.pop(place, None) is None:
            raise StaticError(f"{place.node.where} is not overridden", hint="override_tensor does that")
        self._forget(place)

    def get_tensor_value(self, target: Any) -> Any:
        """A value that is at hand.

        Raises:
            StaticError: It has not been continued to.
        """
        place = self._of(target)
        if place not in self._values:
            raise StaticError(f"{place.node.where} has not run yet", hint=f"cont({place.name!r}) runs it")
        return _shown(self._values[place])

    def restore_variable_values(self) -> None:
        """Give the variables that were written what they held at first."""
        for node, held in self._before.items():
            holder = _holder(node)
            assert holder is not None
            holder[0] = held

    def finalize(self) -> dict[str, Any]:
        """Continue to the end; the values of all nodes, by name."""
        while self.step() is not None:
            pass
        return {node.name: _shown(self._values[node.outputs[0]]) for node in self._closure}

    def _of(self, target: Any) -> Value:
        value = self._session.named(target)
        if value.node not in self._closure:
            raise StaticError(
                f"{value.node.where} is not needed by the fetches of this stepper", hint="sorted_nodes() lists those"
            )
        return value

    def _forget(self, place: Value) -> None:
        self._values.pop(place, None)
        gone = {place}
        for node in self._closure:
            if any(value in gone for value in node.values):
                gone.update(node.outputs)
        for value in gone:
            if value not in self._overridden and value not in self._fed:
                self._values.pop(value, None)

    def _letters(self, node: Node) -> list[str]:
        fed = any(value in self._fed for value in node.outputs)
        holder = _holder(node)
        written = holder is not None and node in self._before and holder[0] is not self._before[node]
        holds = {
            "P": node.op == "input",
            "U": node.op in ("group", "assert"),
            "H": all(value in self._values for value in node.outputs),
            "O": any(value in self._overridden for value in node.outputs) or (fed and node.op != "input"),
            "D": written,
        }
        return [letter for letter, is_so in holds.items() if is_so]


def _holder(node: Node) -> Any:
    """Where a variable keeps its value, of a node that reads or writes one."""
    return (node.attributes.get("variable") or node).attributes.get("holder")
