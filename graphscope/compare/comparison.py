"""The order of the work: two logs in, where they part out."""

from __future__ import annotations

import os

import numpy as np

from graphscope.compare.alignment import NONE, Alignment, Run
from graphscope.compare.anchors import LOOSE, TIGHT, anchor
from graphscope.compare.difference import PAIR, PARTED, SAME, Difference
from graphscope.compare.flow import Flow
from graphscope.compare.judgement import AGREES, Judgement
from graphscope.compare.neighbours import pair_backward, pair_leaves, pair_roots, pair_users
from graphscope.compare.partings import partings
from graphscope.compare.remarks import compared, remarks
from graphscope.compare.steps import steps
from graphscope.eventlog.reader import Log, load


def diff(a: Log | str | os.PathLike[str], b: Log | str | os.PathLike[str]) -> Difference:
    """Where two recorded runs part first, with the line on both sides.

    Args:
        a: A log, or the path of one.
        b: Another.

    Raises:
        LogError: One can't be read.
    """
    logs = [each if isinstance(each, Log) else load(each) for each in (a, b)]
    for log in logs:
        log.refresh()  # of what is being recorded
    begun = [steps(log)[:1] for log in logs]
    if not all(begun):
        return Difference(logs[0], logs[1], "same", remarks=tuple(remarks(*logs)))
    flows = [Flow(log, step.start, step.update) for log, (step,) in zip(logs, begun, strict=True)]
    alignment = aligned(*flows)
    judgement = Judgement(alignment)
    found = partings(alignment, judgement, "forward", 1) or partings(alignment, judgement, "backward", 1)
    return Difference(
        logs[0],
        logs[1],
        "parted" if found else "same",
        tuple(found),
        _pairs(alignment, judgement),
        _alone(alignment.a),
        _alone(alignment.b),
        compared=compared(*logs),
        remarks=tuple(remarks(*logs)),
    )


def aligned(a: Flow, b: Flow) -> Alignment:
    """Which values of two flows belong together."""
    found = Alignment(a, b)
    anchor(found, TIGHT)
    pair_roots(found)
    pair_leaves(found)
    anchor(found, LOOSE)
    pair_users(found)
    pair_backward(found)
    return found


def _pairs(alignment: Alignment, judgement: Judgement) -> np.ndarray:
    side = alignment.a
    which = np.flatnonzero(side.mates != NONE)
    found = np.zeros(len(which), PAIR)
    found["a"] = side.flow.rows[which]
    found["b"] = alignment.b.flow.rows[side.mates[which]]
    found["state"] = np.where(judgement.states[0][which] == AGREES, SAME, PARTED)
    return found


def _alone(run: Run) -> np.ndarray:
    found: np.ndarray = np.unique(run.flow.rows[(run.mates == NONE) & (run.echoes == NONE)])
    return found
