"""An exception that left the program: what it said, which line raised it, and which node came last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING

from graphscope.debugger import frames, nodes
from graphscope.debugger.expressions import describe
from graphscope.debugger.results import Place, Raised
from graphscope.eventlog.schema import Kind

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Event
    from graphscope.graph import Graph

UNKNOWN = "no exception was recorded"


@dataclass(frozen=True, slots=True)
class Failure:
    """How a program failed."""

    row: int
    """The node that raised, or the last one ahead of the exception."""
    raised: Raised


def failure_of(
    graph: Graph, died: Mapping[FrameType, int], error: BaseException | None = None, otherwise: str = UNKNOWN
) -> Failure:
    """The failure that a log tells of.

    Args:
        graph: All that is recorded.
        died: The frames that the exception left, outermost first, with their lines; empty where they are gone.
        error: What failed, where the log does not tell.
        otherwise: What is said where nobody knows of an exception.
    """
    raised = graph.log.marks(Kind.EXCEPTION)
    mark = graph.log.event(int(raised[-1])) if len(raised) else None
    return _failure(graph, mark, died, error, otherwise)


def failure_at(graph: Graph, row: int) -> Failure:
    """The exception that the mark at a row tells of; the program may have caught it."""
    return _failure(graph, graph.index.event(row), {}, None, UNKNOWN)


def _failure(
    graph: Graph, mark: Event | None, died: Mapping[FrameType, int], error: BaseException | None, otherwise: str
) -> Failure:
    log = graph.log
    failed = [row for row, _ in mark.inputs] if mark is not None else []
    end = log.end if mark is None else mark.row
    row = failed[0] if failed else next(nodes.backward(log, log.first, end), log.first - 1)
    attrs = {} if mark is None else log.attrs(mark.attrs)
    kind, text = str(attrs.get("type", "")), str(attrs.get("text", ""))
    if not kind:
        kind, text = ("", otherwise) if error is None else describe(error).partition(": ")[::2]
    return Failure(row, Raised(kind, text, _place(graph, mark, died), by_node=bool(failed)))


def _place(graph: Graph, mark: Event | None, died: Mapping[FrameType, int]) -> Place | None:
    site = None if mark is None else graph.log.site(mark.site)
    if mark is not None and site is not None:
        return Place(site.file, site.line, site.function, graph.names.source_line(mark.site))
    return None if not died else frames.describe(*list(died.items())[-1]).place
