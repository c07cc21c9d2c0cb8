"""The command that opens a node: what it computes inside."""

from __future__ import annotations

from graphscope.debugger import value_results
from graphscope.debugger.command_table import Rest, command
from graphscope.debugger.commands.graph import title
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.results import TableResult, ValueResult
from graphscope.errors import CommandError
from graphscope.eventlog.presenting import presented


@command("inside", group="looking")
def inside(dbg: Debugger, spec: Rest = "") -> TableResult | ValueResult:
    """Show what a node computes inside: the generated graph of a compiled region, forward or backward, with its lines.

    Of a fused op (attention, an LSTM, a norm, a loss) these are its parts: weights, gates, statistics, recomputed from
    the inputs that were recorded. `inside #12 weights` prints one of them.
    """
    # With all of comparing: not ahead of a first look.
    from graphscope.debugger.node_inside import inside_table, parts_of

    number, _, part = spec.partition(" ") if spec.startswith("#") else (spec, "", "")
    node = dbg.chosen(number)
    if not part.strip():
        return inside_table(node, title(node))
    parts = parts_of(node, title(node))
    if part.strip() not in parts:
        raise CommandError(f"{title(node)} has no part {part.strip()!r}", f"its parts: {', '.join(parts)}")
    value, _ = parts[part.strip()]
    return value_results.result(f"{part.strip()} of {title(node)}", presented(dbg.log.path, value, str(value.dtype)))
