"""What the rows of a log say about each other, turned round: users, backward rows, versions; built block by block."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.errors import LogError
from graphscope.eventlog.each_once import each_once
from graphscope.eventlog.schema import INLINE_INPUTS, NODES, ROW_MASK, Flag, Kind, Pass
from graphscope.graph.pass_marks import pass_marks
from graphscope.graph.relation import Pairs, Relation, Rows

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Event, Log

MAKERS: Final = (Kind.LEAF, Kind.OP)
"""Kinds of rows that make a tensor, or a version of one."""

_AT_HAND: Final = 1 << 15
_NO_ROWS: Final = np.zeros(0, np.int64)


def index_of(log: Log) -> Index:
    """The index of a log: all who look at it share one."""
    kept: tuple[int, Index] = log.readings.setdefault(Index, (0, Index(log)))
    return kept[1]


class Index:
    """The relations of one log. They grow with the log and serve every position in time, cut off at `stop`."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._users = Relation(log, edges_of)
        self._backward = Relation(log, _forward)
        self._versions = Relation(log, _later_version)
        self._nodes = Rows(log, _is_node)
        self._edits: dict[int, list[int]] = {}
        self._edits_end = log.first
        self._events: dict[int, Event] = {}
        self._lately: tuple[object, np.ndarray] | None = None
        self._marks: dict[Kind, tuple[int, np.ndarray]] = {}
        self._assignments: tuple[int, dict[tuple[Any, Any], list[np.ndarray]]] | None = None

    def event(self, row: int) -> Event:
        """A row, decoded; rows do not change (but for `duration`), so those asked for of late are at hand.

        Raises:
            LogError: There is no such row.
        """
        found = self._events.get(row)
        if found is None:
            found = self._log.event(row)
            if len(self._events) >= _AT_HAND:
                self._events.clear()
            self._events[row] = found
        return found

    def users(self, row: int, stop: int) -> list[tuple[int, int, int]]:
        """Row, slot and argument of each node before `stop` that takes this one as an input, in order."""
        return [
            (user, slot, argument)
            for user in dict.fromkeys(self._users.find(row, stop))
            for argument, (source, slot) in enumerate(self.event(user).inputs)
            if source == row
        ]

    def using(self, row: int, stop: int, start: int = 0) -> list[int]:
        """Rows of `start <= row < stop` that take this one as an input; they are found, not looked at."""
        return list(dict.fromkeys(self._users.find(row, stop, start)))

    def backward(self, row: int, stop: int, start: int = 0) -> list[int]:
        """Rows before `stop` that belong to this one: its GRAD and ACCUMULATE rows, or the ops of a GRAD row's rule."""
        return self._backward.find(row, stop, start)

    def backward_pairs(self, rows: np.ndarray, stop: int) -> Pairs:
        """The same of many rows, ascending: pairs of one of them and of a row before `stop` that belongs to it."""
        return self._backward.find_all(rows, stop)

    def lately(self, asked: object, find: Callable[[], np.ndarray]) -> np.ndarray:
        """What was found for the last that was asked for: of one node, several ask."""
        key, kept = (asked, self._log.end), self._lately  # another thread may ask meanwhile
        if kept is None or kept[0] != key:
            kept = self._lately = key, find()
        return kept[1]

    def written(self, tensors: np.ndarray, stop: int) -> np.ndarray:
        """Those of some tensors, ascending, that were changed or written again by a row before `stop`."""
        return each_once(self._versions.find_all(tensors, stop)[0])

    def versions(self, tensor: int, stop: int) -> list[int]:
        """Rows before `stop` that made, changed or wrote again the tensor of this number."""
        later = self._versions.find(tensor, stop)
        return [tensor, *later] if tensor < stop and self._is_first(tensor) else later

    def _is_first(self, row: int) -> bool:
        """Whether a row made a tensor that is called by its number."""
        try:
            event = self.event(row)
        except LogError:
            return False
        return event.kind in MAKERS and event.tensor == row

    def edits(self, row: int) -> list[int]:
        """EDIT rows that replaced the value of this node."""
        if self._edits_end != self._log.end:
            self._note_edits()
        return self._edits.get(row, [])

    @property
    def edited(self) -> list[int]:
        """The nodes whose values were replaced."""
        if self._edits_end != self._log.end:
            self._note_edits()
        return [*self._edits]

    def _note_edits(self) -> None:
        """Read the marks that were written since the last time."""
        edits = self._log.marks(Kind.EDIT, start=self._edits_end)
        self._edits_end = self._log.end
        for edit in edits.tolist():
            for node, _ in self._log.inputs(edit)[:1]:
                self._edits.setdefault(node, []).append(edit)

    def marks(self, kind: Kind) -> np.ndarray:
        """The rows of all marks of a kind, ascending."""
        if kind in (Kind.BACKWARD_BEGIN, Kind.BACKWARD_END):
            marks = pass_marks(self._log)
            return marks.begins if kind == Kind.BACKWARD_BEGIN else marks.ends
        known = self._marks.get(kind)
        if known is None or known[0] != self._log.end:
            known = self._marks[kind] = self._log.end, self._log.marks(kind)
        return known[1]

    def assignments(self, tensor: int, what: str, stop: int) -> list[int]:
        """ASSIGN rows before `stop` by which the program set something of a tensor, ascending."""
        if self._assignments is None or self._assignments[0] != self._log.end:
            self._assignments = self._log.end, self._rows_by_assigned()
        rows = np.sort(np.concatenate([_NO_ROWS, *self._assignments[1].get((what, tensor), ())]))
        found: list[int] = rows[: np.searchsorted(rows, stop)].tolist()
        return found

    def _rows_by_assigned(self) -> dict[tuple[Any, Any], list[np.ndarray]]:
        """By what was set and the tensor: the rows of each entry of `attrs` that names it, which rows share."""
        rows = self.marks(Kind.ASSIGN)
        numbers = self._log.pick("attrs", rows)
        found: dict[tuple[Any, Any], list[np.ndarray]] = {}
        for number in each_once(numbers).tolist():
            facts = self._log.attrs(number)
            for tensor in facts.get("tensors", ()):
                found.setdefault((facts.get("set"), tensor), []).append(rows[numbers == number])
        return found

    def nodes(self, stop: int, start: int = 0) -> np.ndarray:
        """Rows of `start <= row < stop` that are nodes, ascending."""
        return self._nodes.between(start, stop)


def _is_node(rows: np.ndarray) -> np.ndarray:
    kinds = rows["kind"]
    return (kinds >= min(NODES)) & (kinds <= max(NODES))


def edges_of(log: Log, first: int, rows: np.ndarray) -> list[Pairs]:
    """The edges that lead to the nodes of a stretch: offsets of the nodes in it, and the rows of their inputs."""
    nodes = _is_node(rows)
    beside = (rows["flags"] & int(Flag.EDGES)) != 0
    counts = rows["input_count"]
    found = []
    for argument in range(INLINE_INPUTS):
        offsets = np.flatnonzero(nodes & ~beside & (counts > argument))
        found.append((offsets, rows["inputs"][offsets, argument] & np.uint64(ROW_MASK)))
    offsets = np.flatnonzero(nodes & beside)
    if len(offsets):
        found.append(_beside(log.edges(first + int(offsets[0])), rows["inputs"][offsets], offsets))
    return found


def _beside(edges: np.ndarray, spans: np.ndarray, offsets: np.ndarray) -> Pairs:
    """The inputs that lie in `edges.npy`: `spans` says from where on and how many, for the rows at `offsets`."""
    starts, counts = spans[:, 0], spans[:, 1]
    size = np.uint64(len(edges))
    whole = (starts <= size) & (counts <= size) & (starts + counts <= size)
    starts, counts = starts[whole].astype(np.int64), counts[whole].astype(np.int64)
    before = np.cumsum(counts) - counts
    which = np.repeat(starts - before, counts) + np.arange(int(counts.sum()))
    return np.repeat(offsets[whole], counts), edges["node"][which]


def _forward(_: Log, __: int, rows: np.ndarray) -> list[Pairs]:
    kinds = rows["kind"]
    of_backward = (kinds == Kind.GRAD) | (kinds == Kind.ACCUMULATE)
    # An op that no rule ran says 0, which is a row too; but row 0 has no rule, since nothing came before it.
    of_rule = _is_node(rows) & ~of_backward & (rows["graph_pass"] == Pass.BACKWARD) & (rows["forward"] > 0)
    offsets = np.flatnonzero(of_backward | of_rule)
    return [(offsets, rows["forward"][offsets])]


def _later_version(_: Log, first: int, rows: np.ndarray) -> list[Pairs]:
    """Rows that change a tensor or write it again: the row that made it is called as the tensor is."""
    kinds, tensors = rows["kind"], rows["tensor"]
    made = np.isin(kinds, [int(kind) for kind in MAKERS])
    offsets = np.flatnonzero(made & (tensors != np.arange(first, first + len(rows), dtype=np.uint64)))
    return [(offsets, tensors[offsets])]
