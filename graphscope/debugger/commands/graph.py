"""Commands about the graph around a node: its inputs, users, gradient, definition."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from graphscope.debugger import expression_names, value_results
from graphscope.debugger.command_table import Rest, command
from graphscope.debugger.commands.breakpoints import breakpoint_table
from graphscope.debugger.commands.watches import display_table, watch_table
from graphscope.debugger.compiler_table import compiler_table
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.nodes import Pending
from graphscope.debugger.results import Bookmark, Cell, Message, TableResult, ValueResult
from graphscope.diagnose import examined
from graphscope.errors import CommandError
from graphscope.eventlog.names import place_of, short_place
from graphscope.eventlog.presenting import presented
from graphscope.eventlog.values import advice
from graphscope.graph import Node, filled, rule_rows
from graphscope.graph.gradients import made_of
from graphscope.graph.quantities import time_text
from graphscope.graph.rule_text import applied

COLUMNS: Final = ("node", "op", "name", "shape", "dtype", "pass", "line")


@command("args", "a", group="looking")
def args(dbg: Debugger) -> TableResult:
    """Show the arguments of the current op: its operands by their names in the op, and its attributes."""
    node = dbg.node
    owner = expression_names.owner_of(node) if node is not None else None
    if owner is None:
        raise CommandError("There is no node here yet", "n goes to the next node")
    if isinstance(owner, Pending):
        given = [(str(place), dbg.graph.node(row)) for place, row in enumerate(owner.input_rows)]
        constants: list[tuple[str, str]] = []
    else:
        given = [(each.name, each.edge.source) for each in owner.operands if each.edge is not None]
        constants = owner.constants
    rows: list[tuple[Cell, ...]] = [
        (name, f"#{source.row}", source.name, shape_text(source.shape), value_results.brief_of(source))
        for name, source in given
    ]
    rows += [(name, "", "", "", text) for name, text in constants]
    note = "" if rows else f"{owner.label} takes no arguments"
    return TableResult(("argument", "node", "name", "shape", "value"), tuple(rows), note=note)


@command("inputs", group="looking")
def inputs(dbg: Debugger, spec: Rest = "") -> TableResult:
    """List the nodes that feed the current node, or the one of a SPEC, and the constants."""
    node = dbg.node
    if not spec and isinstance(node, Pending):
        rows = [dbg.graph.node(row) for row in node.input_rows]
        return TableResult(COLUMNS, tuple(map(row_of, rows)), note="" if rows else "No inputs are recorded yet")
    chosen = dbg.chosen(spec)
    nodes = [row_of(edge.source) for edge in chosen.inputs]
    constants = [("constant", text, name, "", "", "", "") for name, text in _constants(chosen)]
    note = "" if nodes or constants else f"{title(chosen)} has no inputs"
    return TableResult(COLUMNS, (*nodes, *constants), note=note)


def _constants(node: Node) -> list[tuple[str, str]]:
    return node.constants if node.kind in ("op", "leaf") else []


@command("outputs", group="looking")
def outputs(dbg: Debugger, spec: Rest = "") -> TableResult:
    """List the nodes that have used the current node (or the one of a SPEC) up to now."""
    chosen = dbg.chosen(spec)
    rows = [edge.target for edge in chosen.users]
    note = "" if rows else f"Nothing has used {title(chosen)} so far"
    return TableResult(COLUMNS, tuple(map(row_of, rows)), note=note)


@command("grad", group="looking", needs="edge")
def grad(dbg: Debugger, spec: Rest = "") -> ValueResult | Message:
    """Print the gradient of the current node, or of a SPEC, as far as it has arrived up to now."""
    chosen = dbg.chosen(spec)
    value = presented(dbg.log.path, expression_names.grad_of(chosen), chosen.dtype) if spec else dbg.lookup()("grad")
    if value is None:
        came = dbg.graph.backward_of(chosen)
        why = "it was not kept" if made_of(chosen) else "it was cleared" if came else _NOTHING_YET
        return Message(f"{title(chosen)} has no gradient: {why}")
    return value_results.result(f"{chosen.name or title(chosen)}.grad", value)


_NOTHING_YET: Final = "no gradient has reached it up to now"


@command("contributions", group="looking")
def contributions(dbg: Debugger, spec: Rest = "") -> TableResult:
    """List each summand of a gradient: which backward node made it, on which line, and what it is."""
    chosen = dbg.chosen(spec)
    owner = expression_names.owner_of(chosen)
    rows: list[tuple[Cell, ...]] = []
    for found in [] if owner is None else owner.contributions:
        source = found.source
        made = ("", "", "") if source is None else (f"#{source.row}", source.label, line_of(source))
        rows.append((f"#{found.row}", *made, value_results.brief(found.value)))
    note = "" if rows else f"No gradient has reached {title(chosen)} up to now"
    return TableResult(("row", "from", "rule", "line", "value"), tuple(rows), note=note)


@command("path", group="looking")
def path(dbg: Debugger, ends: Rest) -> TableResult:
    """List the nodes on the way from one node to another: `path W loss`; one SPEC alone is the end, from here."""
    words = ends.split()
    if len(words) > 2:
        raise CommandError("`path` takes one or two nodes", "path A B; a SPEC of several words does not fit here")
    first = expression_names.one(dbg.graph, words[0]) if len(words) == 2 else dbg.need_node()
    second = expression_names.one(dbg.graph, words[-1])
    rows = dbg.graph.path(first, second) or dbg.graph.path(second, first)
    note = "" if rows else f"No path leads from {title(first)} to {title(second)}"
    return TableResult(COLUMNS, tuple(map(row_of, rows)), note=note)


@command("source", "formula", group="looking")
def source(dbg: Debugger, spec: Rest = "") -> Message:
    """Show how an op is defined: what it does, its formula, and the rule for the gradient of each input.

    Names and numbers of the program are put in. `formula [2, 3]`, or `formula h [2, 3]`, shows how one element came to
    be: the row and the column that it was made of, with their numbers.
    """
    spec, place = _element_of(spec)
    node = dbg.node
    chosen = dbg.chosen(spec) if spec or not isinstance(node, Pending) else None
    if chosen is None:
        raise CommandError(
            f"{node.op if node else 'It'} is not computed yet", "n computes it; then its formula is known"
        )
    owner = expression_names.owner_of(chosen) or chosen
    while owner.kind == "grad" and owner.forward is not None:  # one of several nodes of a call
        owner = owner.forward
    op = dbg.log.op(owner.event.op)
    if not op.name:
        return Message(f"{title(owner)} is a leaf: no op made it. It appears at {line_of(owner) or 'no known line'}")
    if place is not None:
        return Message(_element_text(owner, place))
    lines = [op.name, *([op.doc] if op.doc else []), *([op.formula] if op.formula else [])]
    known = {"out": owner.computed, "g": owner.grad}
    lines += [f"  {each}" for each in filled.in_formula(owner, known)]
    for each in owner.operands:
        if each.rule:
            rule = applied(owner, each.rule)
            lines.append(f"  grad of {each.name}: {rule}")
            text = filled.in_rule(owner, rule, known)
            lines += [f"    = {text}"] if text else []
    return Message("\n".join(lines))


_ELEMENT: Final = re.compile(r"^(.*?)\s*\[([-\d, ]*)\]$")


def _element_of(spec: str) -> tuple[str, tuple[int, ...] | None]:
    """A SPEC, and the element that is named behind it."""
    found = _ELEMENT.match(spec.strip())
    if found is None:
        return spec, None
    return found[1], tuple(int(each) for each in found[2].split(",") if each.strip())


def _element_text(node: Node, place: tuple[int, ...]) -> str:
    value = node.value
    if value is None:
        raise CommandError(f"the value of {title(node)} was not kept", advice(node.dtype))
    if len(place) != value.ndim or any(
        not -length <= at < length for at, length in zip(place, value.shape, strict=True)
    ):
        raise CommandError(f"{title(node)} is {shape_text(value.shape)}: it has no element {list(place)}")
    row = filled.element(node, tuple(at % length for at, length in zip(place, value.shape, strict=True)))
    if row is None:
        raise CommandError(
            f"how one element of {node.op} comes to be is not known, or its inputs were not kept",
            "`formula` shows the whole",
        )
    made = [row, *rule_rows.of_inputs(node, place)]
    return "\n".join(f"{each.names}\n  = {each.numbers}" for each in made)


@command("info", "i", group="looking")
def info(dbg: Debugger, topic: Rest = "") -> TableResult:
    """Tell all of the current node, or of a SPEC.

    `info breakpoints`, `info watches`, `info displays`, `info checkpoints`, `info findings` (what the doctor finds, up
    to now), `info compile` (what torch.compile compiled, why again, where graphs broke) and `info log`
    tell of those.
    """
    found = TOPICS.get(topic)
    return found(dbg) if found is not None else node_table(dbg, dbg.chosen(topic))


def node_table(dbg: Debugger, node: Node) -> TableResult:
    """All that is known of a node."""
    owner = node.forward
    facts: list[tuple[str, Cell]] = [
        ("node", title(node)),
        ("kind", f"{node.kind}, {node.graph_pass}"),
        ("op", node.op),
        ("formula", node.formula),
        ("name", node.name),
        ("shape", f"{shape_text(node.shape)} {node.dtype}"),
        ("tensor", f"#{node.tensor}, version {node.version}" if node.kind in ("leaf", "op") else ""),
        ("value", value_results.brief_of(node)),
        ("grad", value_results.brief(gradient) if (gradient := node.grad) is not None else ""),
        ("inputs", ", ".join(title(edge.source) for edge in node.inputs)),
        ("used by", ", ".join(title(edge.target) for edge in node.users)),
        ("forward node", title(owner) if owner is not None else ""),
        ("backward nodes", ", ".join(map(title, node.backward))),
        ("constants", ", ".join(f"{name}={text}" for name, text in node.constants)),
        ("line", line_of(node)),
        ("source", node.source_line),
        ("scope", node.scope_title),
        ("hook", str(node.attrs.get("hook", ""))),
        ("duration", time_text(node.duration) if node.duration else ""),
        ("inside", _inside(owner or node)),
    ]
    return TableResult(("what", "value"), tuple((what, value) for what, value in facts if value != ""))


def _inside(node: Node) -> str:
    from graphscope.compare.expansions.table import EXPANSIONS  # with all of comparing: not ahead of a first look

    generated = node.graph.log.generated(node.event.op)
    if generated is not None:
        return (
            f"a graph of {sum(bool(each.op) for each in generated.forward.nodes)} calls, generated: `inside` shows it"
        )
    return "`inside` computes its parts again" if node.kind == "op" and node.op in EXPANSIONS else ""


def title(node: Node) -> str:
    """A node in a few words."""
    return f"#{node.row} {node.label}" + (f" {node.name}" if node.name and node.name != node.label else "")


def row_of(node: Node) -> tuple[Cell, ...]:
    """A node as a row of a table."""
    return (
        f"#{node.row}",
        node.label,
        node.name,
        shape_text(node.shape),
        node.dtype,
        node.graph_pass,
        line_of(node),
    )


def line_of(node: Node) -> str:
    """`file.py:12`, without the folders."""
    return short_place(*place_of(node.site))


def shape_text(shape: tuple[int | str, ...]) -> str:
    """A shape as people write it: `2x3`, `scalar`."""
    return "x".join(map(str, shape)) if shape else "scalar"


def _checkpoint_table(dbg: Debugger) -> TableResult:
    rows = tuple((name, f"#{row}") for name, row in dbg.checkpoints.items())
    items = tuple(Bookmark(name, row) for name, row in dbg.checkpoints.items())
    note = "" if rows else "No checkpoints; `checkpoint` makes one"
    return TableResult(("checkpoint", "row"), rows, note=note, items=items)


def _finding_table(dbg: Debugger) -> TableResult:
    report = examined(dbg.graph.at(dbg.last_row))
    found = [(mark, each) for root in report for mark, each in (("", root), *(("so", so) for so in root.consequences))]
    rows = tuple((mark, each.kind, each.place, each.step, each.verdict) for mark, each in found)
    note = "" if rows else "Nothing was found"
    columns = ("", "finding", "line", "step", "what")
    return TableResult(columns, rows, note=note, items=tuple(each for _, each in found), wrap=True)


def _log_table(dbg: Debugger) -> TableResult:
    log = dbg.log
    facts: list[tuple[str, Cell]] = [
        ("log", str(log.path)),
        ("program", " ".join(map(str, log.metadata.get("argv") or []))),
        ("rows", f"#{log.first} to #{log.end - 1}"),
        ("values", str(log.metadata.get("values", ""))),
        ("finished", log.stopped or ("yes" if log.closed else "no")),
    ]
    return TableResult(("what", "value"), tuple(facts))


TOPICS: Final[dict[str, Callable[[Debugger], TableResult]]] = {
    "breakpoints": breakpoint_table,
    "break": breakpoint_table,
    "b": breakpoint_table,
    "watches": watch_table,
    "watch": watch_table,
    "displays": display_table,
    "display": display_table,
    "checkpoints": _checkpoint_table,
    "findings": _finding_table,
    "log": _log_table,
    "compile": compiler_table,
}
"""What `info` tells beside nodes."""
