"""The weights that a training begins with: layer by layer, with the line that set them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.training.optimized import LEAST, Group, is_matrix
from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.sizes import counts_of, norms_of

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node

_WHOLE: Final = ("linear", "conv1d", "conv2d", "conv3d")
"""Layers whose weights have a row for each output; products of matrices have a column."""

_PRODUCTS: Final = ("matmul", "mm", "addmm", "bmm")


@dataclass(frozen=True)
class Layer:
    """A weight, the first op that takes it, and how large its results were, and what it was given beside the weight."""

    updates: np.ndarray
    """All updates of the weight."""
    row: int
    """The op."""
    made: float
    """The root mean square of its results."""
    given: float
    """That of what it took; NaN where it took nothing, or where that is not known."""
    gain: float
    """What the weight alone makes of the size of numbers that know nothing of each other, taken either way."""

    @property
    def factor(self) -> float:
        """The one as a multiple of the other."""
        return self.made / self.given if self.given > 0 else math.nan

    @property
    def start(self) -> int:
        """The row that holds the weight as it was at first."""
        return int(self.updates["before"][0])


def layers(graph: Graph, group: Group) -> list[Layer]:
    """The layers whose weights a group of updates trains, in the order in which they ran at first."""
    found, log = [], graph.log
    matrices = group.updates[is_matrix(log, group.updates["tensor"])]
    for tensor in np.unique(matrices["tensor"]).tolist():
        own = matrices[matrices["tensor"] == tensor]
        stop = int(own["row"][0])
        rows = {tensor, *graph.index.versions(tensor, stop)}
        users = sorted(user for row in rows for user in graph.index.using(row, stop))
        ops = [user for user in users if log.op(graph.index.event(user).op).name in (*_WHOLE, *_PRODUCTS)]
        if len(own) >= LEAST and ops:
            found.append(Layer(own, ops[0], *_sizes(log, ops[0], rows), float(gains(log, own[:1]).max())))
    return sorted(found, key=lambda layer: layer.row)


def gains(log: Log, updates: np.ndarray) -> np.ndarray:
    """What the weights of some updates make of the size of numbers, from their inputs to results and the other way."""
    shapes = [log.shape(number) for number in log.pick("shape", updates["row"]).tolist()]
    ways = np.array([(math.prod(shape[1:]), shape[0]) for shape in shapes])
    found: np.ndarray = updates["weight"][:, None] / np.sqrt(updates["count"][:, None]) * np.sqrt(ways)
    return found


def _sizes(log: Log, row: int, weight: set[int]) -> tuple[float, float]:
    """The root mean squares of what an op makes, and of what it takes beside its weight."""
    sources = [source for source, _ in log.inputs(row) if source not in weight]
    if not sources:
        return math.nan, math.nan
    rows = np.array([row, sources[0]])
    with np.errstate(all="ignore"):
        made, given = norms_of(log, rows) / np.sqrt(counts_of(log, rows))
    return float(made), float(given)


def units_alike(log: Log, layer: Layer) -> bool | None:
    """Whether all units of a layer are the same after its last update; None where the log does not say."""
    start, end = log.value(layer.start), log.value(int(layer.updates["row"][-1]))
    if start is None or end is None or start.shape != end.shape or end.ndim < 2 or not np.isfinite(end).all():
        return None
    change = float(np.abs(end - start).max())
    if change == 0:
        return None
    name = log.op(log.event(layer.row).op).name
    rows = end.reshape(end.shape[0], -1) if name in _WHOLE else end.reshape(-1, end.shape[-1]).T
    return len(rows) > 1 and bool(np.abs(rows - rows[:1]).max() <= 1e-3 * change)


def set_at(graph: Graph, layer: Layer) -> Node | None:
    """The node by which the program gave a weight its first numbers, where the log has it."""
    return setter(graph, int(layer.updates["tensor"][0]), int(layer.updates["row"][0]))


def setter(graph: Graph, tensor: int, stop: int) -> Node | None:
    """The node that wrote a parameter last, ahead of a row, where the log has one."""
    log = graph.log
    for row in reversed(graph.index.versions(tensor, stop)):
        event = graph.index.event(row)
        if event.kind != Kind.OP or not event.flags & Flag.IN_PLACE or log.op(event.op).name in _MOVED:
            continue
        node = graph.node(row)
        if node.op == "set" and (len(node.inputs) < 2 or not _is_new(node.inputs[1].source)):
            continue
        if node.op == "copy_slices" and len(node.inputs) > 1:
            return node.inputs[1].source
        return node
    return None


def _is_new(node: Node) -> bool:
    """Whether a tensor was computed, and not merely moved."""
    return node.op not in (*_MOVED, *_HANDED) if node.kind == "op" else "function" in node.attrs


_HANDED: Final = ("data", "detach", "clone", "contiguous", "cpu")
_MOVED: Final = ("to", "bfloat16", "half", "float", "cuda", "requires_grad_")
