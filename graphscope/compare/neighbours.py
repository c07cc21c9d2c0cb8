"""Vertices that belong together because of what they are joined to, whatever numbers they hold."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.compare.alignment import NONE, Alignment
from graphscope.compare.split_losses import add_up
from graphscope.eventlog.schema import Kind

if TYPE_CHECKING:
    from graphscope.compare.alignment import Run
    from graphscope.compare.flow import Flow

_MOST: Final = 64
"""Of what uses a parameter so many are looked at."""


def pair_leaves(alignment: Alignment) -> None:
    """Leaves that hold other numbers, by name and shape; those of which nothing is known, by their order."""
    (a, _), (b, _) = alignment.sides
    by_name: dict[tuple[str, tuple[int, ...]], list[int]] = defaultdict(list)
    for vertex in _free_leaves(b.flow, b.mates):
        by_name[_known_as(b.flow, vertex)].append(vertex)
    for vertex in _free_leaves(a.flow, a.mates):
        key = _known_as(a.flow, vertex)
        if key[0] and by_name[key]:
            alignment.pair(vertex, by_name[key].pop(0))
    mine, its = (_unseen_leaves(run) for run in (a, b))
    for shape, vertices in mine.items():
        if len(vertices) == len(its[shape]):
            for vertex, other in zip(vertices, its[shape], strict=True):
                alignment.pair(vertex, other)


def _unseen_leaves(run: Run) -> dict[tuple[int, ...], list[int]]:
    """The leaves, by shape, of which neither a name nor a value is there: they go by their order."""
    found: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for vertex in _free_leaves(run.flow, run.mates):
        if not run.prints.known[vertex] and not run.flow.node(vertex).name:
            found[run.flow.shape(vertex)].append(vertex)
    return found


def pair_named(alignment: Alignment, names: Mapping[str, str]) -> None:
    """Leaves of which a person says that they belong together, by their names or those of the modules around them."""
    if not names:
        return
    (a, _), (b, _) = alignment.sides
    known = {_known_as(b.flow, vertex)[0]: vertex for vertex in _free_leaves(b.flow, b.mates)}
    for vertex in _free_leaves(a.flow, a.mates):
        name = _known_as(a.flow, vertex)[0]
        for mine, its in names.items():
            other = known.get(its + name.removeprefix(mine)) if f"{name}.".startswith(f"{mine}.") else None
            if other is not None and b.mates[other] == NONE and a.flow.counts[vertex] == b.flow.counts[other]:
                alignment.pair(vertex, other)
                break


def pair_roots(alignment: Alignment) -> None:
    """What backward passes begin from."""
    (a, _), (b, _) = alignment.sides
    if add_up(alignment):
        return
    for one, other in zip(a.flow.roots, b.flow.roots, strict=False):
        if a.mates[one] == NONE and b.mates[other] == NONE and a.flow.counts[one] == b.flow.counts[other]:
            alignment.pair(one, other)


def pair_users(alignment: Alignment) -> None:
    """Ops of the same name whose inputs belong together, in the order of the log."""
    (a, _), (b, _) = alignment.sides
    free = _Users(b)
    for vertex in range(a.flow.sources, len(a.flow)):
        if a.mates[vertex] != NONE or a.flow.is_backward[vertex] or a.flow.kinds[vertex] != Kind.OP:
            continue
        mates = [a.counterpart(each) for each in a.flow.inputs[vertex]]
        best, most = NONE, 0
        for mate in mates:
            for user in free.of(mate, a.flow.ops[vertex]) if mate != NONE else ():
                if _is_like(a.flow, vertex, b.flow, user):
                    shared = _shared(mates, b.flow.inputs[user])
                    if shared > most:
                        best, most = user, shared
        if best != NONE:
            alignment.pair(vertex, best)


class _Users:
    """What uses a vertex by one op and has no counterpart yet."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._known: dict[tuple[int, str], deque[int]] = {}

    def of(self, vertex: int, op: str) -> list[int]:
        """The first ones, in the order of the log."""
        if (vertex, op) not in self._known:
            by_op: dict[str, deque[int]] = defaultdict(deque)
            for user in self._run.flow.users[vertex]:
                by_op[self._run.flow.ops[user]].append(user)
            self._known |= {(vertex, name): users for name, users in by_op.items()}
            self._known.setdefault((vertex, op), deque())
        users = self._known[vertex, op]
        while users and self._run.mates[users[0]] != NONE:
            users.popleft()
        return [user for user in islice(users, _MOST) if self._run.mates[user] == NONE]


def pair_backward(alignment: Alignment) -> None:
    """Backward vertices by the forward vertices that they belong to, the k-th with the k-th."""
    (a, _), (b, _) = alignment.sides
    owned = _by_owner(b.flow)
    for key, vertices in _by_owner(a.flow).items():
        kind, owner, slot, op = key
        mate = int(a.mates[owner])
        if mate == NONE:
            continue
        others = owned.get((kind, mate, slot, op), [])
        if kind == Kind.ACCUMULATE and a.flow.kinds[owner] != Kind.LEAF:
            continue
        for one, other in zip(vertices, others, strict=False):
            if a.flow.counts[one] != b.flow.counts[other]:
                continue
            alignment.pair(one, other)


def _by_owner(flow: Flow) -> dict[tuple[int, int, int, str], list[int]]:
    found: dict[tuple[int, int, int, str], list[int]] = defaultdict(list)
    for vertex in range(flow.sources, len(flow)):
        kind = int(flow.kinds[vertex])
        if kind in (Kind.GRAD, Kind.ACCUMULATE):
            owner = flow.vertex(int(flow.forward[vertex]))
            if owner is not None:
                op = flow.ops[vertex] if flow.is_backward[owner] else ""
                found[kind, owner, int(flow.slots[vertex]), op].append(vertex)
    return found


def _free_leaves(flow: Flow, mates: np.ndarray) -> list[int]:
    found: list[int] = np.flatnonzero(flow.is_given & (mates == NONE)).tolist()
    return found


def _known_as(flow: Flow, vertex: int) -> tuple[str, tuple[int, ...]]:
    return flow.node(vertex).name, flow.shape(vertex)


def _is_like(a: Flow, vertex: int, b: Flow, other: int) -> bool:
    return bool(
        a.slots[vertex] == b.slots[other] and not b.is_backward[other] and len(a.shape(vertex)) == len(b.shape(other))
    )


def _shared(mates: list[int], inputs: object) -> int:
    left = list(inputs)  # type: ignore[call-overload]
    count = 0
    for mate in mates:
        if mate in left:
            left.remove(mate)
            count += 1
    return count
