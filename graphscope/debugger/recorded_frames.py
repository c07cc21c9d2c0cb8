"""Where recorded nodes come from: the lines that stand in for frames when no program waits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING

from graphscope.debugger import nodes
from graphscope.debugger.frames import describe
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
    info = nodes.describe(node)
    if info.place is not None:
        yield Frame(info.place, info.scope, live=False)


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
    marks = log.rare()
    for row in marks[marks <= graph.now][::-1].tolist():
        event = log.event(row)
        if event.kind == Kind.BACKWARD_BEGIN:
            site = log.site(event.site)
            if site is None:
                return None
            text = graph.names.source_line(event.site)
            return Frame(Place(site.file, site.line, site.function, text), live=False)
    return None
