"""Backward passes from a loss that has no way back to anything that an optimizer is to learn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.explanation import Explanation, listed, shortened, steps, where
from graphscope.diagnose.gradients.exits import leaves_here, made_by, taken_at_lines, title_of
from graphscope.diagnose.gradients.missing_causes import cut_ahead
from graphscope.diagnose.gradients.paths import FLOATING, made_of
from graphscope.diagnose.gradients.unreached import assigned, filled
from graphscope.diagnose.subject import Subject
from graphscope.diagnose.training.parameter_rows import parameter_rows
from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.graph import walk
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node
    from graphscope.graph.training import Optimizer

_LEAST: Final = 3
"""So many steps of an optimizer must find no gradient at all."""

_MOST_ROWS: Final = 20_000
"""A forward pass of more rows is not looked through."""


class LeafLoss(NamedTuple):
    """Such a pass, and why."""

    row: int
    """The step, or pass, that shows it."""
    names: tuple[str, ...]
    tensors: frozenset[int]
    found: Explanation
    first: int
    """The first step, or pass, that it spoilt."""


class _Forward(NamedTuple):
    """What a forward pass computed from parameters."""

    leaves: dict[int, int]
    """The parameters, as tensors, with the newest row of each that it took in."""
    ends: list[int]
    """What it made of them and used nowhere, ascending."""
    made: set[int]
    """All that it made of them."""


def leaf_losses(graph: Graph) -> Iterator[LeafLoss]:
    """The optimizers that step again and again though no pass of the run brings any of theirs a gradient."""
    read = training(graph.log)
    reached: set[int] | None = None
    for optimizer in read.optimizers.values():
        ended = read.rows("step", owner=optimizer.number)
        ended = ended[ended <= graph.now]
        tensors = _requiring_grad(graph.log, optimizer.tensors)
        if len(ended) < _LEAST or not tensors or len(parameter_rows(graph.log).grown.of(tensors).rows):
            continue
        if reached is None:
            reached = {*filled(graph.log, graph.now + 1)} | assigned(graph)
        if tensors.isdisjoint(reached):
            start, stop = (int(row) for row in ended[_LEAST - 2 : _LEAST])
            learned = reached & read.optimized
            for each in _explained(graph, optimizer, tensors, (start, stop), learned):
                yield each._replace(first=int(ended[0]))


def _requiring_grad(log: Log, tensors: frozenset[int]) -> set[int]:
    known = np.array(sorted(tensors), np.int64)
    return set(known[(log.pick("flags", known) & int(Flag.REQUIRES_GRAD)) != 0].tolist())


def _explained(
    graph: Graph, optimizer: Optimizer, tensors: set[int], stretch: tuple[int, int], learned: set[int]
) -> Iterator[LeafLoss]:
    """Of the last pass between two steps, where the way from its loss to the parameters is cut."""
    read = training(graph.log)
    inside = np.flatnonzero((read.backward_begins > stretch[0]) & (read.backward_begins < stretch[1]))
    if not len(inside) or stretch[1] - stretch[0] > _MOST_ROWS:
        return
    begin = int(read.backward_begins[inside[-1]])
    forward = _forward(graph, tensors, stretch[0], begin)
    loss = _loss(graph, begin, stretch[1])
    if loss is None or not forward.leaves or _teaches(graph, loss, learned):
        return
    names = tuple(filter(None, (read.name(tensor) for tensor in sorted(forward.leaves))))
    newest = max(forward.leaves.values())
    if loss.row in forward.made:
        found = cut_ahead(Subject(graph.at(stretch[1]).node(newest)))
    else:
        whose = shortened(names) if names else "the parameters"
        found = _left(graph, forward, loss, f"{whose} of {optimizer.type}")
    if found is not None:
        yield LeafLoss(stretch[1], names, frozenset(forward.leaves), found, stretch[1])


def _forward(graph: Graph, tensors: set[int], start: int, stop: int) -> _Forward:
    made, taken, leaves = set[int](), set[int](), dict[int, int]()
    for row in range(start, stop):
        event = graph.index.event(row)
        if event.kind != Kind.OP or event.graph_pass != Pass.FORWARD:
            continue
        for source, _ in event.inputs:
            tensor = graph.index.event(source).tensor if source in range(graph.log.first, row) else -1
            if tensor in tensors:
                leaves[tensor] = max(source, leaves.get(tensor, 0))
            elif source not in made:
                continue
            made.add(row)
            taken.add(source)
    return _Forward(leaves, sorted(made - taken), made)


def _loss(graph: Graph, begin: int, stop: int) -> Node | None:
    """Where a pass begins; a leaf may be met in the pass alone."""
    for row, _ in graph.log.inputs(begin)[:1]:
        return graph.node(row)
    kinds = graph.log.column("kind", begin, stop)
    met = np.flatnonzero(kinds == Kind.LEAF)
    return graph.node(begin + int(met[0])) if len(met) else None


def _teaches(graph: Graph, loss: Node, learned: set[int]) -> bool:
    """Whether a loss is that of other parameters, which do learn."""
    rows = [loss.row, *walk.reach(loss.row, lambda row: made_of(graph, row))]
    return any(graph.index.event(row).tensor in learned for row in rows)


def _left(graph: Graph, forward: _Forward, loss: Node, whose: str) -> Explanation | None:
    """Where numbers left the graph, and where they came back as the leaf that the pass begins from."""
    rows = [loss.row, *walk.reach(loss.row, lambda row: made_of(graph, row))]
    back = graph.node(max(row for row in rows if not made_of(graph, row)))
    ends = [row for row in forward.ends if row < back.row and graph.index.event(row).dtype.startswith(FLOATING)]
    if back.kind != "leaf" or not ends:
        return None
    end = graph.node(ends[-1])
    new = made_by(back)
    came = f"what {end.op}{where(end)} made left the graph as plain numbers, and {new} makes a new tensor of them"
    others = [each for each in taken_at_lines([graph.node(row) for row in ends], back) if each != where(end)]
    also = f"; also cut{listed(others)}" if others and leaves_here(end) else ""
    verdict = f"no gradient flows from {title_of(loss)} to {whose}: {came}{also}"
    cure = "compute the loss with tensors all the way: .item(), float(), .numpy() and torch.tensor(...) cut it off"
    blamed, note = (end, "leaves the graph") if leaves_here(end) else (back, "comes back as a new leaf")
    return Explanation("none", "left the graph", verdict, steps([end, back], {blamed.row: note}), cure)
