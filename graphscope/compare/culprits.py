"""Of a gradient that differs, the forward node whose rule made it: that is what a program has to look at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from graphscope.compare.alignment import NONE
from graphscope.compare.hooks import hook_behind
from graphscope.compare.redrawn import redrawn
from graphscope.eventlog.schema import Flag, Kind

if TYPE_CHECKING:
    from graphscope.compare.alignment import Alignment
    from graphscope.compare.flow import Flow
    from graphscope.compare.regions import Region


class Culprits(NamedTuple):
    """The forward vertices whose rules made gradients that differ."""

    a: int | None
    b: int | None
    cause: str
    """A key of `sentences.CAUSES`."""


CUTS: Final = frozenset({"detach", "detach_", "data", "stop_gradient"})
_FARTHEST: Final = 64


def ruling(flow: Flow, vertex: int) -> list[int]:
    """The forward vertices whose rules brought a gradient, in the order in which they did."""
    found = []
    for source in flow.inputs[vertex]:
        if flow.kinds[source] == Kind.ACCUMULATE:
            found += ruling(flow, source)
        else:
            owner = owner_of(flow, source)
            if owner is not None and owner not in found:
                found.append(owner)
    return found


def owner_of(flow: Flow, vertex: int) -> int | None:
    """The forward vertex that a backward one belongs to, however deep inside of its rule."""
    found: int | None = vertex
    while found is not None and flow.is_backward[found]:
        found = flow.vertex(int(flow.forward[found]))
    return found


def of_backward(alignment: Alignment, region: Region) -> Culprits:
    """The forward vertices to blame where gradients part."""
    a, b = alignment.a, alignment.b
    hooked = _hooked(alignment, region)
    if hooked is not None:
        return hooked
    again = _redrawn(alignment, region)
    if again is not None:
        return again
    ends = [[] if end is None else _arriving(run.flow, end) for run, end in ((a, region.end_a), (b, region.end_b))]
    only = [
        [each for each in mine if run.counterpart(each) not in its]
        for run, mine, its in ((a, ends[0], ends[1]), (b, ends[1], ends[0]))
    ]
    if len(ends[0]) > len(ends[1]) and only[0]:
        mate = a.counterpart(only[0][0])
        found = cut(b.flow, mate)
        if found is not None or not only[1]:
            return Culprits(only[0][0], mate if found is None else found, "untied" if found is None else "detached")
    if len(ends[1]) > len(ends[0]) and only[1]:
        mate = b.counterpart(only[1][0])
        found = cut(a.flow, mate)
        if found is not None or not only[0]:
            return Culprits(
                mate if found is None else found, only[1][0], "untied" if found is None else "detached in a"
            )
    rules = [
        None if vertex is None else next(iter(ruling(run.flow, vertex)), owner_of(run.flow, vertex))
        for run, vertex in ((a, _first(region.a)), (b, _first(region.b)))
    ]
    if rules[0] is not None and rules[1] is None:
        return Culprits(rules[0], cut(b.flow, a.counterpart(rules[0])), "detached")
    if rules[1] is not None and rules[0] is None:
        return Culprits(cut(a.flow, b.counterpart(rules[1])), rules[1], "detached in a")
    return _cut_off(alignment) or Culprits(rules[0], rules[1], "backward rule")


def _cut_off(alignment: Alignment) -> Culprits | None:
    """A value of both runs that a gradient reaches in one, and on from which it is cut off in the other; beside it, the
    first cut of the run that lets it pass, which may be the one that leaves it out.
    """
    for (run, other), cause in zip(alignment.sides, ("detached", "detached in a"), strict=True):
        for vertex in run.flow.gradients:
            mate = run.counterpart(vertex)
            if mate == NONE or run.flow.is_backward[vertex] or mate in other.flow.gradients:
                continue
            cuts = _cuts_of(other.flow, other.flow.users[mate])
            if cuts:
                fewer = _cuts_of(run.flow, range(run.flow.sources, len(run.flow)))
                way = [*fewer, *run.flow.users[vertex], vertex][0]
                told = cause.replace("detached", "fewer cuts") if fewer else cause
                return Culprits(way, cuts[0], told) if run is alignment.a else Culprits(cuts[0], way, told)
    return None


def _cuts_of(flow: Flow, vertices: Iterable[int]) -> list[int]:
    """Those that cut gradients of what is computed off on the way to a result."""
    cuts = [each for each in vertices if flow.ops[each] in CUTS and flow.reaching[each]]
    return [each for each in cuts if not any(flow.flags[source] & int(Flag.PARAMETER) for source in flow.inputs[each])]


def _hooked(alignment: Alignment, region: Region) -> Culprits | None:
    """Hooks that made gradients what they are, in one run or in both; None where none did."""
    places = (alignment.a, region.a, region.end_a), (alignment.b, region.b, region.end_b)
    hooks = [hook_behind(run, side or (() if end is None else (end,))) for run, side, end in places]
    if hooks == [None, None]:
        return None
    of = [None if end is None else owner_of(run.flow, end) for run, _, end in places]
    if None not in hooks:
        return Culprits(hooks[0], hooks[1], "hooks")
    return Culprits(of[0], hooks[1], "hook") if hooks[0] is None else Culprits(hooks[0], of[1], "hook in a")


def _redrawn(alignment: Alignment, region: Region) -> Culprits | None:
    """Random numbers that one run alone draws anew in backward, and what drew them in the other."""
    places = (alignment.a, region.a, region.end_a), (alignment.b, region.b, region.end_b)
    known = [redrawn(run, max(*side, *(() if end is None else (end,)), 0, 0)) for run, side, end in places]
    if known[0] is None and known[1] is not None:
        mate = alignment.b.counterpart(known[1][1])
        return Culprits(None if mate == NONE else mate, known[1][0], "redrawn")
    if known[1] is None and known[0] is not None:
        mate = alignment.a.counterpart(known[0][1])
        return Culprits(known[0][0], None if mate == NONE else mate, "redrawn in a")
    return None


def _arriving(flow: Flow, end: int) -> list[int]:
    """The forward vertices whose rules brought the gradient at a vertex; at a leaf, all of what it gathered."""
    gathered = flow.gathered.get(flow.vertex(int(flow.forward[end])) or 0, [])
    found = [owner for vertex in (gathered if end in gathered else [end]) for owner in ruling(flow, vertex)]
    return list(dict.fromkeys(found))


def _first(vertices: Sequence[int]) -> int | None:
    return vertices[0] if vertices else None


def cut(flow: Flow, vertex: int) -> int | None:
    """Where on the way to a forward vertex gradients are cut off; None where that is not seen.

    What nothing is made of, as what a custom Function computes within, cuts no way.
    """
    if vertex == NONE or not flow.reaching[vertex]:
        return None
    border, seen = [vertex], {vertex}
    while border:
        each = border.pop(0)
        if flow.ops[each] in CUTS or (flow.flags[each] & int(Flag.NO_GRAD) and flow.kinds[each] == Kind.OP):
            return each
        for source in flow.inputs[each]:
            if source not in seen and len(seen) < _FARTHEST:
                seen.add(source)
                border.append(source)
    return None
