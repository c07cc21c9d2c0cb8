"""Lines where one can stop, and those where nothing does: the client is informed, rather than to wonder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from graphscope.debugger.source_blocks import first_lines
from graphscope.graph.select import Line

if TYPE_CHECKING:
    from graphscope.debugger.breakpoints import Breakpoint
    from graphscope.eventlog.reader import Log


def statements(log: Log, file: str) -> dict[int, int]:
    """For each line of a file, the line where its statement begins; nothing where the text is not known."""
    text = log.source(file)
    if text is None:
        try:
            text = Path(file).read_text(encoding="utf-8")
        except (OSError, ValueError):
            return {}
    return first_lines(text)


def line_to_stop_at(log: Log, file: str, line: int) -> int | None:
    """The line itself where it belongs to a statement, else that of the next one; None behind the last.

    In a file whose text is not known, it is the line itself.
    """
    known = statements(log, file)
    return line if not known or line in known else min((each for each in known if each > line), default=None)


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
