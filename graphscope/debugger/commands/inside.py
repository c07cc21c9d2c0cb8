"""What a node computes inside: the graph that a compiler generated for it, or the parts of a fused op, recomputed."""

from __future__ import annotations

from graphscope.compare.expansions import expand
from graphscope.debugger import value_results
from graphscope.debugger.command_table import Rest, command
from graphscope.debugger.commands.graph import shape_text, title
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.results import Cell, TableResult, ValueResult
from graphscope.errors import CommandError
from graphscope.eventlog.generated import GeneratedGraph
from graphscope.eventlog.names import place_of, short_place
from graphscope.eventlog.presenting import presented
from graphscope.graph import Node


@command("inside", group="looking")
def inside(dbg: Debugger, spec: Rest = "") -> TableResult | ValueResult:
    """Show what a node computes inside: the generated graph of a compiled region, forward or backward, with its lines.

    Of a fused op (attention, an LSTM, a norm, a loss) these are its parts: weights, gates, statistics, recomputed from
    the inputs that were recorded. `inside #12 weights` prints one of them.
    """
    number, _, part = spec.partition(" ") if spec.startswith("#") else (spec, "", "")
    node = dbg.chosen(number)
    generated = dbg.log.generated(_owner(node).event.op)
    if generated is None:
        return _parts(dbg, node, part.strip())
    if node.kind != "grad":
        return _table(dbg, generated.forward, f"{title(node)}: generated in compilation {generated.compilation}")
    if generated.backward is None:
        raise CommandError(
            f"What was generated for {title(node)} is not in the log",
            "this version of PyTorch does not tell it, or took it from its cache of compiled code",
        )
    return _table(dbg, generated.backward, f"{title(node)}: generated in compilation {generated.compilation}")


def _owner(node: Node) -> Node:
    return node if node.forward is None else node.forward


def _table(dbg: Debugger, graph: GeneratedGraph, heading: str) -> TableResult:
    rows: list[tuple[Cell, ...]] = []
    for place, node in enumerate(graph.nodes):
        sizes = "" if node.shape is None else "x".join(map(str, node.shape)) or "scalar"
        line = short_place(*place_of(dbg.log.site(node.site) if node.site else None))
        mark = "out" if place in graph.outputs else "" if node.op else "in"
        rows.append((mark, node.name, graph.text(node), sizes, node.dtype, line if node.op else ""))
    return TableResult(("", "name", "call", "shape", "dtype", "line"), tuple(rows), title=heading)


def _parts(dbg: Debugger, node: Node, part: str) -> TableResult | ValueResult:
    owner = _owner(node)
    found = expand(owner)
    if found is None:
        raise CommandError(
            f"{title(owner)} has no parts that are known here, or they can't be recomputed",
            "parts are those of fused ops (attention, recurrent layers, norms, losses) whose inputs were kept; with "
            "dropout they come out otherwise",
        )
    if part:
        chosen = [each for each in found if each.label == part]
        if not chosen:
            raise CommandError(
                f"{title(owner)} has no part {part!r}", f"its parts: {', '.join(each.label for each in found)}"
            )
        value = presented(dbg.log.path, chosen[-1].value, str(chosen[-1].value.dtype))
        return value_results.result(f"{part} of {title(owner)}, recomputed", value)
    rows = tuple(
        (each.label, shape_text(each.value.shape), str(each.value.dtype), _constants(each.constants),
         value_results.brief(each.value))
        for each in found
    )  # fmt: skip
    heading = f"{title(owner)}: recomputed from its recorded inputs"
    return TableResult(("part", "shape", "dtype", "with", "value"), rows, title=heading)


def _constants(constants: object) -> str:
    return ", ".join(f"{name}={value}" for name, value in dict(constants).items())  # type: ignore[call-overload]
