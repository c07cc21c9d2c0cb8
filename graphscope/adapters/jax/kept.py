"""What the way back through the body of a loop or a branch needs: nodes with their values given, not closed over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from graphscope.adapters.jax.internals import core
from graphscope.adapters.jax.nodes import Arrived, Node, Source, arrive, pull_back, whole
from graphscope.adapters.jax.tape_trace import TapeTrace

_LOCAL: Final = "local"
_OUTER: Final = "outer"

_Place = tuple[str, int]


class Kept:
    """The nodes of a body that was run once, while it was traced.

    Args:
        trace: The trace that followed it.
        outputs: What it returned, in that trace.
    """

    def __init__(self, trace: TapeTrace, outputs: Sequence[Any]) -> None:
        self._trace = trace
        self._places: dict[int, _Place] = {}
        self.local: list[Any] = []
        """Values that the body computed, or was given."""
        self.outer: list[Any] = []
        """Values from outside of it."""
        self._numbers: dict[Node | None, int | None] = {node: number for number, node in enumerate(trace.nodes)}
        self._numbers[None] = None
        self._sources = [self._numbered(trace.source(each)) for each in outputs]
        self._nodes = [(node, [list(map(self._place, each)) for each in _values(node)]) for node in trace.nodes]
        del self._trace

    def back(
        self, local: Sequence[Any], outer: Sequence[Any], cotangents: Sequence[Any], leaves: Sequence[tuple[int, Any]]
    ) -> list[Any]:
        """The cotangents of what the body was given.

        Args:
            local: The values that it computed.
            outer: Those from outside.
            cotangents: Of what it returned; None of what has none.
            leaves: The places of what it was given that are asked for, each with a value of that kind.
        """
        values = {_LOCAL: local, _OUTER: outer}
        nodes: list[Node] = []

        def source(numbered: tuple[int | None, int] | None) -> Source | None:
            if numbered is None:
                return None
            number, slot = numbered
            return (None if number is None else nodes[number]), slot

        for node, places in self._nodes:
            inputs, made, held = ([values[where][place] for where, place in each] for each in places)
            sources = [source(self._numbered(each)) for each in node.sources]
            nodes.append(Node(inputs, made, sources, node.served, node.pull, held, marked=node.marked))
        arrived: Arrived = {}
        for each, cotangent in zip(self._sources, cotangents, strict=True):
            if cotangent is not None:
                arrive(arrived, source(each), cotangent)
        ended = pull_back(nodes, arrived)
        return [whole(ended.get(place, ()), like) for place, like in leaves]

    def _numbered(self, source: Source | None) -> tuple[int | None, int] | None:
        return None if source is None else (self._numbers[source[0]], source[1])

    def _place(self, value: Any) -> _Place:
        """Where a value lies: among those that go with the turn, or those from outside."""
        known = self._places.get(id(value))
        if known is None:
            is_local = isinstance(value, core.Tracer) and value._trace is self._trace.around
            kind, values = (_LOCAL, self.local) if is_local else (_OUTER, self.outer)
            known = self._places[id(value)] = kind, len(values)
            values.append(value)
        return known


def _values(node: Node) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any]]:
    return node.inputs, node.values, node.held
