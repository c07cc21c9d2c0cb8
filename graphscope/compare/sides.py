"""A node, as people are told of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphscope.compare.difference import Side

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node


def side(node: Node, part: str = "") -> Side:
    """A node as one of the two runs has it, or a part of what it computes."""
    site = node.site
    file, line = ("", 0) if site is None else (site.file, site.line)
    source = source_line(node.graph.log, file, line)
    return Side(node.row, node.op, node.name, file, line, source, node.scope, node.shape, node.dtype, part)


def source_line(log: Log, file: str, line: int) -> str:
    """A line of a program as the log has it; empty where it has not."""
    lines = (log.source(file) or "").splitlines() if file else []
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""
