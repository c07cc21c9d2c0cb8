"""Vertices of two flows that hold the same numbers: they belong together, whatever made them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.compare.alignment import NONE, Alignment
from graphscope.diagnose.values.origins import MOVES
from graphscope.eventlog.schema import Kind

if TYPE_CHECKING:
    from graphscope.compare.alignment import Run

TIGHT: Final = 2e-5
"""As a part of the largest magnitude: what rounding may make of a value on its way through a network."""
LOOSE: Final = 2e-2
"""The same of values that look like one and are not."""
_WIDTH: Final = 8
"""So many neighbours in size are looked at on each side."""


def anchor(alignment: Alignment, tolerance: float) -> None:
    """Pair the vertices that hold the same numbers; the surest first.

    Of several that hold the same, those of the same op and name go together, in the order of the log.
    """
    found = _candidates(alignment.a, alignment.b, tolerance)
    unlike: set[tuple[bytes, bytes]] = set()

    def hold_the_same(one: int, other: int) -> bool:
        prints = alignment.a.prints.in_any_layout(one), alignment.b.prints.in_any_layout(other)
        if prints not in unlike and not alignment.hold_the_same(one, other, tolerance):
            unlike.add(prints)
        return prints not in unlike

    for one, other in found:
        if alignment.a.mates[one] != NONE or alignment.b.mates[other] != NONE:
            continue
        if hold_the_same(one, other):
            alignment.pair(one, other, by_value=True)
    if tolerance > TIGHT:
        return
    for one, other in found:
        for side, vertex, its in ((alignment.a, one, other), (alignment.b, other, one)):
            is_free = side.mates[vertex] == NONE and side.echoes[vertex] == NONE
            if is_free and hold_the_same(one, other):
                side.echoes[vertex] = its


def _candidates(a: Run, b: Run, tolerance: float) -> list[tuple[int, int]]:
    """Pairs of vertices whose fingerprints agree, the most likely first."""
    mine, its = (_free(side, tolerance) for side in (a, b))
    if not len(mine) or not len(its):
        return []
    places = a.flow.places[mine], b.flow.places[its]
    likely = _alike(a, mine, b, its, _relative(a, places[0]), _relative(b, places[1]), tolerance)
    known = _sure(a, likely[:, 0], b, likely[:, 1])
    if len(known) > 1:  # of many that hold the same, as weights that are all 1, those at like places are looked at
        found = _alike(a, mine, b, its, places[0], _along(likely[known], places[1]), tolerance)
        likely = np.unique(np.concatenate([likely, found]), axis=0)
    return _by_likelihood(a, b, likely[:, 0], likely[:, 1])


def _alike(
    a: Run, mine: np.ndarray, b: Run, its: np.ndarray, here: np.ndarray, there: np.ndarray, tolerance: float
) -> np.ndarray:
    """Pairs of vertices whose fingerprints agree; `here` and `there` are where they stand."""
    numbers = _numbers(a, b)
    found = [np.zeros((0, 2), np.int64)]
    for measure in (_size, _range):  # what is normalised is all of one size
        keys = [_key(run, which, measure(run, which), numbers) for run, which in ((a, mine), (b, its))]
        order = np.lexsort((there, keys[1]))
        one = np.concatenate([keys[0], keys[1]]), np.concatenate([here, there])
        is_its = (both := np.lexsort(one[::-1])) >= len(mine)
        middle = np.empty(len(mine), np.int64)
        middle[both[~is_its]] = np.cumsum(is_its)[~is_its]
        found += [np.stack(pair, 1) for pair in _neighbours(a, mine, b, its[order], middle, tolerance)]
    return np.unique(np.concatenate(found), axis=0)


def _neighbours(
    a: Run, mine: np.ndarray, b: Run, its: np.ndarray, middle: np.ndarray, tolerance: float
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Vertices that are next to each other when sorted, and whose fingerprints agree."""
    for offset in range(-_WIDTH, _WIDTH):
        place = middle + offset
        inside = (place >= 0) & (place < len(its))
        one, other = mine[inside], its[place[inside]]
        near = _near(a, one, b, other, tolerance)
        yield one[near], other[near]


def _size(run: Run, which: np.ndarray) -> np.ndarray:
    found: np.ndarray = run.prints.sizes[which]
    return found


def _range(run: Run, which: np.ndarray) -> np.ndarray:
    features = run.prints.features[which]
    found: np.ndarray = features[:, 1] - features[:, 0]
    return found


def _free(side: Run, tolerance: float) -> np.ndarray:
    if tolerance <= TIGHT:
        return np.flatnonzero(side.prints.known & (side.mates == NONE))
    # That one number, as a loss or what a bias was before it was set, is like another says nothing.
    says_little = (side.flow.counts == 1) & ~side.flow.is_backward
    found = np.flatnonzero(side.prints.telling & (side.mates == NONE) & ~says_little)
    return found[[not _repeats(side, vertex) for vertex in found.tolist()]] if len(found) else found


def _repeats(side: Run, vertex: int) -> bool:
    """Whether a vertex holds the numbers of another, in another layout, whose counterpart is known by its numbers."""
    flow = side.flow
    if flow.ops[vertex] not in MOVES:
        return False
    return any(
        side.by_value[each] and side.mates[each] != NONE and flow.counts[each] == flow.counts[vertex]
        for each in flow.inputs[vertex]
    )


def _numbers(a: Run, b: Run) -> dict[int, int]:
    """A number for each count of elements."""
    counts = np.union1d(a.flow.counts, b.flow.counts)
    return {int(count): number for number, count in enumerate(counts.tolist())}


def _key(run: Run, which: np.ndarray, measures: np.ndarray, numbers: dict[int, int]) -> np.ndarray:
    """Values of one count of elements lie together, sorted by a measure."""
    with np.errstate(all="ignore"):
        sizes = np.nan_to_num(np.log(measures), nan=0.0, neginf=-800.0, posinf=800.0)
    groups = np.array([numbers[count] for count in run.flow.counts[which].tolist()], np.float64)
    found: np.ndarray = groups * 4096 + np.clip(sizes, -800, 800)
    return found


def _near(a: Run, one: np.ndarray, b: Run, other: np.ndarray, tolerance: float) -> np.ndarray:
    same = a.flow.counts[one] == b.flow.counts[other]
    same &= a.flow.is_backward[one] == b.flow.is_backward[other]
    same &= a.flow.is_floating[one] == b.flow.is_floating[other]
    same &= a.prints.nonfinite[one] == b.prints.nonfinite[other]
    leaves = [run.flow.is_leaf[which] for run, which in ((a, one), (b, other))]
    if a.ends_are_unseen == b.ends_are_unseen:
        same &= (a.flow.reaching[one] == b.flow.reaching[other]) | ~(leaves[0] & leaves[1])
    same &= (leaves[0] == leaves[1]) | (a.prints.telling[one] & b.prints.telling[other])
    with np.errstate(all="ignore"):
        apart = np.abs(a.prints.features[one] - b.prints.features[other]).max(1)
        close: np.ndarray = apart <= tolerance * np.maximum(a.prints.scales[one], b.prints.scales[other])
    found: np.ndarray = same & close
    return found


def _by_likelihood(a: Run, b: Run, one: np.ndarray, other: np.ndarray) -> list[tuple[int, int]]:
    """Pairs sorted: unlike any other first; then of like kind, op and name; then those that stand at like places."""
    if not len(one):
        return []
    pairs = list(zip(one.tolist(), other.tolist(), strict=True))
    telling = a.prints.telling[one] & b.prints.telling[other]
    sure = (_rivals(a, one, b, other) == 1) & telling
    unlike = [
        np.array([a.flow.shape(mine) != b.flow.shape(its) for mine, its in pairs]),
        np.array([a.flow.ops[mine] != b.flow.ops[its] for mine, its in pairs]),
        _names(a)[one] != _names(b)[other],
        a.flow.kinds[one] != b.flow.kinds[other],
        a.flow.reaching[one] != b.flow.reaching[other],
        ~telling,
        np.array([(mine in a.flow.gathered) != (its in b.flow.gathered) for mine, its in pairs]),
        ~sure,
    ]
    order = np.lexsort((_apart(a, b, one, other), *unlike))
    return [pairs[place] for place in order.tolist()]


def _rivals(a: Run, one: np.ndarray, b: Run, other: np.ndarray) -> np.ndarray:
    """Of each pair, in how many pairs the vertex is that is in more."""
    found: np.ndarray = np.maximum(
        np.bincount(one, minlength=len(a.flow))[one], np.bincount(other, minlength=len(b.flow))[other]
    )
    return found


def _sure(a: Run, one: np.ndarray, b: Run, other: np.ndarray) -> np.ndarray:
    """Which pairs of what is computed are unlike any other."""
    if not len(one):
        return np.zeros(0, np.int64)
    telling = a.prints.telling[one] & b.prints.telling[other]
    computed = ~a.flow.is_leaf[one] & ~b.flow.is_leaf[other]
    return np.flatnonzero((_rivals(a, one, b, other) == 1) & telling & computed)


def _apart(a: Run, b: Run, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """How far apart two vertices stand, measured by the pairs that are sure."""
    mine, its = a.flow.places[one], b.flow.places[other]
    known = _sure(a, one, b, other)
    if len(known) > 1:
        found: np.ndarray = np.abs(mine - _along(np.stack([one, other], 1)[known], its))
    else:
        found = np.abs(_relative(a, mine) - _relative(b, its))
    return found


def _along(known: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Where places of the second run are in the first, by pairs that belong together."""
    known = known[np.argsort(known[:, 1], kind="stable")]
    found: np.ndarray = np.interp(places, known[:, 1], known[:, 0])
    return found


def _relative(run: Run, places: np.ndarray) -> np.ndarray:
    """Places as parts of all."""
    found: np.ndarray = places / len(run.flow)
    return found


def _names(run: Run) -> np.ndarray:
    """The last part of the name of each leaf; empty of other vertices."""
    found = np.full(len(run.flow), "", object)
    for vertex in np.flatnonzero(run.flow.kinds == Kind.LEAF).tolist():
        found[vertex] = run.flow.node(vertex).name.rpartition(".")[2]
    return found
