"""What the interned tables of a log say, as lists of entries that columns name by number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from graphscope.eventlog import schema
from graphscope.eventlog.schema import Kind
from graphscope.tables.batches import Coded

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_LEAF, _ACCUMULATE = "leaf", "accumulate"
DTYPES = [name or None for name in schema.DTYPES]


class Vocabulary:
    """Every entry is read once, whatever number of rows names it; number 0, and what is unknown, is null.

    Args:
        log: The log; what its rows name was written ahead of them.
    """

    def __init__(self, log: Log) -> None:
        self.ops: list[Any] = [None, *(log.op(number).name for number in _numbers(log, "ops"))]
        self.modules: list[Any] = [None, *(log.scope_path(number) or None for number in _numbers(log, "scopes"))]
        self.shapes: list[Any] = [[], *(list(log.shape(number)) for number in _numbers(log, "shapes"))]
        attrs = [{}, *(log.attrs(number) for number in _numbers(log, "attrs"))]
        self.names: list[Any] = [_name(each) for each in attrs]
        makers = [str(each.get("function", _LEAF)) for each in attrs]
        self._others = [*dict.fromkeys((_ACCUMULATE, *makers))]
        places = {each: len(self.ops) + place for place, each in enumerate(self._others)}
        self._makers = np.array([places[each] for each in makers])
        self.elements = np.array([math.prod(shape) for shape in self.shapes], np.int64)

    def ops_of(self, nodes: np.ndarray) -> Coded:
        """What nodes do, as commands say it: of leaves the function that made them where that is known."""
        found = named(nodes["op"], self.ops)
        found[nodes["kind"] == Kind.ACCUMULATE] = len(self.ops)
        leaves = nodes["kind"] == Kind.LEAF
        found[leaves] = self._makers[named(nodes["attrs"][leaves], self._makers)]
        return Coded(found, [*self.ops, *self._others])

    def count(self, shapes: np.ndarray) -> np.ndarray:
        """How many elements values of some shapes have."""
        return np.asarray(self.elements[named(shapes, self.shapes)])


def _numbers(log: Log, table: str) -> range:
    return range(1, len(log.table(table)) + 1)


def _name(attrs: dict[str, Any]) -> str | None:
    name = attrs.get("name")
    return name if isinstance(name, str) and name else None


def named(numbers: np.ndarray, entries: Sequence[Any] | np.ndarray) -> np.ndarray:
    """Numbers of entries; 0 for those that a damaged log does not have."""
    return np.where(numbers < len(entries), numbers, 0).astype(np.int64)


def coded(numbers: np.ndarray, entries: list[Any]) -> Coded:
    """A column that names entries."""
    return Coded(named(numbers, entries), entries)
