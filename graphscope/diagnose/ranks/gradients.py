"""What one rank does to gradients, between the collective that averages them and an update, that another does not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.ranks.place import Place
from graphscope.diagnose.training.optimizer_order import last_before
from graphscope.diagnose.values.exchanges import Exchange, exchange_of, of_collective
from graphscope.eventlog.names import place_of
from graphscope.eventlog.reader import load
from graphscope.graph import Graph, Node
from graphscope.graph.training import CLIPS, training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_MOST: Final = 5000
"""So many values are looked at on the way to an update."""
_CLOSE: Final = 1e-5
_ALIKE: Final = frozenset({"all_reduce", "broadcast", "all_gather", "all_gather_into_tensor", "all_gather_single"})
"""Collectives that give all ranks the same."""


class Update(NamedTuple):
    """An update of a parameter by an optimizer."""

    log: Path
    row: int


class Deed(NamedTuple):
    """What one of two ranks does to a gradient, and the other does not, or with other numbers."""

    row: int
    call: str
    place: Place
    is_own: bool
    """Whether it is the first of the two that does it."""
    limits: tuple[str, str] = ("", "")
    """What each of the two gives to it, where both do it."""


class _Call(NamedTuple):
    name: str
    place: Place
    given: str
    """The numbers that it is given."""


class _Way:
    """How a gradient comes from the collectives that average it to an update."""

    def __init__(self, update: Update) -> None:
        log = load(update.log)
        graph = Graph(log)
        self.averages: dict[Exchange, Node] = {}
        """What it is made of that ranks did together."""
        known = training(log)
        (begin,) = last_before(known.backward_begins, np.array([update.row])).tolist()
        rows = self._followed(graph.node(update.row), begin)
        clips = {clip.site: clip for clip in known.calls(*CLIPS) if begin < clip.row < update.row}
        calls: dict[_Call, int] = {}
        for row in sorted(rows):
            event = log.event(row)
            clip = clips.get(event.site)
            place = place_of(log.site(event.site))
            if clip is not None:
                call = _Call(clip.name, place, f"{clip.facts.get('limit')}")
            else:
                call = _Call(log.op(event.op).name, place, _numbers(log, row))
            calls.setdefault(call, row)
        self.calls = [(row, call) for call, row in calls.items()]
        """Each once, with its first row: a loop over parameters makes it for each of them."""

    def _followed(self, update: Node, begin: int) -> list[int]:
        """The ops on the way, from where the backward pass began: what is older is no gradient of it."""
        waiting = [edge.source for edge in update.inputs[1:2]]
        seen, found = {each.row for each in waiting}, list[int]()
        while waiting and len(seen) < _MOST:
            node = waiting.pop()
            if of_collective(node):
                self.averages[exchange_of(node.graph.log, node.row)] = node
            elif node.kind == "op":
                found.append(node.row)
                behind = [edge.source for edge in node.inputs if edge.source.row not in seen]
                behind = [each for each in behind if each.row > begin]
                waiting += behind
                seen.update(each.row for each in behind)
        return found


class Ways:
    """How the gradients of two ranks come to an update each.

    Args:
        own: The update of one rank.
        other: That of the other.
    """

    def __init__(self, own: Update, other: Update) -> None:
        self.updates = own, other
        self._own, self._other = _Way(own), _Way(other)

    def are_averaged(self) -> bool:
        """Whether both are made of gradients that are the same, as a collective has made them so."""
        here, there = self._own.averages, self._other.averages
        both = here.keys() & there.keys()  # one that clips has those of all parameters, by their norm
        return bool(both) and all(_are_same(here[each], there[each]) for each in both)

    def unlike(self) -> Deed | None:
        """The first call by which the ways from what was averaged to an update differ."""
        here, there = self._own.calls, self._other.calls
        pairs = list(zip(here, there, strict=False))
        place = next((place for place, (one, two) in enumerate(pairs) if one[1] != two[1]), len(pairs))
        if place == len(here) == len(there):
            return None
        if place < len(pairs):
            (row, one), (_, two) = pairs[place]
            if one[:2] == two[:2]:
                return Deed(row, one.name, one.place, True, (one.given, two.given))
        is_own = len(here) >= len(there)
        row, call = (here if is_own else there)[place]
        return Deed(row, call.name, call.place, is_own)


def _are_same(one: Node, two: Node) -> bool:
    here, there = one.value, two.value
    if here is not None and there is not None:
        return here.shape == there.shape and bool(np.allclose(here, there, rtol=_CLOSE, equal_nan=True))
    if one.summary is None and two.summary is None:  # values are not kept
        return all(each.graph.log.op(each.event.op).name in _ALIKE for each in (one, two))
    return one.summary is not None and one.summary == two.summary


def _numbers(log: Log, row: int) -> str:
    """The numbers that a call was given, as words."""
    arguments = log.arguments(row)
    given = [*(arguments.operands or ()), *arguments.attributes.values()]
    return ", ".join(_spoken(given))


def _spoken(given: list[object]) -> Iterator[str]:
    return (f"{each:.6g}" for each in given if isinstance(each, int | float) and not isinstance(each, bool))
