"""tfdbg's words: lists of tensors, what one is and holds, which lines made them."""

from __future__ import annotations

import math
import re
from itertools import islice
from typing import Annotated, Final

from graphscope.debugger import nodes, tensor_filters, value_results
from graphscope.debugger.command_table import Flag, Rest, command
from graphscope.debugger.commands.graph import line_of, node_table, row_of, shape_text, title
from graphscope.debugger.commands.printing import evaluate
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.frames import same_file
from graphscope.debugger.results import Listing, Message, TableResult, ValueResult
from graphscope.errors import CommandError
from graphscope.graph import Node

_LONGEST: Final = 200
_SLICE: Final = re.compile(r"(?P<node>#\d+|[\w./-]+(?::[\w./*-]+)?)\s*(?P<slice>\[.*\])?", re.DOTALL)
_SORTS: Final = {
    "timestamp": lambda node: node.row,
    "name": lambda node: node.name,
    "op": lambda node: node.op,
    "size": lambda node: math.prod(node.shape),
    "duration": lambda node: node.duration,
}


@command("lt", "list_tensors", group="tensors")
def list_tensors(
    dbg: Debugger,
    spec: Rest = "",
    *,
    filter: Annotated[str, Flag("-f")] = "",
    name: Annotated[str, Flag("-n")] = "",
    op: Annotated[str, Flag("-t")] = "",
    sort: Annotated[str, Flag("-s")] = "timestamp",
    reverse: Annotated[bool, Flag("-r")] = False,
) -> TableResult:
    """List the tensors up to now: all, those of a SPEC, or `-f has_inf_or_nan`; `-n` and `-t` match name and op.

    `-s` sorts by timestamp, name, op, size or duration, `-r` turns the order round.
    """
    if sort not in _SORTS:
        raise CommandError(f"`lt` can't sort by {sort!r}", f"-s takes {', '.join(_SORTS)}")
    wanted = tensor_filters.wanted(filter, name, op)
    if not (spec or filter or name or op or reverse) and sort == "timestamp":  # a long log need not be walked through
        count = nodes.count(dbg.log, dbg.now + 1)
        newest = islice(nodes.backward(dbg.log, dbg.log.first, dbg.now + 1), _LONGEST)
        found = [dbg.graph.node(row) for row in newest][::-1]
    else:
        every = nodes.forward(dbg.log, dbg.log.first, dbg.now + 1)
        candidates = dbg.graph.select(spec) if spec else map(dbg.graph.node, every)
        found = sorted((node for node in candidates if wanted(node)), key=_SORTS[sort], reverse=reverse)
        count = len(found)
    rows = tuple((*row_of(node), value_results.brief_of(node)) for node in found[-_LONGEST:])
    hidden = count - len(rows)
    note = (
        f"{hidden} ahead of these are left out; a SPEC or -n narrows the list"
        if hidden
        else ""
        if rows
        else "No tensors up to now"
    )
    return TableResult(
        ("node", "op", "name", "shape", "dtype", "pass", "line", "value"),
        rows,
        title=f"{count} tensors",
        note=note,
    )


@command("ni", "node_info", group="tensors")
def node_info(
    dbg: Debugger, spec: Rest = "", *, traceback: Annotated[bool, Flag("-t")] = False
) -> TableResult | Listing:
    """Tell all of a node: `ni h`; with `-t`, show the line that made it among those around it."""
    chosen = dbg.chosen(spec)
    if not traceback:
        return node_table(dbg, chosen)
    site = chosen.site
    text = dbg.log.source(site.file) if site is not None else None
    if site is None or text is None:
        raise CommandError(f"The line that made {title(chosen)} was not recorded", f"ni {spec} tells the rest")
    first = max(site.line - 3, 1)
    return Listing(
        site.file, first, tuple(text.splitlines()[first - 1 : site.line + 2]), site.line,
        notes=((site.line, title(chosen)),),
    )  # fmt: skip


@command("li", "list_inputs", group="tensors")
def list_inputs(
    dbg: Debugger,
    spec: Rest = "",
    *,
    recursive: Annotated[bool, Flag("-r")] = False,
    depth: Annotated[int, Flag("-d")] = 20,
) -> TableResult:
    """List the inputs of a node; `-r` theirs too, down to `-d` levels."""
    chosen = dbg.chosen(spec)
    return _tree(chosen, dbg.graph.ancestors(chosen, depth=depth if recursive else 1), "inputs")


@command("lo", "list_outputs", group="tensors")
def list_outputs(
    dbg: Debugger,
    spec: Rest = "",
    *,
    recursive: Annotated[bool, Flag("-r")] = False,
    depth: Annotated[int, Flag("-d")] = 20,
) -> TableResult:
    """List the users of a node; `-r` theirs too, down to `-d` levels."""
    chosen = dbg.chosen(spec)
    return _tree(chosen, dbg.graph.descendants(chosen, depth=depth if recursive else 1), "users")


@command("pt", "print_tensor", group="tensors")
def print_tensor(
    dbg: Debugger, tensor: Rest = "", *, summary: Annotated[bool, Flag("-s")] = False
) -> ValueResult | Message:
    """Print a tensor of the log, or a slice of it: `pt h[0:3]`, `pt #12`; `-s` its statistics alone."""
    found = _SLICE.fullmatch(tensor.strip()) if tensor else None
    if tensor and found is None:
        raise CommandError(f"{tensor!r} names no tensor", "pt NAME, pt #12, pt NAME[0:3]")
    node = dbg.chosen(found["node"] if found else "")
    value = node.value
    if value is None:
        if (statistics := value_results.kept_statistics(node)) is None:
            return Message(
                f"The value of {title(node)} was not kept", hint="record with values='full' and a larger cap"
            )
        return value_results.statistics_alone(tensor or title(node), node, statistics)
    if found and found["slice"]:
        value = evaluate(dbg, f"nodes[{node.row}]{found['slice']}")
    made = value_results.result(tensor or title(node), value)
    if summary:
        return ValueResult(made.expression, "", made.type, made.shape, made.dtype, made.statistics)
    return made


@command("ps", "print_source", group="tensors")
def print_source(dbg: Debugger, file: str = "", *, line: Annotated[int, Flag("-b")] = 1) -> Listing:
    """Print a source file with the nodes that each line made, from line `-b` on."""
    known = [str(entry.get("file")) for entry in dbg.log.table("sources") if isinstance(entry, dict)]
    path = next((name for name in known if same_file(name, file)), None) if file else dbg.current_file()
    text = dbg.log.source(path) if path is not None else None
    if path is None or text is None:
        raise CommandError(
            f"The source of {file or 'this line'} was not recorded", f"recorded: {', '.join(known) or 'none'}"
        )
    lines = text.splitlines()
    made: dict[int, list[str]] = {}
    for row in nodes.forward(dbg.log, dbg.log.first, dbg.now + 1):
        site = dbg.log.site(dbg.log.event(row).site)
        if site is not None and site.file == path:
            made.setdefault(site.line, []).append(f"#{row}")
    notes = tuple((number, _shortened(rows)) for number, rows in sorted(made.items()) if number >= line)
    place = dbg.place()
    here = place.line if place is not None and place.file == path else None
    return Listing(path, max(line, 1), tuple(lines[max(line, 1) - 1 :]), here, notes=notes)


def _shortened(rows: list[str]) -> str:
    return " ".join(rows) if len(rows) <= 4 else f"{rows[0]} {rows[1]} .. {rows[-1]} ({len(rows)})"


def _tree(chosen: Node, found: list[Node], what: str) -> TableResult:
    rows = tuple((f"#{node.row}", node.label, node.name, shape_text(node.shape), line_of(node)) for node in found)
    return TableResult(
        ("node", "op", "name", "shape", "line"), rows, title=f"{what} of {title(chosen)}", note="" if rows else "none"
    )
