"""Paths from tensors to a loss, and where a gradient can't pass on them: what the log says, nothing is run."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.gradients.ancestry import ancestry
from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph import walk

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Event
    from graphscope.graph import Graph, Node

NO_RULE: Final = ("", "no gradient")
"""What stands in the place of a rule where an op has none."""

FLOATING: Final = ("float", "bfloat", "complex")
"""How the names of those dtypes begin that have gradients."""


DETACHING: Final = frozenset({"detach", "detach_", "data", "tensor", "new_tensor"})
"""Ops that give the same numbers without their past; `data` is the attribute, `tensor` copies."""


@dataclass(frozen=True, slots=True)
class Cut:
    """An op that takes something that requires grad, and makes something that does not."""

    source: int
    row: int
    argument: int


def leaf_of(graph: Graph, event: Event) -> Event | None:
    """The leaf that a row stands for: itself, or the one that an optimizer wrote under `no_grad`; None for others."""
    if event.kind == Kind.LEAF:
        return event
    written = event.flags & Flag.IN_PLACE and event.flags & Flag.NO_GRAD
    if not written or not (event.tensor < event.row and graph.log.holds(event.tensor)):
        return None
    first = graph.index.event(event.tensor)
    return first if first.kind == Kind.LEAF else None


def is_trained(graph: Graph, event: Event) -> bool:
    """Whether a row is a leaf that is to learn, or what was written there since."""
    leaf = leaf_of(graph, event)
    return leaf is not None and bool(leaf.flags & (Flag.PARAMETER | Flag.REQUIRES_GRAD))


def made_of(graph: Graph, row: int) -> list[int]:
    """The rows that a node was computed from, as gradients go: not beyond leaves, whoever wrote them since."""
    event = graph.index.event(row)
    if leaf_of(graph, event) is not None:
        return []
    return [source for source, _ in event.inputs if source < row and graph.log.holds(source)]


class GradientPaths:
    """All that lies between some rows and a target, and how far gradients can flow on it.

    Args:
        graph: The graph.
        target: The row of the loss.
        sources: Rows where the paths begin; None takes all leaves that require grad.
    """

    def __init__(self, graph: Graph, target: int, sources: Collection[int] | None = None) -> None:
        self.graph = graph
        self.target = target
        known = ancestry(graph.log, target)
        self.leaves: list[int] = known.leaves.tolist()
        if sources is None:
            flags = graph.log.pick("flags", self._firsts(known.leaves))
            sources = known.leaves[(flags & int(Flag.REQUIRES_GRAD)) != 0].tolist()
        self.sources = frozenset(sources)
        self.reached: set[int] = {row for row in self.sources if known.holds(row)}
        """What was computed from the sources, by whatever way."""
        self.open: set[int] = set(self.reached)
        """What requires grad because of them."""
        self.cuts: list[Cut] = []
        first = int(np.searchsorted(known.users, min(self.reached, default=target)))
        for user, source in zip(known.users[first:].tolist(), known.sources[first:].tolist(), strict=True):
            if source in self.reached:
                self.reached.add(user)
        for row in sorted(self.reached - self.sources):
            event = graph.index.event(row)
            come = [(at, source, slot) for at, (source, slot) in enumerate(event.inputs) if source in self.reached]
            arrived = [each for each in come if each[1] in self.open]
            smooth = [(argument, source) for argument, source, slot in arrived if self._is_floating(source, slot)]
            if any(self.passes(event, argument) for argument, _ in smooth):
                self.open.add(row)
            elif smooth:
                self.cuts.append(Cut(smooth[0][1], row, smooth[0][0]))
            elif arrived:  # the indices of a maximum, the order of a sort
                chooser = graph.index.event(arrived[0][1])
                self.cuts += [Cut(source, chooser.row, 0) for source, _ in chooser.inputs[:1]]

    def _firsts(self, leaves: np.ndarray) -> np.ndarray:
        """The row of each leaf itself, of one that was written as well."""
        log = self.graph.log
        return np.where(log.pick("kind", leaves) == Kind.LEAF, leaves, log.pick("tensor", leaves).astype(np.int64))

    def passes(self, event: Event, argument: int) -> bool:
        """Whether a gradient can go from an op to this one of its inputs."""
        if event.flags & Flag.NO_GRAD:  # a tensor that is written there stays what it was
            return bool(event.flags & Flag.IN_PLACE) and argument == 0
        if not event.dtype.startswith(FLOATING):
            return False
        op = self.graph.log.op(event.op)
        if not op.rules_run:  # not every producer writes its rules down
            return op.name not in DETACHING
        return op.rules_run[min(argument, len(op.vjp) - 1)] not in NO_RULE

    def _is_floating(self, row: int, slot: int) -> bool:
        """Whether one of several results of an op has a gradient."""
        if not slot:
            return True
        outputs = self.graph.log.outputs(row)
        return slot >= len(outputs) or outputs[slot][1].startswith(FLOATING)

    def ends_as_term(self, cut: Cut) -> bool:
        """Whether what lies behind a cut meets nothing that requires grad until it is a single number, a term.

        Who detaches a baseline, a target or a weight lets it meet something that learns; a term that meets nothing
        teaches nobody.
        """
        waiting, seen = [cut.row], {cut.row}
        while waiting:
            row = waiting.pop()
            for user in self.graph.index.using(row, self.target + 1):
                event = self.graph.index.event(user)
                if user not in self.reached or user in seen or event.kind != Kind.OP:
                    continue
                if event.flags & Flag.REQUIRES_GRAD:
                    if self.graph.index.event(row).shape != ():
                        return False
                else:
                    seen.add(user)
                    waiting.append(user)
        return len(seen) > 1

    def path(self, cut: Cut | None = None) -> list[Node]:
        """A shortest way from a source to the target, through the cut if one is given."""
        first = cut.source if cut is not None else self.target
        rows = self._down(first)
        if cut is not None:
            rows = [*rows, *self._between(cut.row, self.target)]
        return [self.graph.node(row) for row in rows]

    def _down(self, row: int) -> list[int]:
        """A shortest way from the nearest of the sources to this row."""
        nearest = walk.nearest(row, self._reached_inputs, self.sources)
        return walk.shortest(row, nearest, self._reached_inputs)[::-1] if nearest is not None else [row]

    def _between(self, start: int, end: int) -> list[int]:
        return walk.shortest(end, start, self._reached_inputs)[::-1]

    def _reached_inputs(self, row: int) -> Iterable[int]:
        return [source for source in self._inputs(row) if source in self.reached]

    def _inputs(self, row: int) -> list[int]:
        return made_of(self.graph, row)
