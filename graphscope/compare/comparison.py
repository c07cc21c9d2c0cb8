"""The order of the work: two logs in, where they part out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from graphscope.compare.alignment import NONE, Alignment, Run
from graphscope.compare.anchors import LOOSE, TIGHT, anchor
from graphscope.compare.difference import PAIR, PARTED, SAME, Difference, Parting
from graphscope.compare.exact import exact as compared_exactly
from graphscope.compare.exact import same_rows
from graphscope.compare.first_steps import first_steps
from graphscope.compare.flow import Flow
from graphscope.compare.judgement import AGREES, Judgement
from graphscope.compare.neighbours import pair_backward, pair_leaves, pair_named, pair_roots, pair_users
from graphscope.compare.parameter_parts import Shared, shared_parts
from graphscope.compare.parameters import parameters
from graphscope.compare.partings import partings_backward, partings_forward
from graphscope.compare.remarks import compared, remarks, strangers
from graphscope.compare.rounding import Allowed
from graphscope.compare.steps import step_of, steps
from graphscope.compare.unseen import losses_parting, parameters_in_order
from graphscope.compare.updates import update_parting
from graphscope.errors import UsageError
from graphscope.eventlog.each_once import each_once
from graphscope.eventlog.reader import Log, load
from graphscope.eventlog.schema import NODES, Kind

if TYPE_CHECKING:
    from graphscope.compare.steps import Step


def diff(
    a: Log | str | os.PathLike[str],
    b: Log | str | os.PathLike[str],
    *,
    exact: bool = False,
    rtol: float | None = None,
    atol: float | None = None,
    names: Mapping[str, str] | None = None,
) -> Difference:
    """Where two recorded runs part first, with the line on both sides.

    Args:
        a: A log, or the path of one.
        b: Another.
        exact: Compare bit by bit, row against row: two runs of one program that is to be deterministic.
        rtol: Elements may differ by this part of them, and no more, in place of what rounding explains.
        atol: Elements may differ by so much, and no more.
        names: What modules and parameters of `a` are called in `b`: `{"layer1": "encoder.0"}`. Values tell it else.

    Raises:
        LogError: One can't be read.
        UsageError: `exact` is asked for together with what it leaves no room for.
    """
    if exact and (rtol is not None or atol is not None or names):
        wish = "rtol" if rtol is not None else "atol" if atol is not None else "names"
        raise UsageError(f"exact compares bit by bit and row by row, and {wish} has no say in that", "Leave one out.")
    one, other = (each if isinstance(each, Log) else load(each) for each in (a, b))
    for log in (one, other):
        log.refresh()  # it may be of a run that is still going on
    if exact:
        return compared_exactly(one, other)
    tolerance = None if rtol is None and atol is None else Allowed(atol or 0.0, rtol or 0.0)
    last: tuple[Alignment, Judgement] | None = None
    found: list[Parting] = []
    belonging: dict[int, int] = {}
    parts: list[Shared] = []
    largest = 0.0
    for both in first_steps(one, other, tolerance):
        mine, its = both
        alignment = aligned(Flow(one, mine.start, mine.update), Flow(other, its.start, its.update), names or {})
        last = alignment, Judgement(alignment, tolerance, parts)
        largest = max(largest, last[1].largest)
        belonging |= matched_parameters(alignment)
        parts = parts or shared_parts(alignment)
        if not belonging:
            belonging |= parameters_in_order(one, other)
        found = _partings(*last, both, belonging, parts, tolerance)
        if found:
            break
    if not found and (unseen := losses_parting(one, other, tolerance)) is not None:
        found = [unseen]
    nobody = np.zeros(0, np.int64)
    pairs, alone_a, alone_b = (same_rows(one, other), nobody, nobody) if last is None else _rows(*last)
    unlike = _is_empty(one) != _is_empty(other) or (bool(found) and last is not None and have_nothing_in_common(*last))
    return Difference(
        one,
        other,
        "unlike" if unlike else "parted" if found else "same",
        () if unlike else tuple(found),
        pairs,
        alone_a,
        alone_b,
        steps=trained(one, other),
        largest=largest if compared(one, other) == "values" else None,
        compared=compared(one, other),
        remarks=(*remarks(one, other), *strangers(names or {}, one, other)),
    )


def have_nothing_in_common(alignment: Alignment, judgement: Judgement) -> bool:
    """Whether no numbers of two runs are the same, and next to nothing of them belongs together."""
    run, flow = alignment.a, alignment.a.flow
    forward = ~flow.is_backward & (flow.kinds == Kind.OP)
    same = (judgement.states[0] == AGREES) & run.prints.telling & ~flow.is_backward
    fewest = min(int(forward.sum()), int((~alignment.b.flow.is_backward & (alignment.b.flow.kinds == Kind.OP)).sum()))
    return (
        bool(run.prints.known.any())
        and not same.any()
        and int((run.mates[forward] != NONE).sum()) <= max(1, fewest // 8)
    )


def _is_empty(log: Log) -> bool:
    return not any(np.isin(rows["kind"], NODES).any() for rows in log.events())


def trained(a: Log, b: Log) -> int:
    """How many training steps both runs have."""
    return min(sum(bool(each.passes) for each in steps(log)) for log in (a, b))


def _partings(
    alignment: Alignment,
    judgement: Judgement,
    both: tuple[Step, Step],
    belonging: dict[int, int],
    parts: list[Shared],
    tolerance: Allowed | None,
) -> list[Parting]:
    """Where two steps part: in the forward pass, else in backward, else in what the update makes of it."""
    number = both[0].number
    logs = alignment.a.flow.log, alignment.b.flow.log
    found = partings_forward(alignment, judgement, number) or partings_backward(alignment, judgement, number)
    if found:
        earlier = _updated_before(found[0], logs, both)
        updated = None if earlier is None else update_parting(*logs, earlier, belonging, tolerance, parts)
        return found if updated is None else [updated]
    updated = update_parting(*logs, both, belonging, tolerance, parts)
    return [] if updated is None else [updated]


def _updated_before(found: Parting, logs: tuple[Log, Log], both: tuple[Step, Step]) -> tuple[Step, Step] | None:
    """The earlier steps whose updates made the two values that differ, where such are what differs."""
    if found.a is None or found.b is None or found.a.row >= both[0].start or found.b.row >= both[1].start:
        return None
    return step_of(logs[0], found.a.row), step_of(logs[1], found.b.row)


def matched_parameters(alignment: Alignment) -> dict[int, int]:
    """Which parameters of two runs belong together, by the numbers of their tensors."""
    flows = alignment.a.flow, alignment.b.flow
    tensors = [flow.tensors for flow in flows]
    which = np.flatnonzero((alignment.a.mates != NONE) & np.isin(tensors[0], list(parameters(flows[0].log, 0))))
    mates = alignment.a.mates[which]
    # Where one alone gathers a gradient another tensor was made of the other, and is what is trained.
    is_used = [np.isin(each, list(flow.gathered)) for each, flow in zip((which, mates), flows, strict=True)]
    same = is_used[0] == is_used[1]
    pairs = zip(tensors[0][which[same]].tolist(), tensors[1][mates[same]].tolist(), strict=True)
    theirs = parameters(flows[1].log, 0)
    return {mine: its for mine, its in pairs if its in theirs}


def aligned(a: Flow, b: Flow, names: Mapping[str, str] = MappingProxyType({})) -> Alignment:
    """Which values of two flows belong together."""
    found = Alignment(a, b)
    pair_named(found, names)
    anchor(found, TIGHT)
    pair_roots(found)
    pair_leaves(found)
    anchor(found, LOOSE)
    pair_users(found)
    pair_backward(found)
    return found


def _rows(alignment: Alignment, judgement: Judgement) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return _pairs(alignment, judgement), _alone(alignment.a), _alone(alignment.b)


def _pairs(alignment: Alignment, judgement: Judgement) -> np.ndarray:
    side = alignment.a
    which = np.flatnonzero(side.mates != NONE)
    found = np.zeros(len(which), PAIR)
    found["a"] = side.flow.rows[which]
    found["b"] = alignment.b.flow.rows[side.mates[which]]
    found["state"] = np.where(judgement.states[0][which] == AGREES, SAME, PARTED)
    return found


def _alone(run: Run) -> np.ndarray:
    found: np.ndarray = each_once(run.flow.rows[(run.mates == NONE) & (run.echoes == NONE)])
    return found
