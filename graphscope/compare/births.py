"""Where in a region the two runs part: the first value of each side that the other has not and that matters."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.compare.alignment import NONE
from graphscope.compare.items import Item, items_of
from graphscope.compare.layouts import same
from graphscope.compare.pieces import held_in
from graphscope.compare.vocabulary import does_the_same
from graphscope.diagnose.values.origins import MOVES

if TYPE_CHECKING:
    from graphscope.compare.alignment import Alignment, Run
    from graphscope.compare.regions import Region

_CUTS: Final = frozenset({"chunk", "split", "unbind", "tensor_split"})
"""What composite ops do within without a word."""


class Birth(NamedTuple):
    """Where two runs part."""

    a: Item | None
    b: Item | None
    """None where one side has nothing of the kind."""
    extra: str = ""
    """`a` or `b`, where that side does something that the other leaves out; then the other side's item is what
    it does it to."""


def birth(alignment: Alignment, region: Region) -> Birth:
    """Where the runs part in a region."""
    mine, its = items_of(alignment.a, region.a), items_of(alignment.b, region.b)
    for item, other in sorted(product(mine, its), key=lambda pair: pair[0].is_inner and pair[1].is_inner):
        if item.mate is None and other.mate is None and same(item.value, other.value):
            item.mate, other.mate = other, item
    for items, others in ((mine, its), (its, mine)):
        for item in items:
            if item.mate is None and item.is_inner:
                item.mate = next((other for other in others if same(item.value, other.value)), None)
    for items, others in ((mine, its), (its, mine)):
        _mate_pieces(items, others)
    for item in (*mine, *its):
        if item.mate is None and item.op in _CUTS and item.sources:
            mate = item.sources[0].mate
            item.mate = mate if isinstance(mate, Item) and mate.is_inner else None
        elif item.mate is None and item.op in MOVES and item.sources and _is_whole(item):
            item.mate = item.sources[0].mate
    for items, run in ((mine, alignment.b), (its, alignment.a)):
        for item in items:
            if item.mate is None and (item.part is not None or item.op in MOVES):
                item.mate = _anywhere(item.value, run)
    one, two = (_first(items, end) for items, end in ((mine, region.end_a), (its, region.end_b)))
    found = _ordered(one, two, mine, its)
    if found.a is None and found.b is not None:
        return Birth(_source_of(alignment.b, found.b, alignment.a), found.b, "b")
    if found.b is None and found.a is not None:
        return Birth(found.a, _source_of(alignment.a, found.a, alignment.b), "a")
    return found


def _source_of(run: Run, item: Item, other: Run) -> Item | None:
    """What the other run has of what an item is made of."""
    mates = [run.counterpart(source) for source in run.flow.inputs[item.vertex]]
    made = [mate for mate in mates if mate != NONE and not other.flow.is_leaf[mate]]
    return None if not made else Item(made[-1], other.flow.ops[made[-1]], other.flow.value(made[-1]))


def _is_whole(item: Item) -> bool:
    """Whether an item holds all numbers of what it is made of, in another layout."""
    value, source = item.value, item.sources[0].value
    return value is not None and source is not None and value.size == source.size and same(value, source)


def _mate_pieces(items: list[Item], others: list[Item]) -> None:
    """Values that the other side has in pieces, with those pieces."""
    free = [other for other in others if not other.is_mask]
    for item in items:
        if item.mate is None and item.value is not None and not item.is_mask:
            found = held_in(item.value, [other.value for other in free], same)
            for place in found.places:
                free[place].mate = free[place].mate or item
            if found.is_whole:
                item.mate = free[found.places[-1]]


def _ordered(one: Item | None, two: Item | None, mine: list[Item], its: list[Item]) -> Birth:
    """The same, where one side may do a step more."""
    if one is None or two is None:
        known = one or two
        if known is None:
            return Birth(mine[-1] if mine else None, its[-1] if its else None)
        its_own, behind = (mine, its) if one else (its, mine)
        other = _mated_source(known) or (behind[-1] if behind else None)
        extra = "" if other is not None and other.op == known.op else "a" if its_own is mine else "b"
        return Birth(known, other, extra) if one else Birth(other, known, extra)
    if one.op == two.op or does_the_same(one, two):
        return Birth(one, two)
    if any(does_the_same(user, two) for user in one.users):
        return Birth(one, _mated_source(one) or two, "a")
    if any(does_the_same(one, user) for user in two.users):
        return Birth(_mated_source(two) or one, two, "b")
    return Birth(_like(one, two), _like(two, one))


def _like(item: Item, other: Item) -> Item:
    """Of the parts of a vertex from an item on, the one that does the same as another item; else the item."""
    each, seen = item, [item]
    while (each := next((user for user in each.users if user.vertex == item.vertex), None)) is not None:  # type: ignore[assignment]
        seen.append(each)
    return next((part for part in seen if does_the_same(part, other)), item)


def _mated_source(item: Item) -> Item | None:
    return next((source.mate for source in item.sources if isinstance(source.mate, Item)), None)


def _first(items: list[Item], end: int | None) -> Item | None:
    """The first value that the other side has not, that leads to the end, and whose inputs it has.

    Masks that it has not are none: a composite op makes them by itself.
    """
    lost: set[int] = set()
    for item in reversed(items):
        ends = item.vertex == end if end is not None else not item.users
        ends = ends and not any(user.vertex == item.vertex for user in item.users)
        if item.mate is None and (ends or any(id(user) in lost for user in item.users)):
            lost.add(id(item))
    left = [item for item in items if id(item) in lost]
    numbers = [item for item in left if not item.is_mask]
    return next(
        (item for item in numbers if not any(id(each) in lost and not each.is_mask for each in item.sources)), None
    ) or (left[0] if left else None)


def masks(item: Item | None) -> Item | None:
    """What made the mask that an item is given and the other side has not; else the item."""
    made = None if item is None else next((each for each in item.sources if each.is_mask and each.mate is None), None)
    return item if made is None else made


def _anywhere(value: np.ndarray | None, run: Run) -> int | None:
    """A vertex of the other side that holds a value, wherever it is."""
    if value is None or value.dtype.kind != "f" or value.size < 2:
        return None
    prints = run.prints
    with np.errstate(all="ignore"):
        alike = (run.flow.counts == value.size) & prints.whole & ~run.flow.is_backward
        scale = float(np.abs(value).max())
        alike &= np.abs(prints.features[:, 0] - float(value.min())) <= 1e-4 * scale
        alike &= np.abs(prints.features[:, 1] - float(value.max())) <= 1e-4 * scale
    return next((each for each in np.flatnonzero(alike).tolist() if same(value, run.flow.value(each))), None)
