"""Two calls of one op that were given other tensors, though each of these is known on the other side as well."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.compare.anchors import LOOSE
from graphscope.compare.rounding import Allowed, agree
from graphscope.compare.sentences import Cause
from graphscope.diagnose.values.origins import JOINS, MOVES
from graphscope.eventlog.schema import Flag, Kind

if TYPE_CHECKING:
    from graphscope.compare.alignment import Alignment
    from graphscope.compare.flow import Flow

REPEATS: Final = frozenset({"repeat", "repeat_interleave", "tile"})
"""Ops that hold the numbers that they are given several times."""


class Swapped(NamedTuple):
    """An operand that is another on either side."""

    a: int
    b: int
    cause: Cause


def other_operand(alignment: Alignment, a: int, b: int) -> Swapped | None:
    """The first operand of two calls of one op that does not hold the same; None where all do, or it can't be said."""
    one, other = alignment.a.flow, alignment.b.flow
    if one.ops[a] != other.ops[b]:
        return None
    mine, its = one.inputs[a], other.inputs[b]
    if len(mine) != len(its):
        return None
    for here, there in zip(mine, its, strict=True):
        values = one.value(here), other.value(there)
        if values[0] is None or values[1] is None or values[0].shape != values[1].shape:
            continue
        scale = max(float(alignment.a.prints.scales[here]), float(alignment.b.prints.scales[there]))
        if not agree(values[0], values[1], Allowed(1e-4 * scale, 1e-4)):
            return _swapped(alignment, (a, b), (here, there))
    return None


def other_copies(alignment: Alignment, a: int, b: int) -> Swapped | None:
    """What lays copies of the same numbers out in another order, on the way to two ops; None where nothing does."""
    ways = (_copied(alignment.a.flow, a), _copied(alignment.b.flow, b))
    for here, there in product(*ways):
        one, other = alignment.a.flow.value(here), alignment.b.flow.value(there)
        if one is None or other is None or one.shape != other.shape or one.dtype.kind != "f":
            continue
        close = Allowed(1e-4 * float(alignment.a.prints.scales[here]), 1e-4)
        if not agree(one, other, close) and agree(np.sort(one, None), np.sort(other, None), close):
            return Swapped(here, there, Cause("another order"))
    return None


def _copied(flow: Flow, user: int) -> list[int]:
    """Layouts of what an op is given, as far as they hold numbers several times; the first of each way first."""
    found: list[int] = []
    for source in flow.inputs[user]:
        way = [source]
        while flow.ops[way[-1]] in MOVES | REPEATS | JOINS and len({*flow.inputs[way[-1]]}) == 1:
            way.append(flow.inputs[way[-1]][0])
        counts = flow.counts[way]
        found += way[: int(np.count_nonzero(counts > counts[-1]))][::-1] if flow.is_floating[source] else []
    return found


def _swapped(alignment: Alignment, users: tuple[int, int], operands: tuple[int, int]) -> Swapped:
    (a, b), (here, there) = users, operands
    one, other = alignment.a.flow, alignment.b.flow
    if one.flags[here] & other.flags[there] & int(Flag.PARAMETER):
        return Swapped(made_by(one, here, a), made_by(other, there, b), Cause("initialisation"))
    if other.flags[there] & int(Flag.IN_PLACE) and alignment.a.counterpart(here) in other.inputs[there]:
        return Swapped(a, there, Cause("in place", "b"))
    if one.flags[here] & int(Flag.IN_PLACE) and alignment.b.counterpart(there) in one.inputs[here]:
        return Swapped(here, b, Cause("in place", "a"))
    if alignment.values(here, there, LOOSE) is not None:
        moves = one.ops[here] in MOVES, other.ops[there] in MOVES
        if moves == (True, False):
            return Swapped(here, b, Cause("only one", "a"))
        if moves == (False, True):
            return Swapped(a, there, Cause("only one", "b"))
        return Swapped(made_by(one, here, a), made_by(other, there, b), Cause("another order"))
    mates = [alignment.a.counterpart(each) for each in one.inputs[a]]
    swapped = sorted(mates) == sorted(other.inputs[b])
    return Swapped(a, b, Cause("swapped" if swapped else "operand"))


def made_by(flow: Flow, vertex: int, user: int) -> int:
    """What made an operand: of a leaf what wrote into it; the call that uses it where the log does not tell."""
    if flow.kinds[vertex] != Kind.LEAF:
        return vertex
    written = [source for source in flow.inputs[vertex] if flow.node(source).site is not None]
    if written:
        return written[-1]
    return user if flow.node(vertex).site is None or flow.flags[vertex] & int(Flag.PARAMETER) else vertex
