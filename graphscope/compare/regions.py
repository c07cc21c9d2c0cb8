"""The stretch of a graph between values that still agree and the first that both runs have and that differs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from graphscope.compare.alignment import NONE

if TYPE_CHECKING:
    from graphscope.compare.alignment import Alignment, Run
    from graphscope.compare.origins import Lost


class Region(NamedTuple):
    """The lost vertices of both sides that lead to one place, each side in the order of the log."""

    a: tuple[int, ...]
    b: tuple[int, ...]
    end_a: int | None
    end_b: int | None
    """Where they lead to: vertices that belong together; None where no more of the two runs does."""


def regions(alignment: Alignment, a: Lost, b: Lost) -> Iterator[Region]:
    """Where differences begin, the first one first; what follows from one of them is none."""
    runs = (alignment.a, a), (alignment.b, b)
    found = False
    for end_a, end_b in _ends(alignment, a, b):
        mine, its = _behind(*runs[0], end_a), _behind(*runs[1], end_b)
        if mine is None or its is None:
            continue
        found = True
        yield Region(tuple(sorted(mine)), tuple(sorted(its)), end_a, end_b)
    left = [_all_ahead(run, lost) for run, lost in runs]
    if any(left) and not found:
        yield Region(left[0], left[1], None, None)


def independent(alignment: Alignment, found: Iterator[Region]) -> Iterator[Region]:
    """Regions without those that what comes of an earlier one leads into."""
    flows = alignment.a.flow, alignment.b.flow
    reached: tuple[set[int], set[int]] = (set(), set())
    for region in found:
        sides = region.a, region.b
        if any(known.intersection(side) for known, side in zip(reached, sides, strict=True)):
            continue
        yield region
        for flow, known, side in zip(flows, reached, sides, strict=True):
            border = [vertex for vertex in side if vertex not in known]
            known.update(border)
            while border:
                new = [user for user in flow.users[border.pop()] if user not in known]
                known.update(new)
                border += new


def _all_ahead(run: Run, lost: Lost) -> tuple[int, ...]:
    return tuple(sorted(_ahead(run, lost)))


def _ends(alignment: Alignment, a: Lost, b: Lost) -> list[tuple[int, int]]:
    """Vertices that belong together and are lost on either side: the first ones behind the origins."""
    found = set()
    for run, lost, is_a in ((alignment.a, a, True), (alignment.b, b, False)):
        for vertex in _ahead(run, lost):
            mate = int(run.mates[vertex])
            if mate != NONE:
                found.add((vertex, mate) if is_a else (mate, vertex))
    return sorted(found)


def _ahead(run: Run, lost: Lost) -> set[int]:
    """The lost vertices from the origins on, up to the first that the other side has as well."""
    seen, border = {*lost.origins}, [*lost.origins]
    while border:
        vertex = border.pop()
        if run.mates[vertex] == NONE:
            new = [user for user in run.flow.users[vertex] if lost.lost[user] and user not in seen]
            seen.update(new)
            border += new
    return seen


def _behind(run: Run, lost: Lost, end: int) -> set[int] | None:
    """What is lost on the way to a vertex, itself included; None where some of that the other side has as well."""
    seen = {end}
    if not lost.lost[end]:
        return seen
    border = [end]
    while border:
        for source in run.flow.inputs[border.pop()]:
            if lost.lost[source] and source not in seen:
                if run.mates[source] != NONE:
                    return None
                seen.add(source)
                border.append(source)
    return seen
