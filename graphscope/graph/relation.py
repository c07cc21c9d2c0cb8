"""What is known of a log's rows block by block, packed small: which of them are nodes, and which name which other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import numpy as np

from graphscope.eventlog.each_once import each_once

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

BLOCK: Final = 1 << 16
"""Rows a block: built on their own, so a growing log never builds more than its newest block again."""

_SHIFT: Final = 16
_OFFSET: Final = BLOCK - 1

Built = TypeVar("Built")

Pairs = tuple[np.ndarray, np.ndarray]
"""Offsets of rows in a stretch of the log, and the rows that they name; one entry a pair."""


@dataclass(frozen=True, slots=True)
class _Block(Generic[Built]):
    """What was built of a block."""

    end: int
    """The log's end at that time."""
    finished: bool
    """Whether nobody wrote to the log any more."""
    written: int
    """So many of the rows that it depends on were written: with holes it may change yet, else it needs no look."""
    content: Built


class Blocks(Generic[Built]):
    """Something that is built of each block once all of its rows are written; until then, whenever there are more.

    Args:
        log: The log.
        build: Makes it of a block, by the block's number.
        size: Rows a block.
        behind: What is built depends on so many rows behind the block.
    """

    def __init__(self, log: Log, build: Callable[[int], Built], size: int = BLOCK, behind: int = 0) -> None:
        self._log = log
        self._build = build
        self._size = size
        self._behind = behind
        self._built: dict[int, _Block[Built]] = {}

    def between(self, start: int, stop: int) -> Iterator[tuple[int, Built]]:
        """First row of each block that holds rows of `start <= row < stop`, and what was built of it."""
        start, stop = max(start, self._log.first), min(stop, self._log.end)
        if start >= stop:
            return
        for block in range(start // self._size, (stop - 1) // self._size + 1):
            yield block * self._size, self._content(block)

    def _content(self, block: int) -> Built:
        built, end = self._built.get(block), self._log.end
        finished = self._log.metadata.get("finished") is not None  # ahead of the look at rows: the last ones come first
        whole = self._size + self._behind
        if built is not None and (built.written == whole or (finished and built.finished and built.end == end)):
            return built.content
        if built is None and finished:  # nothing comes later that is to be told from what was there
            content = self._build(block)
            self._built[block] = _Block(end, finished, 0, content)
            return content
        chunks = self._log.chunks(block * self._size, block * self._size + whole)
        written = sum(int(np.count_nonzero(rows["kind"])) for _, rows in chunks)
        content = built.content if built is not None and built.written == written else self._build(block)
        self._built[block] = _Block(end, finished, written, content)
        return content


class Rows:
    """A set of rows, one bit a row.

    Args:
        log: The log.
        among: Which rows of a stretch belong to it, as booleans.
    """

    def __init__(self, log: Log, among: Callable[[np.ndarray], np.ndarray]) -> None:
        self._log = log
        self._among = among
        self._blocks = Blocks(log, self._build)

    def between(self, start: int, stop: int) -> np.ndarray:
        """Those of `start <= row < stop`, ascending."""
        parts = [first + np.flatnonzero(np.unpackbits(bits)) for first, bits in self._blocks.between(start, stop)]
        rows = np.concatenate(parts) if parts else np.zeros(0, np.int64)
        low, high = np.searchsorted(rows, (max(start, self._log.first), stop))
        return rows[low:high]

    def _build(self, block: int) -> np.ndarray:
        bits = np.zeros(BLOCK, bool)
        for first, rows in self._log.chunks(block * BLOCK, (block + 1) * BLOCK):
            bits[first - block * BLOCK :][: len(rows)] = self._among(rows)
        return np.packbits(bits)


class Relation:
    """Pairs (named row, row that names it), sorted inside each block.

    Args:
        log: The log.
        extract: The pairs of a stretch, by its first row and its rows.
    """

    def __init__(self, log: Log, extract: Callable[[Log, int, np.ndarray], list[Pairs]]) -> None:
        self._log = log
        self._extract = extract
        self._blocks = Blocks(log, self._build)

    def find(self, key: int, stop: int, start: int = 0) -> list[int]:
        """The rows of `start <= row < stop` that name `key`, in order."""
        found: list[int] = []
        if key < 0:
            return found
        start = max(start, self._log.first)
        for first, (named, offsets) in self._blocks.between(max(key, start), stop):
            bounds = np.array([key, key + 1], named.dtype)  # of another dtype, all of `named` would be converted
            low, high = np.searchsorted(named, bounds)
            if low < high:
                rows = first + offsets[low:high].astype(np.int64)
                found += rows[(rows >= start) & (rows < stop)].tolist()
        return found

    def find_all(self, keys: np.ndarray, stop: int) -> Pairs:
        """Pairs of one of many keys, each once and ascending, and of a row before `stop` that names it, by blocks."""
        empty = np.zeros(0, np.int64)
        keys = keys[np.searchsorted(keys, 0) :].astype(np.int64)
        found, naming = [empty], [empty]
        for first, (named, offsets) in self._blocks.between(int(keys[0]), stop) if len(keys) else ():
            wanted = _possible(keys, named).astype(named.dtype)
            low, high = np.searchsorted(named, wanted), np.searchsorted(named, wanted, side="right")
            hit = np.flatnonzero(high > low)
            counts = (high - low)[hit]
            at = np.repeat(low[hit] - (np.cumsum(counts) - counts), counts) + np.arange(int(counts.sum()))
            found.append(np.repeat(keys[hit], counts))
            naming.append(first + offsets[at].astype(np.int64))
        pairs, rows = np.concatenate(found), np.concatenate(naming)
        return pairs[rows < stop], rows[rows < stop]

    def _build(self, block: int) -> Pairs:
        parts = [np.zeros(0, np.uint64)]
        for first, rows in self._log.chunks(block * BLOCK, (block + 1) * BLOCK):
            for offsets, named in self._extract(self._log, first, rows):
                # A damaged row may name any row: only what lies at or before the row that names it can be meant.
                possible = named <= (offsets + first).astype(np.uint64)
                offsets = offsets[possible] + (first - block * BLOCK)
                parts.append(named[possible] << np.uint64(_SHIFT) | offsets.astype(np.uint64))
        keys = np.concatenate(parts)
        keys.sort()
        small = np.uint32 if (block + 1) * BLOCK < 1 << 32 else np.uint64
        return (keys >> np.uint64(_SHIFT)).astype(small), (keys & np.uint64(_OFFSET)).astype(np.uint16)


def _possible(keys: np.ndarray, named: np.ndarray) -> np.ndarray:
    """Those of some keys that may be among some named rows; all ascend."""
    if len(named) == 0:
        return keys[:0]
    low, high = np.searchsorted(keys, (int(named[0]), int(named[-1]) + 1))
    if high - low <= len(named):
        return keys[low:high]
    once = each_once(named)
    at = np.minimum(np.searchsorted(keys, once), len(keys) - 1)
    found: np.ndarray = once[keys[at] == once]
    return found
