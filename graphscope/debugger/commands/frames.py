"""Commands about the Python side: frames and source lines."""

from __future__ import annotations

import ast

from graphscope.debugger import frames
from graphscope.debugger.command_table import Rest, command
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.results import Listing, Place, Where
from graphscope.errors import CommandError
from graphscope.eventlog.syntax_trees import module_tree

_AROUND = 5


@command("where", "w", "bt", group="looking")
def where(dbg: Debugger) -> Where:
    """Show the Python frames, the innermost last. In the past and in recorded logs, the lines that were recorded."""
    found = dbg.where()
    if not found.frames:
        raise CommandError("No line of the program is known here")
    return found


@command("up", "u", group="looking")
def up(dbg: Debugger, count: int = 1) -> Where:
    """Go to the frame that called this one."""
    return _walk(dbg, -count, "oldest")


@command("down", "d", group="looking")
def down(dbg: Debugger, count: int = 1) -> Where:
    """Go to the frame that this one called."""
    return _walk(dbg, count, "newest")


@command("list", "l", group="looking")
def list_(dbg: Debugger, lines: Rest = "") -> Listing:
    """Show eleven lines of source around this one; `l 20` around line 20, `l 20, 30` from 20 to 30, `l .` here again.

    `l` alone goes on where the last list ended.
    """
    place = _place(dbg)
    if lines.strip() in ("", "."):
        first = dbg.listed + 1 if dbg.listed and not lines else max(1, place.line - _AROUND)
        last = first + 2 * _AROUND
    else:
        numbers = [part.strip() for part in lines.split(",")]
        if not all(part.isdigit() for part in numbers) or len(numbers) > 2:
            raise CommandError(f"{lines!r} are no lines", "l FIRST, LAST or l LINE")
        first = int(numbers[0]) if len(numbers) == 2 else max(1, int(numbers[0]) - _AROUND)
        last = int(numbers[1]) if len(numbers) == 2 else first + 2 * _AROUND
        last = first + last if last < first else last
    made = _listing(dbg, place, first, last)
    dbg.listed = first + len(made.lines) - 1
    return made


@command("ll", "longlist", group="looking")
def longlist(dbg: Debugger) -> Listing:
    """Show the whole function that holds this line."""
    place = _place(dbg)
    first, last = 1, len(_source(dbg, place.file))
    try:
        tree = module_tree("\n".join(_source(dbg, place.file)))
    except (SyntaxError, ValueError, RecursionError):
        return _listing(dbg, place, first, last)
    for node in ast.walk(tree):
        # The walk goes outside in, so the last function that holds the line is the innermost.
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and _holds(node, place.line):
            first, last = node.lineno, node.end_lineno or node.lineno
    return _listing(dbg, place, first, last)


def _holds(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _walk(dbg: Debugger, count: int, end: str) -> Where:
    found = where(dbg)
    goal = min(max(found.current + count, 0), len(found.frames) - 1)
    if goal == found.current:
        raise CommandError(f"This is the {end} frame")
    dbg.frame_index = goal
    dbg.listed = 0
    return Where((found.frames[goal],), 0)


def _place(dbg: Debugger) -> Place:
    found = dbg.place()
    if found is None:
        raise CommandError("No line of the program is known here", "n goes to the next node")
    return found


def _source(dbg: Debugger, file: str) -> list[str]:
    recorded = dbg.log.source(file)
    text = recorded if recorded is not None else frames.text_of_file(file) if dbg.stack else ""
    lines = text.splitlines()
    if not lines:
        raise CommandError(f"The source of {file} was not recorded")
    return lines


def _listing(dbg: Debugger, place: Place, first: int, last: int) -> Listing:
    lines = _source(dbg, place.file)
    if first > len(lines):
        raise CommandError(f"{place.file} ends at line {len(lines)}", "l . lists around the current line")
    stopping = [line for found in dbg.breakpoints if found.selector is not None for line in found.selector.lines]
    broken = tuple(
        number
        for number in range(first, min(last, len(lines)) + 1)
        if any(line.is_at(place.file, number) for line in stopping)
    )
    return Listing(place.file, first, tuple(lines[first - 1 : last]), place.line, broken)
