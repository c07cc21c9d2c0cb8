"""Where recorded nodes come from: the lines that stand in for frames when no program waits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING

import numpy as np

from graphscope.debugger import nodes
from graphscope.debugger.expression_names import owner_of
from graphscope.debugger.frames import describe
from graphscope.debugger.recorded_locals import RecordedLocals
from graphscope.debugger.results import Frame, Place, Raised
from graphscope.eventlog.schema import Kind

if TYPE_CHECKING:
    from graphscope.debugger.nodes import Pending
    from graphscope.graph import Graph, Node


def frames(graph: Graph, node: Node | Pending | None, raised: Raised | None = None) -> Iterator[Frame]:
    """The lines that were recorded of a node, outermost first: in backward, the line that called it comes ahead.

    Where the program failed, it is the line that raised the exception.
    """
    if raised is not None and raised.place is not None and not raised.by_node:
        yield Frame(raised.place, live=False)
        return
    if node is None:
        return
    if node.graph_pass == "backward" and (call := _backward_call(graph)) is not None:
        yield call
    yield from _of_node(node)


def locals_of(graph: Graph, node: Node | Pending | None) -> RecordedLocals | None:
    """What the log knows of the variables of the function that made a node: of a backward node, its forward node."""
    return None if node is None else locals_in(graph, tuple(_of_node(node)))


def locals_in(graph: Graph, found: Sequence[Frame]) -> RecordedLocals | None:
    """What the log knows of the variables of the first of some frames."""
    if not found or found[0].row is None:
        return None
    return RecordedLocals(graph, found[0].place, found[0].row)


def _of_node(node: Node | Pending) -> Iterator[Frame]:
    info = nodes.describe(node)
    if info.place is not None:
        owner = owner_of(node)
        yield Frame(info.place, info.scope, live=False, row=node.row if owner is None else owner.row)


def waiting(
    stack: Sequence[FrameType], died: Mapping[FrameType, int], node: Node | Pending | None
) -> tuple[Frame, ...]:
    """The frames of a program that waits at a node, which lies in a module; `died`: where an exception left them."""
    found = [describe(frame, died.get(frame)) for frame in stack]
    if found and node is not None and node.graph_pass == "forward" and not died:
        found[-1] = replace(found[-1], scope=node.scope_title)
    return tuple(found)


def _backward_call(graph: Graph) -> Frame | None:
    """The line that called `backward()` for the pass that holds `now`."""
    log = graph.log
    begins = graph.index.marks(Kind.BACKWARD_BEGIN)
    place = int(np.searchsorted(begins, graph.now, side="right")) - 1
    if place < 0:
        return None
    row = int(begins[place])
    number = log.event(row).site
    site = log.site(number)
    if site is None:
        return None
    return Frame(Place(site.file, site.line, site.function, graph.names.source_line(number)), live=False, row=row)
