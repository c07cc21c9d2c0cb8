"""Of a gradient that differs, the forward node whose rule made it: that is what a program has to look at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from graphscope.compare.alignment import NONE
from graphscope.compare.hooks import hook_behind
from graphscope.compare.redrawn import redrawn
from graphscope.compare.sentences import Cause
from graphscope.eventlog.schema import Flag, Kind

if TYPE_CHECKING:
    from graphscope.compare.alignment import Alignment, Run
    from graphscope.compare.flow import Flow
    from graphscope.compare.regions import Region


class Culprits(NamedTuple):
    """The forward vertices whose rules made gradients that differ."""

    a: int | None
    b: int | None
    cause: Cause


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
    found = _hooked(alignment, region) or _redrawn(alignment, region)
    if found is not None:
        return found
    runs, ends = _ends(alignment, region)
    arriving = [[] if end is None else _arriving(run.flow, end) for run, end in zip(runs, ends, strict=True)]
    alone = [
        [each for each in mine if run.counterpart(each) not in its]
        for run, mine, its in zip(runs, arriving, reversed(arriving), strict=True)
    ]
    for which, (run, other) in enumerate(alignment.sides):
        if len(arriving[which]) > len(arriving[1 - which]) and alone[which]:
            mate = run.counterpart(alone[which][0])
            found_cut = cut(other.flow, mate)
            if found_cut is not None:
                return _of_one("detached", 1 - which, found_cut, alone[which][0])
            if not alone[1 - which]:
                return Culprits(*_in_order(which, alone[which][0], mate), Cause("untied"))
    rules = [
        None if not side else next(iter(ruling(run.flow, side[0])), owner_of(run.flow, side[0]))
        for run, side in zip(runs, (region.a, region.b), strict=True)
    ]
    for which, (run, other) in enumerate(alignment.sides):
        rule = rules[which]
        if rule is not None and rules[1 - which] is None:
            return _of_one("detached", 1 - which, cut(other.flow, run.counterpart(rule)), rule)
    return _cut_off(alignment) or Culprits(rules[0], rules[1], Cause("backward rule"))


def _of_one(cause: str, which: int, mine: int | None, its: int | None) -> Culprits:
    """Culprits of what one run alone does, by its number: its vertex and that of the other run."""
    return Culprits(*_in_order(which, mine, its), Cause(cause, "ab"[which]))


def _in_order(which: int, mine: int | None, its: int | None) -> tuple[int | None, int | None]:
    return (its, mine) if which else (mine, its)


def _cut_off(alignment: Alignment) -> Culprits | None:
    """A value of both runs that a gradient reaches in one, and on from which it is cut off in the other; beside it, the
    first cut of the run that lets it pass, which may be the one that leaves it out.
    """
    for which, (run, other) in enumerate(alignment.sides):
        for vertex in run.flow.gradients:
            mate = run.counterpart(vertex)
            if mate == NONE or run.flow.is_backward[vertex] or mate in other.flow.gradients:
                continue
            cuts = _cuts_of(other.flow, other.flow.users[mate])
            if cuts:
                fewer = _cuts_of(run.flow, range(run.flow.sources, len(run.flow)))
                way = [*fewer, *run.flow.users[vertex], vertex][0]
                return _of_one("fewer cuts" if fewer else "detached", 1 - which, cuts[0], way)
    return None


def _cuts_of(flow: Flow, vertices: Iterable[int]) -> list[int]:
    """Those that cut gradients of what is computed off on the way to a result."""
    cuts = [each for each in vertices if flow.ops[each] in CUTS and flow.reaching[each]]
    return [each for each in cuts if not any(flow.flags[source] & int(Flag.PARAMETER) for source in flow.inputs[each])]


def _hooked(alignment: Alignment, region: Region) -> Culprits | None:
    """Hooks that made gradients what they are, in one run or in both; None where none did."""
    runs, ends = _ends(alignment, region)
    hooks = [
        hook_behind(run, side or (() if end is None else (end,)))
        for run, side, end in zip(runs, (region.a, region.b), ends, strict=True)
    ]
    if None not in hooks:
        return Culprits(hooks[0], hooks[1], Cause("hooks"))
    owners = [None if end is None else owner_of(run.flow, end) for run, end in zip(runs, ends, strict=True)]
    which = next((place for place, hook in enumerate(hooks) if hook is not None), None)
    return None if which is None else _of_one("hook", which, hooks[which], owners[1 - which])


def _redrawn(alignment: Alignment, region: Region) -> Culprits | None:
    """Random numbers that one run alone draws anew in backward, and what drew them in the other."""
    runs, ends = _ends(alignment, region)
    known = [
        redrawn(run, max(*side, *(() if end is None else (end,)), 0, 0))
        for run, side, end in zip(runs, (region.a, region.b), ends, strict=True)
    ]
    for which, run in enumerate(runs):
        drawn = known[which]
        if drawn is not None and known[1 - which] is None:
            mate = run.counterpart(drawn[1])
            return _of_one("redrawn", which, drawn[0], None if mate == NONE else mate)
    return None


def _ends(alignment: Alignment, region: Region) -> tuple[tuple[Run, Run], tuple[int | None, int | None]]:
    return (alignment.a, alignment.b), (region.end_a, region.end_b)


def _arriving(flow: Flow, end: int) -> list[int]:
    """The forward vertices whose rules brought the gradient at a vertex; at a leaf, all of what it gathered."""
    gathered = flow.gathered.get(flow.vertex(int(flow.forward[end])) or 0, [])
    found = [owner for vertex in (gathered if end in gathered else [end]) for owner in ruling(flow, vertex)]
    return list(dict.fromkeys(found))


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
