"""Commands that ask for a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphscope.debugger import expression_names
from graphscope.debugger.command_table import Rest, command
from graphscope.debugger.debugger import Debugger
from graphscope.diagnose import Explanation, explain_node
from graphscope.diagnose.explanation import named, title

if TYPE_CHECKING:
    from graphscope.graph import Node


@command("why", "explain", group="looking")
def why(dbg: Debugger, spec: Rest = "") -> Explanation:
    """Say why the gradient of the current node, or of a SPEC, is None, zero or not finite.

    The answer names the way to the loss, and the op and the line to blame: `why W`, `why fc1.weight`, `why #12`. It
    speaks of all that has happened up to now, wherever one stands; where that was different, it says so.
    """
    node = dbg.chosen(spec)
    whole = dbg.graph.at(dbg.last_row)
    found = explain_node(whole.node(node.row))
    if dbg.now >= dbg.last_row:
        return found
    then = explain_node(node)
    notes = [] if _alike(then, found) else [f"That is what came of it. As of #{dbg.now}: {then.verdict}."]
    return named(found, [*notes, *_newer(node, whole.node(node.row))])


def _alike(then: Explanation, now: Explanation) -> bool:
    return (then.symptom, then.cause) == (now.symptom, now.cause)


def _newer(here: Node, there: Node) -> list[str]:
    """That the program has made others of this name since."""
    newest = expression_names.newest(there.graph, here.name) if here.name else None
    if newest is None or newest.tensor == here.tensor:
        return []
    return [f"This is the {title(here)} of #{here.row}; the newest is #{newest.row}."]
