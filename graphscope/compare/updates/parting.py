"""The first parameter that a step changed otherwise in two runs, and the first of a table of causes that holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from graphscope.compare.difference import Parting, Side
from graphscope.compare.parameters import parameters
from graphscope.compare.rounding import Allowed, distance
from graphscope.compare.sides import side, source_line
from graphscope.compare.updates import gradient_causes, optimizer_causes
from graphscope.compare.updates.case import Case, Cause, Place
from graphscope.compare.updates.change import Change
from graphscope.compare.updates.update import Update, updates_of
from graphscope.graph import Graph
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.compare.parameter_parts import Cut, Shared
    from graphscope.compare.steps import Step
    from graphscope.eventlog.reader import Log


CAUSES: Final[tuple[Callable[[Case], Cause | None], ...]] = (
    gradient_causes.left_out,
    gradient_causes.stale,
    gradient_causes.clipped,
    optimizer_causes.another_optimizer,
    optimizer_causes.rate,
    optimizer_causes.settings,
    optimizer_causes.by_numbers,
    optimizer_causes.unknown,
)
"""The first one that holds is told."""

_BY_VALUES: Final = ("clipping", "update rule")
"""Causes that are known by what differs about calls, else by values."""


def update_parting(
    a: Log,
    b: Log,
    steps: tuple[Step, Step],
    pairs: Mapping[int, int],
    tolerance: Allowed | None = None,
    parts: Sequence[Shared] = (),
) -> Parting | None:
    """The first parameter that a step changed otherwise in two runs, and why; None where it did the same to all.

    Args:
        a: A log.
        b: Another.
        steps: A step of each, whose forward and backward passes agree.
        pairs: Which parameters belong together, by the numbers of their tensors.
        tolerance: How far parameters may be apart behind the step, in place of what rounding explains.
        parts: Which parameters are parts of others.
    """
    ours, theirs = updates_of(a, steps[0]), updates_of(b, steps[1])
    matched = [Change(mine, its, ours.get(mine), theirs.get(its)) for mine, its in pairs.items()]
    matched += [
        Change(each.a, each.b, _of_part(ours.get(each.a), each.cut_a), _of_part(theirs.get(each.b), each.cut_b))
        for each in parts
    ]
    matched.sort(key=lambda each: each.one.row if each.one is not None else a.end)
    moved = [each for each in matched if (each.one or each.other) is not None]
    apart = [each for each in moved if (each.is_apart if tolerance is None else each.is_beyond(tolerance))]
    if not apart:
        return None
    case = Case(a, b, steps, apart[0], apart, matched)
    cause = next(found for found in (judge(case) for judge in CAUSES) if found is not None)
    if case.change.is_unseen and not cause.facts and cause.name in _BY_VALUES:
        return None  # norms alone don't tell so much
    return _parting(case, cause)


def _of_part(update: Update | None, cut: Cut | None) -> Update | None:
    return None if update is None else update.of_part(cut)


def _parting(case: Case, cause: Cause) -> Parting:
    sides = [
        _side(*each)
        for each in zip(case.logs, case.updates, (case.change.a, case.change.b), case.steps, cause.places, strict=True)
    ]
    one, other = case.updates
    apart = None
    if one is not None and other is not None:
        after = one.after, case.change.turned(other.after)
        if after[0] is not None and after[1] is not None:
            apart = distance(after[0], after[1], one.node.dtype, other.node.dtype)
    return Parting(
        "update", case.steps[0].number, sides[0], sides[1], cause.name, cause.sentence, True, cause.facts, apart,
        len(case.apart) - 1,
    )  # fmt: skip


def _side(log: Log, update: Update | None, tensor: int, step: Step, place: Place | None) -> Side:
    """The update of a parameter (its value, where there is none) at the line that is to be looked at."""
    node = update.node if update is not None else Graph(log).node(parameters(log, step.stop)[tensor])
    found = side(node)
    name = training(log).name(tensor) or found.name
    what, file, line = place or (found.op, found.file, found.line)
    return Side(
        found.row, what, name, file, line, source_line(log, file, line), found.scope, found.shape, found.dtype,
        step=found.step,
    )  # fmt: skip
