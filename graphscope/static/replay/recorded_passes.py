"""A recorded backward pass: what it began from, and what it left behind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from graphscope.errors import StaticError
from graphscope.eventlog.schema import Flag, Kind
from graphscope.static.replay.recorded_rows import recorded, where

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Event
    from graphscope.graph import Graph, Node


@dataclass(frozen=True)
class RecordedPass:
    """A backward pass.

    Attributes:
        begin: The row of its first mark.
        end: The row of its last.
        roots: The nodes that it begins from, and which of their outputs.
        cotangents: What it begins with at each.
        accumulated: The rows of contributions to leaves, each with its leaf.
        wanted: The rows of gradients that the program asked for, each with the node that it is of.
    """

    begin: int
    end: int
    roots: list[tuple[Node, int]]
    cotangents: list[np.ndarray]
    accumulated: list[tuple[int, Node]]
    wanted: list[tuple[int, Node]]


def pass_at(graph: Graph, begin: Event) -> RecordedPass:
    """The pass that begins at a mark.

    Raises:
        StaticError: It can't be told in full.
    """
    log = graph.log
    events = []
    depth = 1
    for row in range(begin.row + 1, log.end):
        event = log.event(row)
        if event.thread != begin.thread:
            continue
        depth += {Kind.BACKWARD_BEGIN: 1, Kind.BACKWARD_END: -1}.get(event.kind, 0)
        if depth == 0:
            break
        events.append(event)
    else:
        raise StaticError(f"the backward pass at #{begin.row} did not end: it can't run again")
    if any(event.kind == Kind.OP and event.flags & Flag.CREATE_GRAPH for event in events):
        raise StaticError(f"the backward pass at #{begin.row} made a graph of its own: it can't run again")
    roots = [(graph.node(source), slot) for source, slot in begin.inputs]
    cotangents = [_cotangent(graph, root, slot, events) for root, slot in roots]
    asked_for = [event for event in events if event.kind == Kind.GRAD and log.op(event.op).name == "grad"]
    passed = {event.forward for event in events if event.kind == Kind.GRAD and event not in asked_for}
    added = [event for event in events if event.kind == Kind.ACCUMULATE and event.forward not in passed]
    accumulated = [(event.row, graph.node(event.forward)) for event in added]
    wanted = [(event.row, graph.node(event.forward)) for event in asked_for]
    return RecordedPass(begin.row, row, roots, cotangents, accumulated, wanted)


def _cotangent(graph: Graph, root: Node, slot: int, events: list[Event]) -> np.ndarray:
    """What a pass begins with at a root."""
    first = next((each for each in events if each.kind == Kind.GRAD and each.forward == root.row), None)
    if first is None or first.inputs or slot >= max(1, first.output_count):
        if root.shape == () and first is None:
            return np.ones((), np.float32)
        raise StaticError(f"what the backward pass began with at {where(root)} is not in the log: it can't run again")
    return recorded(graph.node(first.row), slot)
