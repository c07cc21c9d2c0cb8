"""Where the highlighted paths of the map lead: to the loss, or to a leaf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.graph.node import OF_BACKWARD
from graphscope.graph.paths import REACH, UPDATE, Descendants, Inputs, Paths, backward, between

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Event, Log
    from graphscope.graph import Node

_LEAVES: Final = 1000
"""Of more leaves only the nearest are told."""


@dataclass(frozen=True)
class Found:
    """What was found."""

    goal: str
    """What it leads to, in a word or two."""
    paths: Paths | None = None
    bounded: bool = False
    """There may be more: the search ended after so many rows."""


@dataclass(frozen=True)
class Leaf:
    """A leaf that a node depends on; of a backward node, one that it brings a gradient to."""

    name: str
    row: int
    """The row that stands for it: its own, or where its gradient is added up."""
    tensor: int
    """What it is known by at other nodes."""
    shape: tuple[int, ...]
    trained: bool
    """A parameter, or something else that wants a gradient."""
    length: int
    """Edges to it."""


Target: TypeAlias = Leaf | Literal["loss", "none"]
"""What a person wants to see the paths to."""


def offer(target: Target) -> str:
    """What the key for it does next."""
    if isinstance(target, Leaf):
        return "no path"
    return "path to a leaf" if target == "loss" else "path to the loss"


def paths_for(node: Node, target: Target) -> Found | None:
    """The paths to what a person wants to see; None where that is nothing."""
    if isinstance(target, Leaf):
        return to_leaf(node, target)
    return to_loss(node) if target == "loss" else None


def said(found: Found, now: int) -> str:
    """Where the paths lead from the row `now`, and how far that is."""
    paths = found.paths
    within = f" in {REACH:,} rows" if found.bounded else ""
    if paths is None:
        return f"no path to {'a loss' if found.goal == 'loss' else found.goal}{within}"
    if not paths.length:
        return f"here is the {found.goal}{within}"
    on = paths.start == now
    goal = paths.end if on else paths.start
    nodes = "1 node" if paths.length == 1 else f"{paths.length:,} nodes"
    return f"{found.goal} #{goal}: {nodes} {'on' if on else 'back'}{within}"


def to_loss(node: Node) -> Found:
    """The paths to the loss: the root of the backward pass that a node takes part in, else the newest scalar that
    depends on it. Of a backward node, those from there.
    """
    return _from_loss(node) if node.graph_pass == "backward" else _on_to_loss(node)


def to_leaf(node: Node, leaf: Leaf) -> Found:
    """The paths from a leaf to a node; of a backward node, those to where the leaf's gradient is added up."""
    inputs = Inputs(node.graph.log)
    found, bounded = leaves(node)
    row = next((each.row for each in found if each.tensor == leaf.tensor), None)
    if row is None:
        return Found(leaf.name, bounded=bounded)
    start, end = sorted((row, node.row))
    return Found(leaf.name, between(inputs, start, end, max(start, end - REACH)))


def leaves(node: Node) -> tuple[list[Leaf], bool]:
    """The leaves of a node, those that want a gradient first, then the nearest; and whether there may be more."""
    found, bounded = _reached(node) if node.graph_pass == "backward" else _needed(node)
    nearest: dict[int, Leaf] = {}
    for leaf in sorted(found, key=lambda leaf: leaf.length)[:_LEAVES]:
        nearest.setdefault(leaf.tensor, leaf)
    return sorted(nearest.values(), key=lambda leaf: (not leaf.trained, leaf.length, leaf.row)), bounded


# The loss ------------------------------------------------------------------------------------------------------------


def _on_to_loss(node: Node) -> Found:
    log = node.graph.log
    stop = min(log.end, node.row + REACH)
    users = Descendants(Inputs(log), node.row)
    begins = np.flatnonzero(log.column("kind", node.row, stop) == Kind.BACKWARD_BEGIN)
    for begin in (node.row + begins).tolist():
        users.look(begin)
        for root, _ in log.inputs(begin)[:1]:
            if root in users.known:
                return Found("loss", users.paths(root))
    users.look(stop)
    bounded = stop < log.end
    scalar = _newest_scalar(log, users.rows[1:])
    if scalar is None:
        return Found("loss", bounded=bounded)
    return Found("scalar", users.paths(scalar), bounded)


def _newest_scalar(log: Log, rows: list[int]) -> int | None:
    numbers = np.array(rows, np.int64)
    forward = (log.pick("kind", numbers) == Kind.OP) & (log.pick("graph_pass", numbers) == Pass.FORWARD)
    flags = log.pick("flags", numbers)
    numbers = numbers[forward & (flags & UPDATE != UPDATE) & (flags & Flag.FAILED == 0)]
    shapes = log.pick("shape", numbers)
    scalars = [number for number in np.unique(shapes).tolist() if log.shape(number) == ()]
    found = numbers[np.isin(shapes, scalars)]
    return int(found[-1]) if len(found) else None


def _from_loss(node: Node) -> Found:
    log, inputs = node.graph.log, Inputs(node.graph.log)
    first = max(log.first, node.row - REACH)
    kinds = log.column("kind", first, node.row + 1)
    begins = np.flatnonzero(kinds == Kind.BACKWARD_BEGIN)
    if not len(begins):
        return Found("loss", bounded=first > log.first)
    begin = first + int(begins[-1])
    root = next((row for row, _ in log.inputs(begin)), -1)
    rules = np.isin(kinds[begin - first :], OF_BACKWARD) & (log.column("forward", begin, node.row + 1) == root)
    if root < 0 or not rules.any():
        return Found("loss")
    grad = begin + int(np.flatnonzero(rules)[0])
    paths = between(inputs, grad, node.row, begin)
    rule = node.event.forward
    if paths is None and node.event.kind == Kind.OP and grad <= rule < node.row:  # what a rule ran
        paths = between(inputs, grad, rule, begin)
        paths = paths and paths.ahead_of(node.row)
    return Found("loss", paths and paths.behind(root))


# Leaves --------------------------------------------------------------------------------------------------------------


def _needed(node: Node) -> tuple[list[Leaf], bool]:
    log, inputs = node.graph.log, Inputs(node.graph.log)
    floor = max(log.first, node.row - REACH)
    found, bounded = [], False
    for row, length in backward(inputs, node.row, floor).items():
        if row == node.row or (row >= floor and any(source >= 0 for source in inputs[row])) or row < log.first:
            continue
        event = node.graph.index.event(row)
        if _is_leaf(event):
            found.append(_leaf(node, row, event, length))
        elif row < floor:
            bounded = True
    return found, bounded


def _reached(node: Node) -> tuple[list[Leaf], bool]:
    log = node.graph.log
    stop = min(log.end, node.row + REACH)
    kinds = log.column("kind", node.row, stop)
    ends = np.flatnonzero(kinds == Kind.BACKWARD_END)
    stop = node.row + int(ends[0]) if len(ends) else stop
    found = []
    users = Descendants(Inputs(log), node.row)
    users.look(stop)
    for row, length in users.far().items():
        if length and kinds[row - node.row] == Kind.ACCUMULATE:
            owner = node.graph.index.event(row).forward
            event = node.graph.index.event(owner)
            if _is_leaf(event):
                found.append(_leaf(node, row, event, length))
    return found, not len(ends) and stop < log.end


def _is_leaf(event: Event) -> bool:
    return event.kind == Kind.LEAF or event.flags & UPDATE == UPDATE


def _leaf(node: Node, row: int, event: Event, length: int) -> Leaf:
    made = node.graph.node(event.row)
    wanted = Flag.REQUIRES_GRAD | Flag.PARAMETER
    origin = node.graph.index.event(event.tensor) if event.tensor >= node.graph.log.first else event
    trained = bool((event.flags | origin.flags) & wanted)
    return Leaf(made.name or made.label, row, event.tensor, event.shape, trained, length)
