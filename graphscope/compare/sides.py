"""A node as people are told of it: with the line of their own program, never one of a library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphscope.compare.difference import Side
from graphscope.eventlog.names import place_of
from graphscope.eventlog.schema import Flag
from graphscope.graph.callers import callers
from graphscope.graph.step_numbers import step_numbers
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.eventlog.names import Site
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node


def side(node: Node, part: str = "") -> Side:
    """A node as one of the two runs has it.

    Args:
        node: The node.
        part: Which part of what it computes is meant.
    """
    file, line = place_of(made_at(node) or own_site(node))
    source = source_line(node.graph.log, file, line)
    step = step_numbers(node.graph.log).title(node.row)
    return Side(node.row, node.op, node.name, file, line, source, node.scope, node.shape, node.dtype, part, step)


def source_line(log: Log, file: str, line: int) -> str:
    """A line of a program as the log has it; empty where it has not."""
    lines = (log.source(file) or "").splitlines() if file else []
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""


def made_at(node: Node) -> Site | None:
    """Of a parameter the line that made the module which it belongs to; None where the log does not tell it."""
    if node.kind != "leaf" or not node.flags & Flag.PARAMETER:
        return None
    for module in training(node.graph.log).modules.values():
        for name, tensor in module.parameters.items():
            if tensor == node.tensor:
                return node.graph.log.site(module.sites.get(name.rpartition(".")[0], 0))
    return None


def own_site(node: Node) -> Site | None:
    """The line of the program: of a place in a library the one that led to it."""
    site, log = node.site, node.graph.log
    if site is None or not site.caller:
        return site
    within = (each for each in callers(log, node.row).lines if not each.caller and each != site)
    return next(within, log.site(site.caller) or site)
