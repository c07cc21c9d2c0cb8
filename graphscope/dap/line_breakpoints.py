"""Breakpoints at lines that made no node: the client is informed, rather than to wonder why nothing stopped there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from graphscope.graph.select import Line

if TYPE_CHECKING:
    from graphscope.debugger.breakpoints import Breakpoint
    from graphscope.eventlog.reader import Log


def why_unmet(log: Log, wanted: Line) -> str:
    """Why nothing stops at a line of a log; empty if nodes were made there."""
    sites = (log.site(number + 1) for number in range(len(log.table("sites"))))
    lines = {site.line for site in sites if site is not None and wanted.is_in(site.file)}
    if wanted.number in lines:
        return ""
    name = Path(wanted.file).name
    if not lines:
        return f"{name}:{wanted.number} made no node, nor did any other line of that file"
    nearest = min(lines, key=lambda line: abs(line - wanted.number))
    return f"{name}:{wanted.number} made no node itself; the nearest line that did is {nearest}"


def unmet(log: Log, breakpoints: Iterable[Breakpoint]) -> Iterator[tuple[int, str]]:
    """Of breakpoints at lines, the numbers of those that nothing could stop at, and why."""
    for found in breakpoints:
        lines = () if found.selector is None else found.selector.lines
        if lines and (reason := why_unmet(log, lines[0])):
            yield found.number, reason
