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
from graphscope.static.words.tensors import Operation, Tensor


class Graph(_Graph):
    """A graph that a program of sessions builds: `with Graph().as_default(): ...`.

    Attributes:
        builder: Adds nodes to it.
        collections: What a program keeps under names, as TensorFlow has it: the variables, say.
        finalized: Whether no node may be added any more.
    """

    def __init__(self, name: str = "graph") -> None:
        super().__init__(name)
        self.builder = Builder(self)
        self.collections: dict[str, list[Any]] = {}
        self.finalized = False

    @contextmanager
    def as_default(self) -> Iterator[Self]:
        """Nodes that are made inside go here."""
        with self.builder.active():
            yield self

    # Names ------------------------------------------------------------------------------------------------------------

    def append(self, op: str, inputs: Any = (), attributes: Any = None, **more: Any) -> Node:
        """Add a node.

        Raises:
            StaticError: The graph is finalized.
        """
        if self.finalized:
            raise StaticError(f"graph {self.name!r} is finalized and takes no {op!r}", hint="build before finalize()")
        return super().append(op, inputs, attributes, **more)

    def finalize(self) -> None:
        """Let no node be added any more."""
        self.finalized = True

    def _key(self, name: str) -> str:
        """Names that differ in capitals alone are the same."""
        return name.lower()

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """The name in the scope that is open, with a number behind it where it is taken."""
        full = f"{self.builder.scope}/{name}" if self.builder.scope else name
        return self.unique(full) if mark_as_used else self.free(full)

    @contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:
        """Nodes made inside are called `NAME/...`."""
        with self.builder.named(name) as scope:
            yield scope

    def get_tensor_by_name(self, name: str) -> Tensor:
        """The tensor of a name: `x:0`.

        Raises:
            StaticError: There is none, or the name is that of an operation.
        """
        node, colon, slot = name.partition(":")
        if not colon:
            raise StaticError(f"{name!r} is the name of an operation, not of a tensor", hint=f"its first is '{name}:0'")
        outputs = self._named(node).outputs
        if not slot.isdigit() or int(slot) >= len(outputs):
            raise UnknownNameError(f"{name!r} names no output of {self[node].where}", hint=f"{node}:0 is the first")
        return Tensor.of(outputs[int(slot)], self.builder)

    def get_operation_by_name(self, name: str) -> Operation:
        """The operation of a name.

        Raises:
            StaticError: There is none, or the name is that of a tensor.
        """
        if ":" in name:
            raise StaticError(
                f"{name!r} is the name of a tensor, not of an operation", hint="leave out what is behind :"
            )
        return Operation(self._named(name), self.builder)

    def as_graph_element(self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
        """The tensor or operation that is meant.

        Raises:
            StaticError: There is none.
        """
        if isinstance(obj, str):
            return self.get_tensor_by_name(obj) if ":" in obj else self.get_operation_by_name(obj)
        return obj

    def get_operations(self) -> list[Operation]:
        """All nodes."""
        return [Operation(node, self.builder) for node in self.nodes]

    def _named(self, name: str) -> Node:
        try:
            return self[name]
        except StaticError as error:
            raise UnknownNameError(error.message, error.hint) from None

    # Collections ------------------------------------------------------------------------------------------------------

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


class UnknownNameError(StaticError, KeyError):
    """A name that nothing in a graph has."""


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
