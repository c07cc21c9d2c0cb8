"""What all regions look at: a log, a position in time, and what the debugger said of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphscope.errors import LogError
from graphscope.eventlog.schema import NODES, Kind
from graphscope.graph.select import Selector

if TYPE_CHECKING:
    import numpy as np

    from graphscope.debugger.results import Stop
    from graphscope.eventlog.names import Site
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node

_NEAR_END = 4096
"""Among so many of the newest rows an exception is looked for."""


def title(node: Node) -> str:
    """What a node is called on the screen: `mm h`, `MmBackward h`, `W.grad +=`."""
    if node.kind == "accumulate":
        return f"{node.name or 'leaf'}.grad +="
    return f"{node.label} {node.name}" if node.name and node.name != node.label else node.label


@dataclass(frozen=True)
class Mark:
    """A breakpoint as the screen draws it."""

    number: int
    spec: str
    enabled: bool
    selector: Selector | None
    """None of one that waits for non-finite values."""
    hits: int = 0


@dataclass(frozen=True, eq=False)
class Scene:
    """A position in a log. Regions are given a new one whenever something moved, and read the log for the rest."""

    graph: Graph
    """As it is at `now`."""
    whole: Graph
    """The same with all that is recorded, for what lies ahead."""
    marks: tuple[Mark, ...] = ()
    stop: Stop | None = None
    edited: np.ndarray | None = None
    """What the program will go on with in place of what the log has, where a person has changed it."""

    @property
    def log(self) -> Log:
        """The log."""
        return self.graph.log

    @property
    def now(self) -> int:
        """The row where one stands."""
        return self.graph.now

    @property
    def node(self) -> Node | None:
        """The current node; None ahead of the first, and at one that is not computed yet."""
        try:
            if self.log.event(self.now).kind in NODES:
                return self.graph.node(self.now)
        except LogError:
            pass
        return None

    @property
    def subject(self) -> Node | None:
        """The forward node that the current one is about: itself, unless it is of the backward pass."""
        node = self.node
        if node is None or node.kind not in ("grad", "accumulate"):
            return node
        return node.forward or node

    @property
    def barren(self) -> bool:
        """Whether the program has stopped and there is no node to stand at: it ended before it made one."""
        return self.stop is not None and self.stop.node is None

    @property
    def raised(self) -> Site | None:
        """Where an exception left the program, if that is why one stands here."""
        if self.stop is None or not self.stop.reason:
            return None
        for row in self.log.rare(self.log.end - _NEAR_END)[::-1].tolist():
            event = self.log.event(row)
            if event.kind == Kind.EXCEPTION:
                attrs = self.log.attrs(event.attrs)
                words = ": ".join(str(attrs[key]) for key in ("type", "text") if attrs.get(key))
                return self.log.site(event.site) if words == self.stop.reason else None
        return None

    def broken(self, node: Node) -> bool:
        """Whether an enabled breakpoint means a node."""
        return any(mark.enabled and mark.selector is not None and mark.selector.matches(node) for mark in self.marks)
