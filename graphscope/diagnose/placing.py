"""Where a finding is: its training step, and the line of the program with what is meant of it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.finding import Finding, Row
from graphscope.errors import LogError
from graphscope.eventlog.names import place_of
from graphscope.graph.step_marks import step_ends
from graphscope.graph.step_numbers import step_numbers

if TYPE_CHECKING:
    from graphscope.graph import Graph, Node


def placed(graph: Graph, found: Finding) -> Finding:
    """A finding with its training step, and the line of the program that it names."""
    if not found.file and graph.log.first <= found.row < graph.log.end:
        file, line = place_of(graph.log.site(graph.log.event(found.row).site))
        found = replace(found, file=file, line=line)
    if found.step:  # of a step that the log has no rows of, it says so itself
        return _with_source(graph, _plain(found))
    first = found.row if found.first_row is None else found.first_row
    numbers = step_numbers(graph.log)
    step = numbers.title(first)
    count = numbers.count_at(first) if len(step_ends(graph.log)) else None
    return _with_source(graph, replace(_plain(found), first_step=count, step=step))


def _with_source(graph: Graph, found: Finding) -> Finding:
    """A finding with the line of the program that it names."""
    text = graph.log.source(found.file) if found.file else None
    lines = [] if text is None else text.splitlines()
    if not 0 < found.line <= len(lines):
        return found
    source = lines[found.line - 1]
    return replace(found, source=source, columns=_columns(_node(graph, found), found, source))


def _node(graph: Graph, found: Finding) -> Node | None:
    try:
        return None if found.node is None else graph.node(found.node)
    except LogError:
        return None


def _columns(node: Node | None, found: Finding, source: str) -> tuple[int, int]:
    """What of a line a node was computed by; sites count bytes."""
    site = None if node is None else node.site
    if site is None or (site.file, site.line) != (found.file, found.line) or site.end_line != site.line:
        return (0, 0)
    start, end = (len(source.encode()[:column].decode(errors="ignore")) for column in (site.column, site.end_column))
    taken = _TAKING.match(source, end) if found.cause == "left the graph" else None
    return (start, end) if taken is None else taken.span()


_TAKING: Final = re.compile(r"\.(item|tolist|numpy)\(\)")
"""What takes plain numbers of a result, behind the expression that makes it."""


def _plain(found: Finding) -> Finding:
    """A finding whose evidence are numbers of Python's, whatever a check has measured with."""
    plain = {
        name: value if isinstance(value, Row) else np.asarray(value).item() for name, value in found.evidence.items()
    }
    return replace(found, evidence=plain)
