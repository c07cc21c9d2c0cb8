"""Parameters that a program writes into themselves: what was meant as a copy of them is what they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.source.aliases import Alias, alias_written_at
from graphscope.diagnose.training.parameter_rows import parameter_rows
from graphscope.eventlog.grouping import grouped
from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.reading import once_a_length
from graphscope.graph.words import sources

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node

_HANDING: Final = frozenset({"detach", "data", "alias", "view", "view_as", "to", "cpu", "contiguous"})
_MIXING: Final = frozenset({"mul", "add", "sub", "lerp", "set", "copy", "copy_slices", *_HANDING})
_WRITING: Final = ("copy_", "add_", "lerp_", "set")
_MOST: Final = 16
_CLOSE: Final = 0.02
"""An average of weights with themselves takes a little of them: the square of the part that is new."""


class Written(NamedTuple):
    """A write that changes nothing."""

    row: int
    tensor: int
    alias: Alias | None
    """The second name of the network; None where it is what was kept of it that is no copy."""
    kept: int
    """The row that handed the parameter on, where it was kept while training went on; else -1."""
    writes: int
    """How many parameters are written so there."""


@once_a_length
def written_to_themselves(log: Log) -> list[Written]:
    """The first of each line, in the order of the log."""
    lines: dict[int, list[Node]] = {}
    for row in _candidates(log):
        lines.setdefault(int(log.raw(row)["site"]), []).append(log.graph.node(row))
    return [found for nodes in lines.values() for found in _of_line(log, nodes)]


def _candidates(log: Log) -> list[int]:
    """The writes into parameters that may take what they write from these."""
    names = {number: str(op.get("name")) for number, op in enumerate(log.table("ops"), 1) if isinstance(op, dict)}
    writing = [number for number, name in names.items() if name in _WRITING]
    written = parameter_rows(log).written
    rows = written.rows[np.isin(log.pick("op", written.rows), writing) & (written.tensors >= log.first)]
    rows = rows[log.pick("input_count", rows) == 2]
    tensors = _written_tensors(log, rows, names)
    learned = (log.pick("flags", tensors) & int(Flag.REQUIRES_GRAD)) != 0
    chosen = learned & (log.pick("kind", tensors) == Kind.LEAF)
    rows, tensors = rows[chosen], tensors[chosen]
    if not len(rows):
        return []
    firsts = np.sort(grouped([log.pick("site", rows), tensors]).first)
    rows, tensors = rows[firsts], tensors[firsts]
    told = zip(rows.tolist(), sources(log, rows, 1).tolist(), tensors.tolist(), strict=True)
    return [row for row, source, tensor in told if _is_of(log, source, tensor)]


def _written_tensors(log: Log, rows: np.ndarray, names: Mapping[int, str]) -> np.ndarray:
    """The tensors whose memory is written: of a write into `p.data` that of `p`."""
    tensors = log.pick("tensor", rows).astype(np.int64)
    handing = [number for number, name in names.items() if name in _HANDING]
    handed = (log.pick("kind", tensors) == Kind.OP) & np.isin(log.pick("op", tensors), handing)
    bases = np.where(handed, sources(log, tensors), tensors)
    return np.asarray(log.pick("tensor", np.where(bases >= log.first, bases, tensors)).astype(np.int64))


def _is_of(log: Log, row: int, tensor: int) -> bool:
    """Whether the numbers of a row are made of one tensor's alone."""
    waiting, seen = [row], set[int]()
    while waiting and len(seen) < _MOST:
        at = waiting.pop()
        if at < log.first or at in seen:
            continue
        seen.add(at)
        event = log.event(at)
        if event.tensor == tensor and event.kind in (Kind.LEAF, Kind.OP):
            continue
        if event.kind != Kind.OP or log.op(event.op).name.rstrip("_") not in _MIXING or not event.inputs:
            return False
        waiting += [source for source, _ in event.inputs]
    return not waiting


def _of_line(log: Log, nodes: list[Node]) -> Iterator[Written]:
    node = nodes[0]
    if not all(_is_the_same(each) for each in nodes):
        return
    source = node.inputs[1].source
    while source.op == "copy_slices" and source.inputs:  # its memory was written elsewhere
        source = source.inputs[0].source
    kept = source.row if node.op == "copy_" and source.op in _HANDING and _has_gone_on(node, source.row) else -1
    alias = alias_written_at(log, node.site) if node.site is not None and kept < 0 else None
    if kept >= 0 or alias is not None:
        yield Written(node.row, node.tensor, alias, kept, len(nodes))


def _is_the_same(node: Node) -> bool:
    """Whether a write leaves a parameter as it was, but for rounding: a copy does."""
    if node.op == "copy_":
        return True
    before = node.inputs[0].source
    while before.op == "mul_" and before.tensor == node.tensor and before.inputs:
        before = before.inputs[0].source
    if before == node.inputs[0].source and node.op == "add_":
        return False  # a decay by hand
    one, other = before.summary, node.summary
    if one is None or other is None or not one.finite or not other.finite or not one.std:
        return False
    sizes = ((one.minimum, other.minimum), (one.maximum, other.maximum), (one.std, other.std))
    return all(abs(first - second) <= _CLOSE * max(abs(first), abs(second)) for first, second in sizes)


def _has_gone_on(node: Node, since: int) -> bool:
    """Whether a parameter was written between the row that handed it on and the one that it comes back to."""
    versions = node.graph.index.versions(node.tensor, node.row)
    return any(since < row < node.row for row in versions)
