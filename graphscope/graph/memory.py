"""What a recorded program held of memory: storages and their lives, what was saved for backward, and the peak."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.errors import LogError
from graphscope.eventlog.names import place_of, short_place
from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.graph.names import Names
from graphscope.graph.reading import once_a_length

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

KINDS: Final[dict[str, str]] = {
    "parameter": "parameters",
    "gradient": "gradients",
    "optimizer": "optimizer state",
    "data": "data",
    "saved": "saved for backward",
    "other": "other",
}
"""What memory is held as, and how people say it."""

WAYS: Final = ("line", "module", "op")
"""What memory can be summed up by."""


@dataclass(slots=True)
class Storage:
    """Memory that tensors share."""

    number: int
    bytes: int
    born: int
    """The row that was next when it was made, or met."""
    is_met: bool
    """Whether it was there before an op that is seen was given it."""
    freed: int | None = None
    """The row that was next when it was freed; None while it is alive."""
    kind: str = "other"
    row: int = 0
    """The node that answers for it: its parameter, the first op that saved it, or the op that made it."""
    saver: int | None = None
    """The first op that saved it for backward."""


@dataclass(frozen=True, slots=True)
class Saving:
    """An op saved a storage for backward."""

    row: int
    storage: Storage
    begin: int
    """The row that was next when a backward pass was about to find it."""
    is_first: bool
    """Whether no op before it has saved the same storage for this pass."""


@dataclass(frozen=True, slots=True)
class Peak:
    """When most memory was held."""

    row: int
    bytes: int
    kinds: dict[str, int]
    storages: tuple[Storage, ...]
    """What was alive then."""


@dataclass(frozen=True, slots=True)
class Share:
    """What storages of one kind and place add up to."""

    place: str
    kind: str
    bytes: int
    count: int
    row: int
    """The first of the nodes."""


@dataclass(frozen=True)
class Memory:
    """The memory of a run."""

    storages: tuple[Storage, ...]
    savings: tuple[Saving, ...]
    rows: np.ndarray
    """Of each change of what is alive, the row that was next."""
    alive: np.ndarray
    """Behind each change, the bytes of each of `KINDS`."""
    peak: Peak | None
    """None where nothing was ever held."""
    changes: tuple[tuple[Storage, int], ...] = ()
    """What each of the changes was: a storage came (1), or went (-1)."""

    def largest_pass(self) -> list[Saving]:
        """What was saved for the backward pass that most was saved for."""
        totals: dict[int, int] = {}
        for each in self.savings:
            totals[each.begin] = totals.get(each.begin, 0) + cost(each)
        begin = max(totals, key=totals.__getitem__, default=None)
        return [each for each in self.savings if each.begin == begin]

    def saved_by(self, row: int) -> list[Saving]:
        """What an op has saved, for the newest backward pass that found it."""
        found = self._savings_of.get(row, [])
        return [each for each in found if each.begin == found[-1].begin]

    def most(self, edges: np.ndarray) -> np.ndarray:
        """The most bytes that were alive between each edge and the next: rows, not all of them whole, in order."""
        begins = np.searchsorted(self.rows, edges[:-1], side="right")  # what is alive there stays so for a while
        ends = np.maximum(np.searchsorted(self.rows, edges[1:], side="left") + 1, begins + 1)
        return np.asarray(np.maximum.reduceat(self._totals, np.column_stack([begins, ends]).reshape(-1))[::2])

    @cached_property
    def _totals(self) -> np.ndarray:
        """The bytes that are alive ahead of the first change, and behind each; then one more, for what ends there."""
        return np.concatenate([[0], self.alive.sum(axis=1), [0]])

    @cached_property
    def _savings_of(self) -> dict[int, list[Saving]]:
        found: dict[int, list[Saving]] = {}
        for each in self.savings:
            found.setdefault(each.row, []).append(each)
        return found

    def at(self, row: int) -> dict[str, int]:
        """The bytes of each kind that are alive when a row is written."""
        place = int(np.searchsorted(self.rows, row, side="right")) - 1
        return dict(zip(KINDS, self.alive[place].tolist() if place >= 0 else [0] * len(KINDS), strict=True))


def cost(saving: Saving) -> int:
    """The bytes that are held because an op saved them: what is held anyway costs nothing, nor what another saved."""
    return saving.storage.bytes if saving.is_first and saving.storage.kind == "saved" else 0


@once_a_length
def memory(log: Log) -> Memory | None:
    """What a log tells of memory; None where that was not recorded."""
    if not log.metadata.get("memory"):
        return None
    changes = [each for batch in log.table("memory") if isinstance(batch, list) for each in batch if _is_whole(each)]
    storages: dict[int, Storage] = {}
    found: list[tuple[int, Storage, int]] = []
    order: list[tuple[int, Storage, int]] = []
    for what, row, number, detail, *leaf in changes:
        if what in _BIRTHS:
            storages[number] = Storage(number, detail, row, what == "met")
            order.append((row, storages[number], 1))
        elif (storage := storages.get(number)) is None:
            continue
        elif what == "freed":
            storage.freed = row
            order.append((row, storage, -1))
        elif what == "saved":
            found.append((detail, storage, row))
        elif what == "is" and leaf and storage.kind != "parameter":
            storage.kind, storage.row = detail, leaf[0]
    savings = _savings(found)
    _find_kinds(log, storages.values())
    told = tuple((storage, sign) for _, storage, sign in order)
    return Memory(tuple(storages.values()), savings, *_course(order), told)


def recorded(log: Log) -> Memory:
    """What a log tells of memory.

    Raises:
        LogError: It was not recorded.
    """
    found = memory(log)
    if found is None:
        raise LogError(
            f"{log.path} does not tell of memory: it was recorded without",
            hint="record it again: `graphscope record --memory SCRIPT`, or `gs.record(memory=True)`",
        )
    return found


def shares(log: Log, parts: Iterable[tuple[int, str, int]], by: str) -> list[Share]:
    """What adds up to most, the most first.

    Args:
        log: The log.
        parts: Row, kind and bytes of each part.
        by: One of `WAYS`.
    """
    name = PLACES[by]
    names = Names(log)
    sums: dict[tuple[str, str], list[int]] = {}
    for row, kind, size in parts:
        found = sums.setdefault((name(log, names, row), kind), [0, 0, row])
        found[0] += size
        found[1] += 1
        found[2] = min(found[2], row)
    made = [Share(place, kind, *numbers) for (place, kind), numbers in sums.items()]
    return sorted(made, key=lambda share: (-share.bytes, share.row, share.place))


_BIRTHS: Final = ("made", "met")


def _is_whole(change: Any) -> bool:
    return (
        isinstance(change, list)
        and len(change) >= _FIELDS
        and all(isinstance(each, int) for each in (change[1], change[2], *change[4:]))
        and isinstance(change[3], str if change[0] == "is" else int)
    )


_FIELDS: Final = 4


def _savings(found: Iterable[tuple[int, Storage, int]]) -> tuple[Saving, ...]:
    """In the order of the ops; of each storage, the first op of a pass has it."""
    seen: set[tuple[int, int]] = set()
    made = []
    for row, storage, begin in sorted(_once(found), key=lambda each: (each[2], each[0])):
        key = begin, storage.number
        made.append(Saving(row, storage, begin, key not in seen))
        seen.add(key)
        if storage.saver is None:
            storage.saver = row
    return tuple(made)


def _once(found: Iterable[tuple[int, Storage, int]]) -> Iterable[tuple[int, Storage, int]]:
    """Each op, storage and pass once: an op may save what is one storage several times."""
    return {(row, storage.number, begin): (row, storage, begin) for row, storage, begin in found}.values()


def _find_kinds(log: Log, storages: Iterable[Storage]) -> None:
    """What is no parameter, gradient or state: data, saved, or else; and the node that answers for it."""
    makers = _Makers(log)
    for each in storages:
        if each.kind != "other":
            continue
        maker = makers.of(each.born)
        if each.is_met or maker in makers.sources:
            each.kind = "data"
        elif each.saver is not None:
            each.kind = "saved"
        each.row = each.saver if each.kind == "saved" and each.saver is not None else maker


class _Makers:
    """Which node made a storage: a call has its row when it has returned, a backward rule before it runs."""

    def __init__(self, log: Log) -> None:
        kinds, passes = log.column("kind", log.first, log.end), log.column("graph_pass", log.first, log.end)
        inputs, flags = log.column("input_count", log.first, log.end), log.column("flags", log.first, log.end)
        backward = (passes == int(Pass.BACKWARD)) | (kinds == int(Kind.BACKWARD_END))
        rules = np.where(kinds == int(Kind.GRAD), np.arange(len(kinds)), -1)
        before = np.maximum.accumulate(rules) if len(rules) else rules
        before = np.concatenate(([-1], before[:-1])) if len(rules) else rules
        self._first = log.first
        self._rows = np.where(backward & (before >= 0), before, np.arange(len(kinds))) + log.first
        has_inputs = (inputs > 0) | (flags & int(Flag.EDGES) > 0)
        is_call = (kinds == int(Kind.OP)) & (passes == int(Pass.FORWARD))
        is_source = (is_call & ~has_inputs) | (kinds == int(Kind.LEAF))
        self.sources = frozenset((np.flatnonzero(is_source) + log.first).tolist())
        """Leaves, and calls without an input: what they make is data."""

    def of(self, row: int) -> int:
        place = row - self._first
        return int(self._rows[place]) if 0 <= place < len(self._rows) else row


def _course(order: Sequence[tuple[int, Storage, int]]) -> tuple[np.ndarray, np.ndarray, Peak | None]:
    """Rows of all changes, the bytes alive behind each, and the peak."""
    kinds = list(KINDS)
    steps = np.zeros((len(order), len(kinds)), np.int64)
    for place, (_, storage, sign) in enumerate(order):
        steps[place, kinds.index(storage.kind)] = sign * storage.bytes
    rows = np.array([row for row, _, _ in order], np.int64)
    alive = np.cumsum(steps, axis=0)
    if not len(order):
        return rows, alive, None
    top = int(np.argmax(alive.sum(axis=1)))
    living: dict[int, Storage] = {}
    for _, storage, sign in order[: top + 1]:
        if sign > 0:
            living[storage.number] = storage
        else:
            living.pop(storage.number, None)
    held = dict(zip(kinds, alive[top].tolist(), strict=True))
    return rows, alive, Peak(int(rows[top]), sum(held.values()), held, tuple(living.values()))


def _line(log: Log, names: Names, row: int) -> str:
    return short_place(*place_of(log.site(int(log.raw(row)["site"])))) if _has(log, row) else _NOWHERE


def _module(log: Log, names: Names, row: int) -> str:
    return (log.scope_title(int(log.raw(row)["scope"])) if _has(log, row) else "") or _NOWHERE


def _op(log: Log, names: Names, row: int) -> str:
    if not _has(log, row):
        return _NOWHERE
    event = log.event(row)
    if event.kind == Kind.LEAF:
        return names.name(event) or _NOWHERE
    name = log.op(event.op).name
    return (f"{name} backward" if event.kind == Kind.GRAD else name) or _NOWHERE


def _has(log: Log, row: int) -> bool:
    return log.first <= row < log.end


_NOWHERE: Final = "-"

PLACES: Final[dict[str, Callable[[Log, Names, int], str]]] = {"line": _line, "module": _module, "op": _op}
"""What a row is summed up under, by each of `WAYS`."""
