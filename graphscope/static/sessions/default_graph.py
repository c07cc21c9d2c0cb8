"""The graphs of programs of sessions: the default one, those that a program makes, and where nodes go."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from graphscope.errors import StaticError
from graphscope.static.graphs import graph_builder
from graphscope.static.graphs.graph import Graph as _Graph
from graphscope.static.graphs.graph import Node
from graphscope.static.graphs.graph_builder import Builder
from graphscope.static.graphs.symbols import Symbol


class Graph(_Graph):
    """A graph that a program of sessions builds: `with Graph().as_default(): ...`.

    Attributes:
        builder: Adds nodes to it.
        collections: What a program keeps under names, as TensorFlow has it: the variables, say.
    """

    def __init__(self, name: str = "graph") -> None:
        super().__init__(name)
        self.builder = Builder(self)
        self.collections: dict[str, list[Any]] = {}

    @contextmanager
    def as_default(self) -> Iterator[Self]:
        """Nodes that are made inside go here."""
        with self.builder.active():
            yield self

    def get_tensor_by_name(self, name: str) -> Symbol:
        """The tensor of a name: `x:0`.

        Raises:
            StaticError: There is none.
        """
        node, _, slot = name.partition(":")
        outputs = self[node].outputs
        if not slot.isdigit() or int(slot) >= len(outputs):
            raise StaticError(f"{name!r} names no output of {self[node].where}", hint=f"{node}:0 is the first")
        return Symbol.of(outputs[int(slot)], self.builder)

    def get_operation_by_name(self, name: str) -> Node:
        """The node of a name.

        Raises:
            StaticError: There is none.
        """
        return self[name]

    def get_operations(self) -> list[Node]:
        """All nodes."""
        return list(self.nodes)

    def add_to_collection(self, name: str, value: Any) -> None:
        """Keep something under a name."""
        self.get_collection_ref(name).append(value)

    def get_collection(self, name: str, scope: str | None = None) -> list[Any]:
        """What is kept under a name, in the order in which it came.

        Args:
            name: The collection.
            scope: A regular expression: of what has a name, that which begins so.
        """
        kept = list(self.get_collection_ref(name))
        return kept if scope is None else [each for each in kept if re.match(scope, getattr(each, "name", None) or "")]

    def get_collection_ref(self, name: str) -> list[Any]:
        """The list itself: what is added to it is kept."""
        return self.collections.setdefault(name, [])


def get_default_graph() -> Any:
    """The graph that nodes are added to here."""
    if graph_builder.active_builder() is None:
        graph_builder.default = Graph().builder
    return graph_builder.current().graph


def reset_default_graph() -> None:
    """Begin a new default graph.

    Raises:
        StaticError: Inside of `as_default`, where it would have no effect.
    """
    if graph_builder.active_builder() not in (None, graph_builder.default):
        raise StaticError("a graph is the default one here by as_default()", hint="reset outside of it")
    graph_builder.default = Graph().builder


def builder() -> Builder:
    """What adds nodes here; the default graph is made when it is first asked for."""
    get_default_graph()
    return graph_builder.current()
