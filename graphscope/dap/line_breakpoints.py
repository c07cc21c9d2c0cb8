"""Breakpoints at lines that made no node: one is told so, rather than to wonder why nothing stopped there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from graphscope.graph.select import at_line

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

LINES_OF: Final = "lines of "
"""Begins the name of a group of breakpoints; the path of the file follows."""


def lines_of(log: Log, path: str) -> set[int]:
    """The lines of a file that made nodes."""
    sites = (log.site(number + 1) for number in range(len(log.table("sites"))))
    return {site.line for site in sites if site is not None and at_line(site.file, site.line, f"{path}:{site.line}")}


def why_unmet(log: Log, path: str, line: int) -> str:
    """Why nothing stops at a line of a log; empty if nodes were made there."""
    lines = lines_of(log, path)
    if line in lines:
        return ""
    name = Path(path).name
    if not lines:
        return f"{name}:{line} made no node, nor did any other line of that file"
    return (
        f"{name}:{line} made no node itself; the nearest line that did is {min(lines, key=lambda at: abs(at - line))}"
    )


def unmet(log: Log, groups: Mapping[str, Mapping[Any, int]]) -> Iterator[tuple[int, str]]:
    """Of all breakpoints at lines, the numbers of those that nothing could stop at, and why."""
    for group, numbers in groups.items():
        if group.startswith(LINES_OF):
            for wanted, number in numbers.items():
                line = int(wanted.spec.rpartition(":")[2])
                if reason := why_unmet(log, group.removeprefix(LINES_OF), line):
                    yield number, reason
