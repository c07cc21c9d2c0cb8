"""Where two runs part, pass by pass: what is lost, where it begins, and what differs there."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.compare.beginnings import GIVEN, folded
from graphscope.compare.births import birth, masks
from graphscope.compare.calls import Call, alone, facts
from graphscope.compare.causes import cause_of
from graphscope.compare.compiled import of_compiled
from graphscope.compare.culprits import of_backward
from graphscope.compare.difference import Distance, Parting
from graphscope.compare.edits import is_edited
from graphscope.compare.judgement import DIFFERS, Judgement
from graphscope.compare.leaf_gradients import judge_leaf_gradients
from graphscope.compare.operands import other_copies, other_operand
from graphscope.compare.origins import Lost, lost, results_of
from graphscope.compare.pieces import settle_pieces
from graphscope.compare.regions import Region, independent, regions
from graphscope.compare.rounding import distance
from graphscope.compare.sentences import Cause, sentence
from graphscope.compare.settings import other_settings
from graphscope.compare.sides import side
from graphscope.compare.split_losses import settle_losses
from graphscope.compare.vocabulary import does_the_same

if TYPE_CHECKING:
    from graphscope.compare.alignment import Alignment, Run
    from graphscope.compare.births import Birth
    from graphscope.compare.difference import Fact, Side, When
    from graphscope.compare.items import Item

_MOST: Final = 16
"""So many places are looked at."""

_BY_HAND: Final = ("edited", "edited gradient")


def partings_forward(alignment: Alignment, judgement: Judgement, step: int) -> list[Parting]:
    """Where the forward passes part, the first place first; each is no consequence of another."""
    settle_losses(judgement)
    found = _lost_forward(judgement)
    if settle_pieces(judgement, *found):
        found = _lost_forward(judgement)
    return folded(
        _once(
            _forward(judgement, region, step)
            for region in islice(independent(alignment, regions(alignment, *found)), _MOST)
        )
    )


def _lost_forward(judgement: Judgement) -> tuple[Lost, Lost]:
    pairs = zip(judgement.alignment.sides, judgement.states, strict=True)
    a, b = (lost(run.flow, states, results_of(run, other, states), False) for (run, other), states in pairs)
    return a, b


def partings_backward(alignment: Alignment, judgement: Judgement, step: int) -> list[Parting]:
    """Where the backward passes part, if the forward passes don't."""
    if not any(run.prints.known[run.flow.is_backward].any() for run in judgement.runs):
        return []
    compared = judge_leaf_gradients(judgement)
    found = [
        lost(run.flow, states, results, True)
        for run, states, results in zip(judgement.runs, judgement.states, compared, strict=True)
    ]
    return _once(
        _backward(judgement, region, step)
        for region in islice(independent(alignment, regions(alignment, *found)), _MOST)
    )


def _once(found: Iterable[Parting]) -> list[Parting]:
    """Partings without those at a place that an earlier one has on either side."""
    kept: list[Parting] = []
    for each in found:
        places = {(side.row, which) for which, side in (("a", each.a), ("b", each.b)) if side is not None}
        known = {(side.row, which) for one in kept for which, side in (("a", one.a), ("b", one.b)) if side is not None}
        if not places & known:
            kept.append(each)
    return kept


def _forward(judgement: Judgement, region: Region, step: int) -> Parting:
    alignment = judgement.alignment
    found = birth(alignment, region)
    calls = _call(alignment.a, masks(found.a)), _call(alignment.b, masks(found.b))
    alike = found.a is not None and found.b is not None and not found.extra and does_the_same(found.a, found.b)
    known = facts(*calls, alike=alike)
    if found.extra:
        known = alone(calls[0 if found.extra == "a" else 1], found.extra)
    swapped = None
    if found.a is not None and found.b is not None:
        swapped = other_copies(alignment, found.a.vertex, found.b.vertex)
        if swapped is None and not known and not found.extra:
            swapped = other_operand(alignment, found.a.vertex, found.b.vertex)
    if swapped is not None:
        calls = Call(alignment.a.flow.node(swapped.a)), Call(alignment.b.flow.node(swapped.b))
        return _told(judgement, region, "forward", step, swapped.cause, calls, ())
    cause = cause_of(found, calls, known)
    if cause.name in ("op", "another op") and _is_partly_unseen(alignment, found):
        cause = Cause("unseen")
    if cause.name == "another op":
        compiled = of_compiled(alignment, region)
        cause, known = (cause, known) if compiled is None else compiled
    return _told(judgement, region, "forward", step, cause, calls, known)


def _is_partly_unseen(alignment: Alignment, found: Birth) -> bool:
    """Whether statistics alone are known of something that the ops are given."""
    runs = (alignment.a, found.a), (alignment.b, found.b)
    return any(
        run.prints.known[each] and not run.prints.whole[each]
        for run, item in runs
        if item is not None
        for each in run.flow.inputs[item.vertex]
    )


def _backward(judgement: Judgement, region: Region, step: int) -> Parting:
    alignment = judgement.alignment
    culprits = of_backward(alignment, region)
    calls = (
        None if culprits.a is None else Call(alignment.a.flow.node(culprits.a)),
        None if culprits.b is None else Call(alignment.b.flow.node(culprits.b)),
    )
    known = facts(*calls)
    return _told(judgement, region, "backward", step, culprits.cause, calls, known)


def _call(run: Run, item: Item | None) -> Call | None:
    """The call that made an item; as a whole where nothing within it agrees."""
    return None if item is None else Call(run.flow.node(item.vertex), None if item.is_first else item.part)


def _told(
    judgement: Judgement,
    region: Region,
    when: When,
    step: int,
    cause: Cause,
    calls: tuple[Call | None, Call | None],
    known: tuple[Fact, ...],
) -> Parting:
    a, b = calls
    settings = other_settings(cause.name, None if a is None else a.node, None if b is None else b.node)
    if settings:
        cause, known = Cause("setting"), settings
    if any(call is not None and is_edited(call.node, when) for call in calls):
        cause, known = Cause("edited gradient" if when == "backward" else "edited"), ()
    same_op = a is not None and b is not None and a.node.op == b.node.op
    whole = cause.name in _BY_HAND or (same_op and bool(known))
    sides = [None if call is None else _side(call, whole=whole) for call in calls]
    told = sentence(when, cause, sides[0], sides[1], known)
    apart = _apart(judgement.alignment, region)
    consequences = max(int(np.count_nonzero(judgement.states[0] == DIFFERS)) - 1, 0)
    computes = any(call is not None and call.node.kind != "leaf" for call in calls)
    takes = computes and cause.name not in (*GIVEN, *_BY_HAND, "unseen")
    return Parting(
        when, step, sides[0], sides[1], told.cause, told.verdict, True if takes else None, known, apart, consequences
    )


def _side(call: Call, *, whole: bool) -> Side:
    """The call; as a whole where what was given to it says why it differs."""
    return side(call.node, "" if whole or call.part is None else call.part.label)


def _apart(alignment: Alignment, region: Region) -> Distance | None:
    """How far apart the two runs are where they meet again."""
    if region.end_a is None or region.end_b is None:
        return None
    one, other = alignment.a.flow.value(region.end_a), alignment.b.flow.value(region.end_b)
    if one is None or other is None or one.size != other.size:
        return None
    return distance(one, other, alignment.a.flow.dtype(region.end_a), alignment.b.flow.dtype(region.end_b))
