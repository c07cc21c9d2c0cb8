"""Where two runs part: the origins of both sides, brought together, with what differs about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from graphscope.compare.alignment import NONE, Alignment
from graphscope.compare.calls import facts
from graphscope.compare.difference import Distance, Parting, When
from graphscope.compare.judgement import DIFFERS, Judgement
from graphscope.compare.origins import Lost, lost, results_of
from graphscope.compare.rounding import distance
from graphscope.compare.sentences import sentence
from graphscope.compare.sides import side

if TYPE_CHECKING:
    from graphscope.compare.flow import Flow


class Place(NamedTuple):
    """A vertex of either side where they part; None where one has nothing like it."""

    a: int | None
    b: int | None


def partings(alignment: Alignment, judgement: Judgement, when: When, step: int) -> list[Parting]:
    """Where the two runs part in one pass, the first one first; each is no consequence of another."""
    flows = alignment.a.flow, alignment.b.flow
    found = [
        lost(flow, states, results_of(flow, states, when == "backward"), when == "backward")
        for flow, states in zip(flows, judgement.states, strict=True)
    ]
    consequences = int(np.count_nonzero(judgement.states[0] == DIFFERS))
    return [_parting(alignment, place, when, step, max(consequences - 1, 0)) for place in _places(alignment, *found)]


def _places(alignment: Alignment, a: Lost, b: Lost) -> list[Place]:
    """The origins of both sides, those together that lead to the same."""
    reached = [
        [(origin, _reached(side.flow, side.mates, each, origin)) for origin in each.origins]
        for side, each in ((alignment.a, a), (alignment.b, b))
    ]
    left = dict(reached[1])
    found: list[Place] = []
    for origin, targets in reached[0]:
        wanted = {int(alignment.a.mates[target]) for target in targets}
        mate = next((other for other, its in left.items() if other in wanted or its & wanted), None)
        if mate is None and left:
            mate = next(iter(left))
        if mate is not None:
            del left[mate]
        found.append(Place(origin, mate))
    found += [Place(None, other) for other in left]
    return found


def _reached(flow: Flow, mates: np.ndarray, found: Lost, origin: int) -> set[int]:
    """The first lost vertices from an origin on that the other side has as well."""
    seen, border, targets = {origin}, [origin], set()
    while border:
        vertex = border.pop()
        if mates[vertex] != NONE:
            targets.add(vertex)
            continue
        for user in flow.users[vertex]:
            if found.lost[user] and user not in seen:
                seen.add(user)
                border.append(user)
    return targets


def _parting(alignment: Alignment, place: Place, when: When, step: int, consequences: int) -> Parting:
    nodes = [
        None if vertex is None else each.flow.node(vertex)
        for each, vertex in ((alignment.a, place.a), (alignment.b, place.b))
    ]
    a, b = nodes
    known = facts(a, b) if a is not None and b is not None else ()
    sides = [None if each is None else side(each) for each in nodes]
    told = sentence(when, sides[0], sides[1], known)
    return Parting(
        when, step, sides[0], sides[1], told.cause, told.verdict, True, known, _apart(alignment, place), consequences
    )


def _apart(alignment: Alignment, place: Place) -> Distance | None:
    """How far apart the two are where they part."""
    if place.a is None or place.b is None:
        return None
    one, other = alignment.a.flow.value(place.a), alignment.b.flow.value(place.b)
    if one is None or other is None or one.size != other.size:
        return None
    return distance(one, other, alignment.a.flow.dtype(place.a), alignment.b.flow.dtype(place.b))
