"""tfdbg's words about source files: which made nodes, and which line made which."""

from __future__ import annotations

import re
from typing import Annotated

from graphscope.debugger import nodes
from graphscope.debugger.command_table import Flag, command
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.frames import same_file
from graphscope.debugger.results import Listing, TableResult
from graphscope.errors import CommandError


@command("ps", "print_source", group="tensors", to_file=True)
def print_source(
    dbg: Debugger,
    file: str = "",
    *,
    line: Annotated[int, Flag("-b", "--line_begin")] = 1,
    tensors: Annotated[bool, Flag("-t")] = False,
    most: Annotated[int, Flag("-m", "--max_elements_per_line")] = 4,
) -> Listing:
    """Print a source file with the nodes that each line made, from line `-b` on; `-t` names their tensors.

    Of the nodes of a line so many are named as `-m` says.
    """
    known = [str(entry.get("file")) for entry in dbg.log.table("sources") if isinstance(entry, dict)]
    place = dbg.place()
    shown = "" if place is None else place.file
    path = next((name for name in known if same_file(name, file)), None) if file else shown or None
    text = dbg.log.source(path) if path is not None else None
    if path is None or text is None:
        raise CommandError(
            f"The source of {file or 'this line'} was not recorded", f"recorded: {', '.join(known) or 'none'}"
        )
    lines = text.splitlines()
    made: dict[int, dict[str, None]] = {}
    for row in nodes.forward(dbg.log, dbg.log.first, dbg.now + 1):
        site = dbg.log.site(dbg.log.event(row).site)
        if site is not None and site.file == path and site.line >= line:
            named = f"{dbg.graph.node(row).name or '#' + str(row)}:0" if tensors else f"#{row}"
            made.setdefault(site.line, {})[named] = None
    notes = tuple((number, _shortened(list(rows), most)) for number, rows in sorted(made.items()))
    place = dbg.place()
    here = place.line if place is not None and place.file == path else None
    return Listing(path, max(line, 1), tuple(lines[max(line, 1) - 1 :]), here, notes=notes)


@command("ls", "list_source", group="tensors", to_file=True)
def list_source(
    dbg: Debugger,
    *,
    path: Annotated[str, Flag("-p", "--path_filter")] = "",
    name: Annotated[str, Flag("-n", "--node_name_filter")] = "",
) -> TableResult:
    """List the source files that made nodes: how many, and from which line on; `-p` and `-n` match path and name."""
    paths, names = _pattern(path), _pattern(name)
    made: dict[str, list[int]] = {}
    for row in nodes.forward(dbg.log, dbg.log.first, dbg.now + 1):
        site = dbg.log.site(dbg.log.event(row).site)
        if site is not None and paths.match(site.file) and (not name or names.match(dbg.graph.node(row).name)):
            made.setdefault(site.file, []).append(site.line)
    rows = tuple((file, len(lines), len(set(lines)), min(lines)) for file, lines in sorted(made.items()))
    return TableResult(("file", "nodes", "lines", "first line"), rows, note="" if rows else "none")


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise CommandError(f"{text!r} is no regular expression: {error}") from None


def _shortened(rows: list[str], most: int) -> str:
    return " ".join(rows) if len(rows) <= most else f"{rows[0]} {rows[1]} .. {rows[-1]} ({len(rows)})"
