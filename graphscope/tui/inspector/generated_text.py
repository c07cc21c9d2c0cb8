"""The graph that a compiler generated for a node, as lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphscope.eventlog.names import place_of, short_place
from graphscope.tui.screen_text import escape

if TYPE_CHECKING:
    from rich.text import Text

    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node

_MOST: Final = 64
"""So many calls are shown; `inside` lists all."""


def generated_text(made: Text, log: Log, node: Node, subject: Node) -> None:
    """Add what was generated for the pass of a node, if it is a compiled region."""
    generated = log.generated(subject.event.op)
    graph = None if generated is None else generated.backward if node.kind == "grad" else generated.forward
    if graph is None:
        return
    calls = [each for each in graph.nodes if each.op]
    made.append("\ngenerated", "bold backward" if node.kind == "grad" else "bold forward")
    made.append(f"  {len(calls)} calls\n", "muted")
    for each in calls[:_MOST]:
        made.append(f"  {escape(each.name)} = {escape(graph.text(each))}")
        line = short_place(*place_of(log.site(each.site)))
        made.append(f"  {escape(line)}\n", "muted")
    if len(calls) > _MOST:
        made.append(f"  and {len(calls) - _MOST} more: `inside` lists all\n", "muted")
