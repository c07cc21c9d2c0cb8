"""Where two runs part: the origins of both sides, brought together, with what differs about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from graphscope.compare.alignment import NONE, Alignment, Run
from graphscope.compare.calls import facts
from graphscope.compare.culprits import of_backward
from graphscope.compare.difference import Distance, Parting
from graphscope.compare.judgement import DIFFERS, Judgement
from graphscope.compare.leaf_gradients import judge_leaf_gradients
from graphscope.compare.origins import Lost, lost, results_of
from graphscope.compare.rounding import distance
from graphscope.compare.sentences import sentence
from graphscope.compare.sides import side

if TYPE_CHECKING:
    from graphscope.graph import Node


class Place(NamedTuple):
    """Where the two runs part: a vertex of either, and the first one behind it that both have; None for none."""

    a: int | None
    b: int | None
    end_a: int | None
    end_b: int | None


def partings_forward(alignment: Alignment, judgement: Judgement, step: int) -> list[Parting]:
    """Where the forward passes part, the first place first; each is no consequence of another."""
    found = [
        lost(run.flow, states, results_of(run.flow, states, run.by_value), False)
        for run, states in zip(judgement.runs, judgement.states, strict=True)
    ]
    return [_forward(alignment, judgement, place, step) for place in _places(alignment, *found)]


def partings_backward(alignment: Alignment, judgement: Judgement, step: int) -> list[Parting]:
    """Where the backward passes part, if the forward passes don't."""
    compared = judge_leaf_gradients(judgement)
    found = [
        lost(run.flow, states, results, True)
        for run, states, results in zip(judgement.runs, judgement.states, compared, strict=True)
    ]
    return [_backward(alignment, judgement, place, step) for place in _places(alignment, *found)]


def _places(alignment: Alignment, a: Lost, b: Lost) -> list[Place]:
    """The origins of both sides, those together that lead to the same."""
    ends = [
        {origin: _ends(run, each, origin) for origin in each.origins}
        for run, each in ((alignment.a, a), (alignment.b, b))
    ]
    left = dict(ends[1])
    found: list[Place] = []
    for origin, its in ends[0].items():
        wanted = {int(alignment.a.mates[end]): end for end in its}
        other, end = next(
            ((other, end) for other, others in left.items() for end in wanted if end in others or end == other),
            (next(iter(left), None), None),
        )
        if other is not None:
            del left[other]
        end_a = wanted[end] if end is not None else min(its, default=None)
        end_b = end if end is not None or end_a is None else int(alignment.a.mates[end_a])
        found.append(Place(origin, other, end_a, end_b))
    for other, others in left.items():
        end_b = min(others, default=None)
        found.append(Place(None, other, None if end_b is None else int(alignment.b.mates[end_b]), end_b))
    return found


def _ends(run: Run, found: Lost, origin: int) -> list[int]:
    """The first lost vertices from an origin on that the other side has as well."""
    seen, border, ends = {origin}, [origin], []
    while border:
        vertex = border.pop()
        if run.mates[vertex] != NONE:
            ends.append(vertex)
            continue
        for user in run.flow.users[vertex]:
            if found.lost[user] and user not in seen:
                seen.add(user)
                border.append(user)
    return sorted(ends)


def _forward(alignment: Alignment, judgement: Judgement, place: Place, step: int) -> Parting:
    a, b = _nodes(alignment, place.a, place.b)
    known = facts(a, b) if a is not None and b is not None else ()
    sides = [None if each is None else side(each) for each in (a, b)]
    told = sentence("forward", "op", sides[0], sides[1], known)
    apart = _apart(alignment, place.a, place.b) or _apart(alignment, place.end_a, place.end_b)
    return Parting(
        "forward", step, sides[0], sides[1], told.cause, told.verdict, True, known, apart, _consequences(judgement)
    )


def _backward(alignment: Alignment, judgement: Judgement, place: Place, step: int) -> Parting:
    culprits = of_backward(alignment, place)
    a, b = _nodes(alignment, culprits.a, culprits.b)
    known = facts(a, b) if a is not None and b is not None else ()
    sides = [None if each is None else side(each) for each in (a, b)]
    told = sentence("backward", culprits.cause, sides[0], sides[1], known)
    apart = _apart(alignment, place.a, place.b) or _apart(alignment, place.end_a, place.end_b)
    return Parting(
        "backward", step, sides[0], sides[1], told.cause, told.verdict, True, known, apart, _consequences(judgement)
    )


def _nodes(alignment: Alignment, a: int | None, b: int | None) -> list[Node | None]:
    return [None if vertex is None else run.flow.node(vertex) for run, vertex in ((alignment.a, a), (alignment.b, b))]


def _consequences(judgement: Judgement) -> int:
    return max(int(np.count_nonzero(judgement.states[0] == DIFFERS)) - 1, 0)


def _apart(alignment: Alignment, a: int | None, b: int | None) -> Distance | None:
    """How far apart two vertices are."""
    if a is None or b is None:
        return None
    one, other = alignment.a.flow.value(a), alignment.b.flow.value(b)
    if one is None or other is None or one.size != other.size:
        return None
    return distance(one, other, alignment.a.flow.dtype(a), alignment.b.flow.dtype(b))
