"""The subject of an explanation: a forward node, and the backward pass that should have brought its gradient."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from graphscope.diagnose.explanation import title
from graphscope.diagnose.gradients.ancestry import ancestry
from graphscope.diagnose.gradients.paths import Cut, GradientPaths, leaf_of
from graphscope.diagnose.gradients.unrecorded import gradient_of, numbers
from graphscope.errors import CommandError
from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.gradients import arrivals

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Event
    from graphscope.graph import Graph, Node


class Pass(NamedTuple):
    """A backward pass: the row where it begins, and the node that it starts from."""

    begin: int
    root: int


class Subject:
    """A tensor as the log knows it at a position in time.

    Args:
        node: A node; of a backward one, its forward node is meant.
        live: The tensor itself, where the program still holds it.
    """

    def __init__(self, node: Node, live: Any = None) -> None:
        owner = node.forward if node.kind in ("grad", "accumulate") else node
        if owner is None:
            raise CommandError(f"#{node.row} belongs to a node that the log no longer holds")
        self.given = node
        self.node: Node = owner
        self.graph: Graph = node.graph
        self.live = live
        if leaf_of(self.graph, owner.event) is not None:
            self.node = self.graph.node(min(self.rows))  # its first row: later segments and writes have others

    @property
    def title(self) -> str:
        """What to call it."""
        return title(self.node)

    @property
    def is_leaf(self) -> bool:
        """Whether no op made it."""
        return self.node.kind == "leaf"

    @cached_property
    def rows(self) -> set[int]:
        """Its rows: of a leaf all those that stand for it, also after it was written under `no_grad`."""
        graph = self.graph
        if leaf_of(graph, self.node.event) is None:
            return {self.node.row}
        rows = graph.index.versions(self.node.tensor, graph.now + 1)
        return {self.node.row, *(row for row in rows if leaf_of(graph, graph.index.event(row)) is not None)}

    @cached_property
    def requires_grad(self) -> bool:
        """Whether gradients flow to it."""
        if self.is_leaf:
            rows = (self.graph.index.event(row) for row in self.rows)
            return any(event.flags & Flag.REQUIRES_GRAD for event in rows if event.kind == Kind.LEAF)
        return self.node.row in self.paths_from_leaves.open

    @cached_property
    def paths_from_leaves(self) -> GradientPaths:
        """The paths that lead from leaves that require grad to this node."""
        return GradientPaths(self.graph, self.node.row)

    @cached_property
    def backward(self) -> Pass | None:
        """The newest backward pass from something that was made of this node, else the newest since it appeared."""
        newest: Pass | None = None
        for each in itertools.islice(self._passes(), _PASSES):
            newest = newest or each
            known = ancestry(self.graph.log, each.root)
            if any(known.holds(row) for row in self.rows):
                return each
        return newest

    def path(self, paths: GradientPaths, cut: Cut | None = None) -> list[Node]:
        """A path of these paths; where it begins with this node, whatever row of it, it begins with this very one."""
        first, *rest = paths.path(cut)
        return [self.node if first.row in self.rows else first, *rest]

    def _passes(self) -> Iterator[Pass]:
        """The backward passes since this node appeared, the newest first."""
        begins = self.graph.index.marks(Kind.BACKWARD_BEGIN)
        low, high = np.searchsorted(begins, (min(self.rows) + 1, self.graph.now + 1))
        for row in begins[low:high][::-1].tolist():
            for root, _ in self.graph.log.inputs(row)[:1]:
                yield Pass(row, root)

    @cached_property
    def paths_to_loss(self) -> GradientPaths | None:
        """The paths from this node to the loss of that pass (ahead of one, to what looks like the loss)."""
        found = self.backward.root if self.backward is not None else self._likely_loss()
        return None if found is None else GradientPaths(self.graph, found, self.rows)

    @cached_property
    def gradient(self) -> np.ndarray | None:
        """What the tensor holds in `.grad` where the program still has it; else what has arrived at it."""
        if self.live is None:
            return self.node.grad
        held = gradient_of(self.live)
        if held is not None:
            return numbers(held)
        return None if self.is_leaf else self.node.grad

    @cached_property
    def cleared(self) -> Event | None:
        """Where the program has cleared its gradient, and set none since."""
        mark = self._assigned("grad")
        return mark if mark is not None and not mark.inputs and not self.arrivals else None

    @cached_property
    def frozen(self) -> Event | None:
        """Where the program has frozen it, and let it learn nowhere since."""
        mark = self._assigned("requires_grad")
        thawed = self.live is not None and self.live.requires_grad
        return mark if mark is not None and not thawed and not self.graph.log.attrs(mark.attrs).get("to") else None

    def _assigned(self, what: str) -> Event | None:
        rows = self.graph.index.assignments(self.node.tensor, what, self.graph.now + 1)
        return self.graph.index.event(rows[-1]) if rows else None

    @property
    def is_gradient(self) -> bool:
        """Whether what was given is the gradient of something, and nothing that requires one."""
        return self.live is not None and self.given.kind in ("grad", "accumulate") and not self.live.requires_grad

    @property
    def is_missing(self) -> bool:
        """Whether it has no gradient; one that arrived and whose value was not kept is none that is missing."""
        held = self.live is None or not self.is_leaf
        return self.gradient is None and not (held and self.is_leaf and self.arrivals)

    @cached_property
    def arrivals(self) -> list[Node]:
        """The backward rows that brought gradients to it, up to now, and since the program set its gradient."""
        cleared = self.graph.index.assignments(self.node.tensor, "grad", self.graph.now + 1) if self.is_leaf else []
        since = cleared[-1] if cleared else -1
        return [row for row in arrivals(self.node) if row.row > since]

    def _likely_loss(self) -> int | None:
        """The newest node of one element that nothing has used."""
        rows = self.graph.index.nodes(self.graph.now + 1)
        for row in rows[::-1][:_LOOKED_AT].tolist():
            event = self.graph.index.event(row)
            single = event.kind == Kind.OP and all(size == 1 for size in event.shape)
            if single and row not in self.rows and not self.graph.index.users(row, self.graph.now + 1):
                return int(row)
        return None


def has_graph(graph: Graph, row: int) -> bool:
    """Whether the result of an op requires grad: not all that is computed from what does has a way back to it."""
    event = graph.index.event(row)
    if graph.log.op(event.op).rules_run:  # who writes rules down does not flag results
        return Subject(graph.node(row)).requires_grad
    return bool(event.flags & Flag.REQUIRES_GRAD)


_LOOKED_AT: Final = 1000
_PASSES: Final = 20
"""So many nodes and backward passes are looked at before the search is given up."""
