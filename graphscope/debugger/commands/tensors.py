"""tfdbg's words about tensors: which there are, and what one holds."""

from __future__ import annotations

import math
import re
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np

from graphscope.debugger import expression_names, nodes, number_ranges, tensor_filters, value_results
from graphscope.debugger.command_table import Flag, Rest, command
from graphscope.debugger.commands.graph import row_of, title
from graphscope.debugger.commands.printing import evaluate
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.results import Message, TableResult, ValueResult
from graphscope.debugger.session_runs import rows_of
from graphscope.errors import CommandError
from graphscope.eventlog.schema import DTYPE_CODES, ELEMENTS
from graphscope.eventlog.values import advice
from graphscope.graph import Node

_LONGEST: Final = 200
_SLICE: Final = re.compile(r"(?P<node>#\d+|[\w./-]+(?::[\w./*-]+)?)\s*(?P<slice>\[.*\])?", re.DOTALL)


def _size(node: Node) -> int:
    """Bytes of all outputs of a node."""
    return sum(math.prod(shape) * ELEMENTS[DTYPE_CODES[dtype]].itemsize for shape, dtype in node.outputs if dtype)


_SORTS: Final = {
    "timestamp": lambda node: node.row,
    "dump_size": _size,
    "op_type": lambda node: node.op,
    "tensor_name": lambda node: node.name,
    "size": lambda node: math.prod(node.shape),
    "op": lambda node: node.op,
    "name": lambda node: node.name,
    "duration": lambda node: node.duration,
}
"""What tensors are sorted by; the first four are tfdbg's."""


@command("lt", "list_tensors", group="tensors", to_file=True)
def list_tensors(
    dbg: Debugger,
    spec: Rest = "",
    *,
    filter: Annotated[str, Flag("-f", "--tensor_filter")] = "",
    name: Annotated[str, Flag("-n", "--node_name_filter")] = "",
    op: Annotated[str, Flag("-t", "--op_type_filter")] = "",
    sort: Annotated[str, Flag("-s", "--sort_by")] = "timestamp",
    reverse: Annotated[bool, Flag("-r")] = False,
    excluded: Annotated[str, Flag("-fenn", "--filter_exclude_node_names")] = "",
) -> TableResult:
    """List the tensors up to now: all, those of a SPEC, or `-f has_inf_or_nan`; `-n` and `-t` match name and op.

    The expressions of `-n` and `-t` match from the beginning on: `-n .*loss`. `-fenn` leaves names out of a filter.
    `-s` sorts by timestamp, dump_size, op_type, tensor_name, size, op, name or duration, `-r` turns the order round.
    """
    if sort not in _SORTS:
        raise CommandError(f"`lt` can't sort by {sort!r}", f"-s takes {', '.join(_SORTS)}")
    wanted = tensor_filters.wanted(filter, name, op, excluded)
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


@command("pt", "print_tensor", group="tensors", to_file=True)
def print_tensor(
    dbg: Debugger,
    tensor: Rest = "",
    *,
    summary: Annotated[bool, Flag("-s", "--numeric_summary")] = False,
    ranges: Annotated[str, Flag("-r")] = "",
    whole: Annotated[bool, Flag("-a", "--all")] = False,
    number: Annotated[int, Flag("-n")] = -1,
    write_path: Annotated[str, Flag("-w")] = "",
) -> ValueResult | Message:
    """Print a tensor of the log, or a slice of it: `pt h[0:3]`, `pt #12`, `pt split:1`; `-s` its statistics alone.

    `-r [0,1]` or `-r [[-inf,-1],[1,inf]]` marks the elements that lie there, `-a` prints all of them, `-n 2` the tensor
    of that name that was made third, `-w FILE` writes it as a .npy file.
    """
    found = _SLICE.fullmatch(tensor.strip()) if tensor else None
    if tensor and found is None:
        raise CommandError(f"{tensor!r} names no tensor", "pt NAME, pt #12, pt NAME[0:3]")
    named = found["node"] if found else ""
    node, slot = expression_names.slot_of(dbg.graph, named) if named else (dbg.chosen(""), 0)
    if number >= 0:
        node = _numbered(dbg, node, number)
    value = node.output(slot)
    if value is None:
        if (statistics := value_results.kept_statistics(node)) is None:
            return Message(f"The value of {title(node)} was not kept", hint=advice(node.outputs[slot][1]))
        return value_results.statistics_alone(tensor or title(node), node, statistics)
    if found and found["slice"]:
        value = evaluate(dbg, f"nodes[{node.row}].output({slot}){found['slice']}")
    if write_path:
        return _written(value, write_path)
    made = value_results.result(tensor or title(node), value)
    if summary:
        return ValueResult(made.expression, "", made.type, made.shape, made.dtype, made.statistics)
    if ranges or whole:
        text = number_ranges.marked(np.asarray(value), number_ranges.read(ranges), whole=whole)
        return ValueResult(made.expression, text, made.type, made.shape, made.dtype, made.statistics)
    return made


def _numbered(dbg: Debugger, node: Node, number: int) -> Node:
    """Of all nodes of a node's name, the one of a number, counted from 0."""
    known = rows_of(dbg.graph, node.name, dbg.now)
    if number >= len(known):
        raise CommandError(f"{node.name or title(node)} was made {len(known)} times up to now", "-n counts from 0")
    return known[number]


def _written(value: Any, path: str) -> Message:
    array = np.asarray(value)
    try:
        with Path(path).expanduser().open("wb") as file:
            np.save(file, array)
    except OSError as error:
        raise CommandError(f"can't write to {path}: {error.strerror or error}") from None
    return Message(f"{path}: {array.dtype} of shape {array.shape}")
