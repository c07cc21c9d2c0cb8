"""Adding nodes to a graph: which graph is being built, where in the program, and what a body takes from around it."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

import numpy as np

from graphscope.engine.core import dtypes
from graphscope.engine.core.tensor import Tensor
from graphscope.errors import StaticError
from graphscope.eventlog import record
from graphscope.eventlog.appender import position
from graphscope.eventlog.names import Site
from graphscope.static.graphs.graph import Graph, Node, Value

_here = threading.local()

default: Builder | None = None
"""Where nodes go while no graph is active: the default graph of a program of sessions, once it has one."""


class Builder:
    """A graph that is being built.

    Args:
        graph: Where nodes go.
        outer: Of the body of a control-flow node: the builder around it. What the body uses from there becomes another
            input of it (see `captured`).
    """

    def __init__(self, graph: Graph, outer: Builder | None = None) -> None:
        self.graph = graph
        self.outer = outer
        self.captured: dict[Value, Value] = {}
        """Values of the graph around, and the inputs of this one that stand for them."""
        self.scope: str = outer.scope if outer else ""
        self.after: tuple[Node, ...] = ()
        """Nodes that all nodes made now have to wait for."""
        self.site: Site | None = outer.site if outer else None
        """Where nodes made now are in the program, where that is not the line that runs."""
        self.shown: dict[Value, Any] = {}
        """What programs know values as, where they are to know each as one thing."""
        self._place: Node | None = None
        self._tensors: dict[int, tuple[Tensor, Value]] = {}

    # Where -----------------------------------------------------------------------------------------------------------

    @contextmanager
    def active(self) -> Iterator[Builder]:
        """Build here, in this thread."""
        before = getattr(_here, "builder", None)
        _here.builder = self
        try:
            yield self
        finally:
            _here.builder = before

    @contextmanager
    def inside(self, name: str) -> Iterator[None]:
        """Nodes made now belong to a scope."""
        before = self.scope
        self.scope = f"{before}/{name}" if before else name
        try:
            yield
        finally:
            self.scope = before

    @contextmanager
    def named(self, name: str | None) -> Iterator[str]:
        """Nodes made now are called `NAME/...`, and belong to that scope; a second one of the name is `NAME_1`.

        Args:
            name: With a slash behind it, the scope as it stands, once more; without one (None, or nothing), none.
        """
        before = self.scope
        if not name:
            self.scope = ""
        elif name.endswith("/"):
            self.scope = name[:-1]
        else:
            self.scope = self.graph.unique(f"{before}/{name}" if before else name)
        try:
            yield f"{self.scope}/" if self.scope else ""
        finally:
            self.scope = before

    @contextmanager
    def at_place_of(self, node: Node) -> Iterator[None]:
        """Nodes made now belong to the source line and scope of another node."""
        before = self._place, self.scope
        self._place, self.scope = node, node.scope
        try:
            yield
        finally:
            self._place, self.scope = before

    # What ------------------------------------------------------------------------------------------------------------

    def append(self, op: str, inputs: Any, attributes: Any = None, **more: Any) -> Node:
        """Add a node: at the line of the program that runs now, or of the node on whose behalf it is."""
        site = (self.site or here()) if self._place is None else self._place.site
        name = more.pop("name", None) or op
        if self._place is None:
            name = f"{self.scope}/{name}" if self.scope else name
        else:
            name = f"gradients/{self._place.name}/{name}"
            more.setdefault("origins", self._place.origins)
            more.setdefault("rule", self._place)
        more = {"name": name, "site": site, "scope": self.scope, "after": self.after, **more}
        return self.graph.append(op, inputs, attributes, **more)

    def constant(self, array: np.ndarray) -> Value:
        """A value that never changes."""
        return self.append("constant", (), {"value": array if array.ndim else array[()]}).outputs[0]

    def operand(self, value: Any) -> Any:
        """What an op is given, as a node takes it: numbers as they are, arrays and tensors as nodes."""
        if isinstance(value, np.ndarray):
            return self.constant(value)
        if not isinstance(value, Tensor):
            return dtypes.operand(value)
        if self.outer is not None:  # a body takes it from around, so that gradients flow out to it
            return self.take(self.outer.operand(value), self.outer)
        if id(value) not in self._tensors:
            attributes = {"tensor": value}
            self._tensors[id(value)] = value, self.append("variable", (), attributes, name=value.name).outputs[0]
        return self._tensors[id(value)][1]

    def take(self, value: Value, source: Builder) -> Value:
        """A value as this graph knows it: its own, or an input that stands for one of the graph around.

        Raises:
            StaticError: It is of a graph that has nothing to do with this one.
        """
        if source is self:
            return value
        if value not in self.captured:
            if self.outer is None:
                raise StaticError(
                    f"{value.name!r} belongs to graph {source.graph.name!r}, not to {self.graph.name!r}",
                    hint="build both in one graph, or feed what the other gives",
                )
            outside = self.outer.take(value, source)
            self.captured[value] = self.graph.input(outside.node.name, outside.shape, outside.dtype)
        return self.captured[value]


def active_builder() -> Builder | None:
    """The builder that is active in this thread, or that of the default graph; None where there is neither."""
    return getattr(_here, "builder", None) or default


def current() -> Builder:
    """The builder that is active in this thread.

    Raises:
        StaticError: There is none.
    """
    builder = active_builder()
    if builder is None:
        raise StaticError("no graph is being built here", hint="open one: with static.Graph().as_default(): ...")
    return builder


def here() -> Site | None:
    """The place of the program that runs now."""
    frame = record.user_frame(2)
    return None if frame is None else _site(frame.f_code, frame.f_lasti)


@functools.lru_cache(1 << 14)
def _site(code: CodeType, instruction: int) -> Site:
    line, end_line, column, end_column = position(code, instruction)
    line = line or code.co_firstlineno
    return Site(code.co_filename, line, column or 0, end_line or line, end_column or 0, code.co_qualname)
