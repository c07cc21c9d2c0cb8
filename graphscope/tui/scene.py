"""What all regions show: a log, a position in time, and what the debugger said of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphscope.errors import LogError
from graphscope.eventlog.schema import NODES, Kind

if TYPE_CHECKING:
    from graphscope.debugger.results import BreakpointInfo, Place, Stop
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node


def title(node: Node) -> str:
    """What a node is called on the screen: `mm h`, `MmBackward h`, `W.grad +=`, `grad of h`."""
    if node.kind == "accumulate":
        return gradient_title(node, node.name)
    return f"{node.label} {node.name}" if node.name and node.name != node.label else node.label


def gradient_title(node: Node, name: str) -> str:
    """What something that is added to a gradient is called: of a leaf it stays, of another value it is on its way."""
    owner = node.forward
    if owner is None or is_of_leaf(owner):
        return f"{name or 'leaf'}.grad +="
    return f"grad of {name or owner.label}"


def is_of_leaf(node: Node) -> bool:
    """Whether a node is a leaf, or one as an update has left it."""
    try:
        return node.graph.log.event(node.tensor).kind == Kind.LEAF
    except LogError:  # its first version is not kept
        return node.kind == "leaf"


@dataclass(frozen=True, eq=False)
class Scene:
    """A position in a log. Regions are given a new one whenever something moved, and read the log for the rest."""

    graph: Graph
    """As it is where one stands."""
    whole: Graph
    """The same with all that is recorded, for what lies ahead."""
    breakpoints: tuple[BreakpointInfo, ...] = ()
    stop: Stop | None = None

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
    def raised(self) -> Place | None:
        """The line that raised the exception, if that is why one stands here."""
        return None if self.stop is None or self.stop.raised is None else self.stop.raised.place

    def broken(self, node: Node) -> bool:
        """Whether an enabled breakpoint means a node."""
        return any(
            found.enabled and found.selector is not None and found.selector.matches(node) for found in self.breakpoints
        )
