"""tfdbg's words about one node: all that is known of it, what it is given, what is made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Final

from graphscope.debugger import value_results
from graphscope.debugger.command_table import Flag, Rest, command
from graphscope.debugger.commands.graph import line_of, node_table, shape_text, title
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.results import Cell, Listing, TableResult
from graphscope.debugger.session_runs import SessionRun, reached, rows_of, run_at
from graphscope.errors import CommandError
from graphscope.graph import Node

_LEVELS: Final = 20
"""How far recursion goes unless it is told otherwise, as in tfdbg."""


@command("ni", "node_info", group="tensors", to_file=True)
def node_info(
    dbg: Debugger,
    spec: Rest = "",
    *,
    attributes: Annotated[bool, Flag("-a")] = False,
    dumps: Annotated[bool, Flag("-d")] = False,
    traceback: Annotated[bool, Flag("-t")] = False,
) -> TableResult | Listing:
    """Tell all of a node: `ni h`; with `-a` each of its attributes, with `-d` all times that it was computed.

    `-t` alone shows the line that made it among those around it.
    """
    chosen = dbg.chosen(spec)
    if traceback and not (attributes or dumps):
        return _line_around(dbg, chosen, spec)
    told = node_table(dbg, chosen)
    rows: list[tuple[Cell, ...]] = list(told.rows)
    if attributes:
        given = [(f"attribute {name}", text) for name, text in chosen.constants]
        rows += given or [("attributes", "none")]
    if dumps:
        rows += [_dump(each) for each in (rows_of(dbg.graph, chosen.name, dbg.now) if chosen.name else [chosen])]
    if traceback:
        rows.append(("traceback", f"{line_of(chosen)} -> {chosen.source_line}"))
    return TableResult(told.columns, tuple(rows), title=told.title, note=told.note)


def _dump(node: Node) -> tuple[Cell, ...]:
    outputs = ", ".join(f"{shape_text(shape)} {dtype}" for shape, dtype in node.outputs)
    return (f"dump #{node.row}", f"{outputs}: {value_results.brief_of(node)}")


def _line_around(dbg: Debugger, chosen: Node, spec: str) -> Listing:
    site = chosen.site
    text = dbg.log.source(site.file) if site is not None else None
    if site is None or text is None:
        raise CommandError(f"The line that made {title(chosen)} was not recorded", f"ni {spec} tells the rest")
    first = max(site.line - 3, 1)
    lines = tuple(text.splitlines()[first - 1 : site.line + 2])
    return Listing(site.file, first, lines, site.line, notes=((site.line, title(chosen)),))


@command("li", "list_inputs", group="tensors", to_file=True)
def list_inputs(
    dbg: Debugger,
    spec: Rest = "",
    *,
    control: Annotated[bool, Flag("-c")] = False,
    recursive: Annotated[bool, Flag("-r")] = False,
    depth: Annotated[int, Flag("-d")] = _LEVELS,
) -> TableResult:
    """List the inputs of a node; `-r` theirs too, down to `-d` levels; `-c` also the ops that it waits for."""
    chosen = dbg.chosen(spec)
    found = dbg.graph.ancestors(chosen, depth=depth if recursive else 1)
    return _listed(dbg, chosen, found, found if recursive else [], _ahead if control else None, "inputs")


@command("lo", "list_outputs", group="tensors", to_file=True)
def list_outputs(
    dbg: Debugger,
    spec: Rest = "",
    *,
    control: Annotated[bool, Flag("-c")] = False,
    recursive: Annotated[bool, Flag("-r")] = False,
    depth: Annotated[int, Flag("-d")] = _LEVELS,
) -> TableResult:
    """List the users of a node; `-r` theirs too, down to `-d` levels; `-c` also the ops that wait for it."""
    chosen = dbg.chosen(spec)
    found = dbg.graph.descendants(chosen, depth=depth if recursive else 1)
    return _listed(dbg, chosen, found, found if recursive else [], _behind if control else None, "users")


_Names = Callable[[SessionRun, str], Iterable[str]]


def _ahead(run: SessionRun, name: str) -> Iterable[str]:
    planned = run.op(name)
    return () if planned is None else planned.controls


def _behind(run: SessionRun, name: str) -> Iterable[str]:
    return [each.name for each in run.controlled_by(name)]


def _waits(dbg: Debugger, whose: Iterable[Node], names: _Names) -> list[tuple[Cell, ...]]:
    """The ops that are joined to nodes by order alone, as rows of a table."""
    run = run_at(dbg.log, dbg.now)
    known = reached(dbg.graph, run, dbg.now)
    rows: list[tuple[Cell, ...]] = []
    for name in dict.fromkeys(name for node in whose for name in names(run, node.name)):
        node, planned = known.get(name), run.op(name)
        if node is not None:
            rows.append((f"#{node.row}", f"(control) {node.op}", name, shape_text(node.shape), line_of(node)))
        else:
            rows.append(("", f"(control) {planned.type if planned is not None else ''}", name, "", ""))
    return rows


def _listed(
    dbg: Debugger, chosen: Node, found: list[Node], further: list[Node], names: _Names | None, what: str
) -> TableResult:
    """What was found around a node, and what is joined to it, and to those further on, by order alone."""
    rows: list[tuple[Cell, ...]] = [
        (f"#{node.row}", node.label, node.name, shape_text(node.shape), line_of(node)) for node in found
    ]
    if names is not None:
        rows += _waits(dbg, [chosen, *further], names)
    columns = ("node", "op", "name", "shape", "line")
    return TableResult(columns, tuple(rows), title=f"{what} of {title(chosen)}", note="" if rows else "none")
