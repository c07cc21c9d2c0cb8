"""What hooks of a program make of gradients: ops that run in a backward pass and are no part of a rule."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.callers import callers

if TYPE_CHECKING:
    from graphscope.compare.alignment import Run


def hook_behind(run: Run, vertices: Iterable[int]) -> int | None:
    """The op of a hook that made the first of some gradients what it is; None where none did."""
    flow = run.flow
    for vertex in vertices:
        ahead = max(flow.inputs[vertex], default=vertex)
        for each in range(vertex - 1, ahead, -1):
            if _is_of_a_hook(run, each) and _is_handed_on(run, each, vertex):
                return each
    return None


def _is_of_a_hook(run: Run, vertex: int) -> bool:
    """Whether it is an op of a backward pass that neither torch nor a function of the program has for its rule."""
    flow = run.flow
    if flow.kinds[vertex] != Kind.OP or not flow.is_backward[vertex] or flow.flags[vertex] & int(Flag.CREATE_GRAPH):
        return False
    rule = flow.node(vertex).forward
    owner = None if rule is None else rule.forward
    lines = callers(flow.log, int(flow.rows[vertex])).lines
    return owner is None or not any(f".{line.function}".endswith(f".{owner.op}.backward") for line in lines)


def _is_handed_on(run: Run, vertex: int, gradient: int) -> bool:
    """Whether a gradient holds what an op made."""
    prints = run.prints
    same = run.flow.counts[vertex] == run.flow.counts[gradient] and prints.known[vertex] and prints.known[gradient]
    return bool(same and (prints.features[vertex] == prints.features[gradient]).all())
