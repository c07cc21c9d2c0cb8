"""A graph as it is to be drawn: plain data that passes rewrite and exporters read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphscope.eventlog.names import Site
    from graphscope.graph.graph import Graph

NodeKind = Literal["leaf", "op", "grad", "accumulate", "scope", "tensor", "gradient", "joint"]
"""What a box is: a node of the log, or a whole module scope folded into one box; in the dual drawing what a node makes,
the gradient of that, and a point where what an op takes meets."""

PassName = Literal["forward", "backward", "both"]
"""The pass of a box; only a folded scope can hold nodes of both."""

EdgeKind = Literal["data", "gradient", "link"]
"""Data flows forward, gradients flow backward, a link joins a backward node to its forward node."""

Compared = Literal["same", "parted", "a", "b"]
"""Of two runs in one picture: both have it and it is the same, or is not; only one has it."""

Changed = Literal["kept", "removed", "joined", "added", "fused", "grown", "rewired"]
"""What a pass of a compiler has done with a node: joined ones have become part of one that is fused, or of one that was
there and has grown by them; one that is rewired takes other inputs than before."""

ClusterKind = Literal["scope", "repeat"]
"""A frame around boxes: a module scope, or the body of a loop that was folded into one iteration."""


@dataclass(frozen=True, slots=True)
class ViewNode:
    """One box. It stands for one row of the log, or for several that were folded together."""

    id: str
    """Unique in its view and the same for the same log: `n12` for row 12."""
    rows: tuple[int, ...]
    """Rows of the log that it stands for, ascending."""
    kind: NodeKind
    label: str
    """What a person reads first: `mul`, `MulBackward`, a leaf's name, a scope's name."""
    op: str = ""
    name: str = ""
    """The program's variable or attribute; empty when it has none."""
    arguments: str = ""
    """The constants that an op was given, in their places: `(1, ·)`; empty when it has none."""
    graph_pass: PassName = "forward"
    shape: tuple[int, ...] | None = None
    """None when unknown, or when the rows differ."""
    dtype: str = ""
    site: Site | None = None
    scope: str = ""
    """Dotted names of the module scopes around it, from the root: `encoder.layers.0`."""
    cluster: str | None = None
    """Id of the innermost cluster that holds it."""
    count: int = 1
    """So many iterations (or rows) lie behind it: drawn as `x 100`."""
    forward: str | None = None
    """Of a backward node: the id of the forward node it belongs to, when that is in the view."""
    parameter: bool = False
    requires_grad: bool = False
    nonfinite: bool = False
    """It holds a NaN, or an infinity that nothing excuses."""
    edited: bool = False
    """A person replaced the value or the cotangent."""
    in_place: bool = False
    loss: bool = False
    """A backward pass began here."""
    current: bool = False
    """The node at `now`, where the debugger stands."""
    breakpoint: bool = False
    """A breakpoint lies on it."""
    highlighted: bool = False
    """It lies on a way that is shown."""
    compared: Compared | None = None
    """None where one run is drawn alone."""
    notes: tuple[str, ...] = ()
    """What else is written in it, by lines; one that begins with ∂ is of its gradient."""
    apart: str = ""
    """How the two runs differ here, or of how many nodes a fused one was made, in a few words."""
    changed: Changed | None = None
    """None where no pass of a compiler is drawn."""


@dataclass(frozen=True, slots=True)
class ViewEdge:
    """One arrow, from the id of a node to the id of a node."""

    source: str
    target: str
    kind: EdgeKind
    slot: int = 0
    """Which output of the source."""
    argument: int = 0
    """Which input of the target."""
    shape: tuple[int, ...] | None = None
    label: str = ""
    """What is written on it, by lines: the shape, and `x 100` when it stands for many."""
    count: int = 1
    carried: bool = False
    """From one iteration of a folded loop to the next: it closes a cycle, so layouts must not rank by it."""
    highlighted: bool = False
    """It lies on a way that is shown."""
    compared: Compared | None = None
    """None where one run is drawn alone."""
    changed: Changed | None = None
    """None where no pass of a compiler is drawn."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """A frame around nodes and other frames."""

    id: str
    kind: ClusterKind
    label: str
    """The scope's own name with its type (`0: Linear`), or `x 100`."""
    parent: str | None = None
    depth: int = 0
    """Number of clusters around it."""
    path: str = ""
    """Of a scope: its dotted path."""
    count: int = 1


@dataclass(frozen=True)
class GraphView:
    """Nodes in the order of the log, edges, and clusters parents first (a flat list, so nobody has to recurse)."""

    nodes: tuple[ViewNode, ...]
    edges: tuple[ViewEdge, ...]
    clusters: tuple[Cluster, ...] = ()
    graph: Graph | None = field(default=None, compare=False, repr=False)
    """Where values and summaries of the rows can be asked for."""
    heading: tuple[str, ...] = ()
    """What stands above the picture, by lines."""
    legend: tuple[tuple[Changed, int], ...] = ()
    """Of a pass of a compiler, of how many nodes each became; below the heading."""

    def by_id(self) -> Mapping[str, ViewNode]:
        """The nodes under their ids."""
        return {node.id: node for node in self.nodes}

    def members(self) -> Mapping[str | None, tuple[ViewNode, ...]]:
        """The nodes that lie directly in each cluster; None has those in no cluster."""
        found: dict[str | None, list[ViewNode]] = {}
        for node in self.nodes:
            found.setdefault(node.cluster, []).append(node)
        return {cluster: tuple(nodes) for cluster, nodes in found.items()}
