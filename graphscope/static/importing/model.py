"""A model that was read: its graph, what it takes and what it gives; and how readers add the nodes of foreign ops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphscope.errors import StaticError
from graphscope.eventlog.names import Site
from graphscope.static.graphs.symbols import Symbol
from graphscope.static.sessions.default_graph import Graph
from graphscope.static.sessions.session import Session
from graphscope.static.sessions.variables import Variable

Op = Callable[..., Any]
"""What an op of another framework does, on symbols."""


Examples = Mapping[str, Any]
"""For inputs, by their names, arrays or shapes."""


def example_of(examples: Examples | None, name: str, shape: Any, dtype: Any) -> tuple[Any, Any]:
    """Shape and dtype of an input: those of its example, where there is one."""
    given = (examples or {}).get(name)
    if given is None:
        return shape, dtype
    if hasattr(given, "dtype"):
        return given.shape, given.dtype
    return tuple(given), dtype


@dataclass
class Model:
    """A model as a graph.

    Attributes:
        graph: Its nodes; run it with `Session(graph=model.graph)`.
        inputs: What it takes, in order.
        outputs: What it gives.
        parameters: Its weights by their names there.
        named: What each node of the other framework gave, by its name there: to be compared node by node.
    """

    graph: Graph
    inputs: list[Symbol] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)
    parameters: dict[str, Variable] = field(default_factory=dict)
    named: dict[str, Any] = field(default_factory=dict)

    def run(self, *arrays: Any, **named: Any) -> list[Any]:
        """What it gives for arrays, in the order of its inputs or by name."""
        feeds = dict(zip(self.inputs, arrays, strict=False))
        feeds |= {symbol: named[symbol.name] for symbol in self.inputs if symbol.name in named}
        found: list[Any] = Session(graph=self.graph).run(self.outputs, feeds)
        return found

    def parameter(self, name: str, array: np.ndarray) -> Variable:
        """A weight, under the name that the model has for it."""
        if name not in self.parameters:
            self.parameters[name] = Variable(array, name=name.replace(".", "/"), trainable=array.dtype.kind == "f")
        return self.parameters[name]

    @contextmanager
    def placed(self, name: str, scope: str, site: Site | None) -> Iterator[None]:
        """Nodes that are made inside stand at a place of the model: the last bears the name, all the scope and line."""
        builder = self.graph.builder
        begin = len(self.graph.nodes)
        before, builder.scope = builder.scope, scope
        try:
            yield
        finally:
            builder.scope = before
        made = self.graph.nodes[begin:]
        for node in made:
            node.site = site
        full = f"{scope}/{name}" if scope else name
        if made and name and made[-1].name != full:
            made[-1].name = self.graph.unique(full)
            made[-1].origins = (made[-1].name,)


def call(where: str, table: Mapping[str, Op], name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Add what an op of another framework does.

    Raises:
        StaticError: The table has no such op, or it can't take these arguments.
    """
    function = table.get(name)
    if function is None:
        raise StaticError(
            f"{where}: graphscope has no op for {name}", hint="write it with ops that it has; see docs/reference/ops.md"
        )
    try:
        return function(*args, **kwargs)
    except StaticError:
        raise
    except Exception as error:
        raise StaticError(f"{where}: {name} can't be mapped: {error}", hint="simplify the model's call") from error
