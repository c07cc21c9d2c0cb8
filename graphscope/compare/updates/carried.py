"""Parameters that earlier steps have updated: whether that is all that they differ by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphscope.compare.rounding import Deviation, deviation
from graphscope.compare.steps import step_of
from graphscope.compare.updates.change import Change
from graphscope.compare.updates.update import Update, update_of
from graphscope.eventlog.schema import Kind

if TYPE_CHECKING:
    from graphscope.compare.flow import Flow
    from graphscope.compare.parameter_parts import Cut


def carried(
    a: Flow, one: int, b: Flow, other: int, cuts: tuple[Cut | None, Cut | None] = (None, None)
) -> Deviation | None:
    """How far apart two parameters are that the last update of each left so by rounding; None of others.

    Args:
        a: The values of a step.
        one: A vertex of it.
        b: Those of the other run.
        other: A vertex of that.
        cuts: Which parts of them are compared.
    """
    mine, its = made_by(a, one), made_by(b, other)
    if mine is None or its is None:
        return None
    mine, its = mine.of_part(cuts[0]), its.of_part(cuts[1])
    change = Change(int(mine.told["tensor"]), int(its.told["tensor"]), mine, its)
    after = mine.after, change.turned(its.after)
    if after[0] is None or after[1] is None or change.is_apart:
        return None
    return deviation(np.asarray(after[0]), np.asarray(after[1]))


def made_by(flow: Flow, vertex: int) -> Update | None:
    """The update of an earlier step that made a parameter what it is; None where that was something else."""
    log, row, tensor = flow.log, int(flow.rows[vertex]), int(flow.tensors[vertex])
    if flow.kinds[vertex] == Kind.LEAF:
        row = max(flow.graph.index.versions(tensor, row), default=row)
    found = update_of(log, step_of(log, row), tensor)
    return found if found is not None and found.row == row else None
