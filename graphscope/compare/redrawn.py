"""Random numbers that a backward pass draws anew where it computes a part of the forward pass again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphscope.diagnose.two_runs import RANDOM
from graphscope.eventlog.schema import Pass

if TYPE_CHECKING:
    from graphscope.compare.alignment import Run
    from graphscope.compare.flow import Flow


def redrawn(run: Run, end: int) -> tuple[int, int] | None:
    """The vertex that draws numbers anew ahead of a gradient, and that which drew them in the forward pass."""
    flow = run.flow
    again = flow.log.pick("graph_pass", flow.rows) == Pass.BACKWARD
    drawn = np.flatnonzero([op.rstrip("_") in RANDOM for op in flow.ops])
    for vertex in drawn[again[drawn] & (drawn < end)].tolist():
        first = [each for each in drawn[~again[drawn]].tolist() if _is_one_call(flow, each, vertex)]
        first.sort(key=lambda each: not flow.node(vertex).scope.endswith(flow.node(each).scope))
        values = [flow.value(each) for each in first]
        own = flow.value(vertex)
        if first and own is not None and not any(each is None or np.array_equal(own, each) for each in values):
            return vertex, first[0]
    return None


def _is_one_call(flow: Flow, one: int, other: int) -> bool:
    ops, sites = (flow.log.pick(field, flow.rows[[one, other]]) for field in ("op", "site"))
    return bool(ops[0] == ops[1] and sites[0] == sites[1]) and flow.shape(one) == flow.shape(other)
