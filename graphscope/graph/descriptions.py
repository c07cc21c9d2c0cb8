"""What each node answers to in a search, as a number: nodes of which the same can be said have the same one.

A log of a million nodes has some hundred descriptions. A search tests these, and finds the rows by their numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Lock
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog.schema import EVENT, NODES, Flag, Kind
from graphscope.graph.names import Names
from graphscope.graph.relation import Blocks

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

DESCRIPTION: Final = np.dtype(
    [
        ("kind", "<i8"),  # Kind; 0 of what is no node
        ("graph_pass", "<i8"),  # Pass
        ("op", "<i8"),  # the op, or the function that made a leaf, by its place among the words
        ("name", "<i8"),  # the name, by its place among the words
        ("parameter", "<i8"),  # the row of the parameter that it is about, plus 1: it may be named later; 0 of none
        ("scope", "<i8"),  # numbers of the log's tables
        ("site", "<i8"),
        ("shape", "<i8"),
    ]
)
"""What is known of a node; what a backward node has not of its own is its forward node's."""

BLOCK: Final = 1 << 14
"""So many rows are described at once: in a moment, and without much memory."""
_BEHIND: Final = 64
"""The name of a node may be told so many rows behind it."""


class Descriptions:
    """The descriptions of the nodes of one log, made block by block.

    Args:
        log: The log.
    """

    def __init__(self, log: Log) -> None:
        self.names = Names(log)
        self.words = [""]
        """Ops and names."""
        self._log = log
        self._places = {"": 0}
        self._numbers = {bytes(DESCRIPTION.itemsize): 0}
        self._table = np.zeros(1, DESCRIPTION)
        self.blocks = Blocks(log, self._build, BLOCK, _BEHIND)
        self._lock = Lock()

    @property
    def table(self) -> np.ndarray:
        """Those that were made, each a DESCRIPTION by its number; 0 is that of what is no node."""
        return self._table[: len(self._numbers)]

    def between(self, start: int, stop: int) -> Iterator[tuple[int, np.ndarray]]:
        """First row of each stretch of `start <= row < stop`, and the numbers of the descriptions of its rows."""
        for first, numbers in self.blocks.between(start, stop):
            low = max(start - first, 0)
            yield first + low, numbers[low : max(stop - first, 0)]

    def _build(self, block: int) -> np.ndarray:
        with self._lock:  # a screen searches on another thread
            made = _described(self, _Block(self._log, block * BLOCK))
            keys, which = _distinct([made[name] for name in DESCRIPTION.names or ()])
            numbers = np.array([self._number(key) for key in made[keys]], np.int64)[which]
            return np.asarray(numbers, np.min_scalar_type(len(self._numbers)))

    def _number(self, description: np.void) -> int:
        told = description.tobytes()
        number = self._numbers.get(told)
        if number is None:
            number = len(self._numbers)
            if number == len(self._table):
                self._table = np.append(self._table, np.zeros(number, DESCRIPTION))
            self._table[number] = description
            self._numbers[told] = number
        return number

    def word(self, text: str) -> int:
        """The place of a text among the words."""
        place = self._places.get(text)
        if place is None:
            place = self._places[text] = len(self.words)
            self.words.append(text)
        return place


def descriptions_of(log: Log) -> Descriptions:
    """The descriptions of a log: all who search it share them."""
    kept: tuple[int, Descriptions] | None = log.readings.get(Descriptions)
    if kept is None:
        kept = log.readings[Descriptions] = 0, Descriptions(log)
    return kept[1]


class _Block:
    """The rows of a block."""

    def __init__(self, log: Log, first: int) -> None:
        self.log = log
        self.first = first
        self.events = np.zeros(min(BLOCK, log.end - first), EVENT)
        for start, rows in log.chunks(first, first + BLOCK):
            self.events[start - first :][: len(rows)] = rows
        log.look(np.zeros(1, np.int64), self.events.nbytes)
        self.fields: dict[str, np.ndarray] = {}


class _Rows:
    """Some rows, most of them of one block, field by field; what the log does not hold has 0."""

    def __init__(self, block: _Block, rows: np.ndarray) -> None:
        self.rows = rows
        self.block = block
        self._offsets = rows - block.first
        self._far = np.flatnonzero((self._offsets < 0) | (self._offsets >= len(block.events)))
        self._offsets[self._far] = 0
        self._far_rows, self._which = np.unique(rows[self._far], return_inverse=True)

    def of(self, field: str) -> np.ndarray:
        """A field of each."""
        here = self.block.fields.get(field)
        if here is None:
            here = self.block.fields[field] = self.block.events[field].astype(np.int64)
        found: np.ndarray = here[self._offsets]
        if len(self._far):
            found[self._far] = self.block.log.pick(field, self._far_rows)[self._which]
        return found

    def some(self, places: np.ndarray) -> _Rows:
        """Those at some places."""
        return _Rows(self.block, self.rows[places])


def _described(made: Descriptions, block: _Block) -> np.ndarray:
    """The descriptions of the rows of a block."""
    found = np.zeros(len(block.events), DESCRIPTION)
    all_kinds = block.events["kind"]
    offsets = np.flatnonzero((all_kinds >= min(NODES)) & (all_kinds <= max(NODES)))
    nodes = _Rows(block, block.first + offsets)
    kinds, forward = nodes.of("kind"), nodes.of("forward")
    is_backward = (kinds == Kind.GRAD) | (kinds == Kind.ACCUMULATE)
    has_owner = is_backward & (forward >= 0) & (forward < nodes.rows)
    owners = _Rows(block, np.where(has_owner, forward, nodes.rows))
    is_known = has_owner | ~is_backward  # else the forward node is in a segment that is gone
    name, parameter = _named(made, block.log, owners)
    told = {
        "kind": kinds,
        "graph_pass": nodes.of("graph_pass"),
        "op": _ops(made, block.log, nodes),
        "name": name * is_known,
        "parameter": parameter * is_known,
        "shape": nodes.of("shape"),
    }
    for field in ("scope", "site"):
        own = nodes.of(field)
        told[field] = np.where(own == 0, owners.of(field), own)
    for field, values in told.items():
        found[field][offsets] = values
    return found


def _ops(made: Descriptions, log: Log, nodes: _Rows) -> np.ndarray:
    kinds, attrs = nodes.of("kind"), nodes.of("attrs")
    found = _each(nodes.of("op"), lambda number: made.word(log.op(number).name))
    is_leaf = kinds == Kind.LEAF
    found[is_leaf] = _each(attrs[is_leaf], lambda number: made.word(str(log.attrs(number).get("function", "leaf"))))
    found[kinds == Kind.ACCUMULATE] = made.word("accumulate")
    return found


def _named(made: Descriptions, log: Log, owners: _Rows) -> tuple[np.ndarray, np.ndarray]:
    """The names of nodes, and the parameters that they are about which may be named later."""
    found = _called(made, log, owners)
    # What was written in place bears the name of its tensor's first version, unless the line says another.
    tensors = owners.of("tensor")
    is_later = (owners.of("version") > 0) & (tensors < owners.rows)
    firsts = _Rows(owners.block, np.where(is_later, tensors, owners.rows))
    nameless = np.flatnonzero(is_later & (found == 0))
    found[nameless] = _called(made, log, firsts.some(nameless))
    losses = np.flatnonzero((found == 0) & (owners.of("kind") == Kind.OP))
    if len(losses):
        rows = owners.rows[losses]
        for row, text in made.names.roots(int(rows.min()), int(rows.max()) + 1).items():
            found[losses[rows == row]] = made.word(text)
    is_nameless = _each(firsts.of("attrs"), lambda number: not log.attrs(number).get("name")) != 0
    is_trained = (firsts.of("flags") & int(Flag.PARAMETER) != 0) & (firsts.of("kind") == Kind.LEAF) & is_nameless
    return found, np.where(is_trained, firsts.rows + 1, 0)


def _called(made: Descriptions, log: Log, nodes: _Rows) -> np.ndarray:
    """The names of nodes: those that they were given, or of the variables of their lines."""
    kinds, attrs = nodes.of("kind"), nodes.of("attrs")
    found = _each(nodes.of("site"), lambda number: made.word(made.names.variable(number)))
    is_made = _each(attrs, lambda number: "function" in log.attrs(number)) != 0
    found[(kinds == Kind.LEAF) & ~is_made] = 0  # seen first at a use: the variable there is another's
    is_given = _each(attrs, lambda number: "name" in log.attrs(number)) != 0
    ops = np.flatnonzero((found != 0) & (kinds == Kind.OP) & ~is_given)
    found[ops[~made.names.finishing(nodes.rows[ops])]] = 0
    given = _each(attrs, lambda number: made.word(str(log.attrs(number).get("name", ""))))
    return np.where(is_given, given, found)


def _each(numbers: np.ndarray, told: Callable[[int], int]) -> np.ndarray:
    """What is told of each number; it is asked for once."""
    places, which = _distinct([numbers])
    found: np.ndarray = np.array([told(number) for number in numbers[places].tolist()], np.int64)[which]
    return found


def _distinct(columns: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Where each combination of values occurs, and for each place which one is there."""
    which, count = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        own, several = _numbered(column)
        if several > 1:
            which, count = _numbered(which * several + own)
    places = np.empty(count if len(which) else 0, np.int64)
    places[which] = np.arange(len(which))
    return places, which


def _numbered(values: np.ndarray) -> tuple[np.ndarray, int]:
    """Numbers for the different values, from 0 on, and how many there are."""
    if len(values) == 0:
        return values, 0
    low, high = int(values.min()), int(values.max())
    if high - low > 8 * len(values):
        different, which = np.unique(values, return_inverse=True)
        return which, len(different)
    occurs = np.zeros(high - low + 1, np.int64)
    occurs[values - low] = 1
    numbers = np.cumsum(occurs) - 1
    return numbers[values - low], int(numbers[-1]) + 1
