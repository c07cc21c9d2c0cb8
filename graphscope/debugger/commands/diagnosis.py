"""Commands that ask for a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphscope.debugger import expression_names
from graphscope.debugger.command_table import Rest, command
from graphscope.debugger.debugger import Debugger
from graphscope.diagnose import Explanation, Report, examined, explain_node
from graphscope.diagnose.explanation import title, with_others
from graphscope.errors import GraphscopeError

if TYPE_CHECKING:
    from graphscope.graph import Node


@command("why", "explain", group="looking")
def why(dbg: Debugger, spec: Rest = "") -> Explanation:
    """Say why the gradient of the current node, or of a SPEC, is None, zero or not finite.

    The answer names the way to the loss, and the op and the line to blame: `why W`, `why fc1.weight`, `why #12`. It
    speaks of all that has happened up to now, wherever one stands; where that was different, it says so.
    """
    node = dbg.graph.at(dbg.last_row).node(_row(dbg, spec))
    found = explain_node(node)
    return with_others(found, [*_before(dbg, node, found), *_newer(node)])


@command("doctor", group="looking")
def doctor(dbg: Debugger) -> Report:
    """Say what is wrong with all that has happened up to now: where it was written, why, and what to do.

    Every check is asked; `b finding` stops where one finds something.
    """
    return examined(dbg.graph.at(dbg.last_row))


def _row(dbg: Debugger, spec: str) -> int:
    """The node that is meant: the newest as of where one stands, else the first that comes."""
    if not spec.strip():
        return dbg.need_node().row
    try:
        return dbg.chosen(spec).row
    except GraphscopeError:
        later = expression_names.ahead(dbg.graph, spec)
        if later is None:
            raise
        return later.row


def _before(dbg: Debugger, node: Node, found: Explanation) -> list[str]:
    """What held as of where one stands, if that was something else."""
    if dbg.now >= dbg.last_row:
        return []
    if node.row > dbg.now:
        return [f"As of #{dbg.now} it was not there yet."]
    then = explain_node(dbg.graph.node(node.row))
    same = (then.symptom, then.cause) == (found.symptom, found.cause)
    return [] if same else [f"That is what came of it. As of #{dbg.now}: {then.verdict}."]


def _newer(node: Node) -> list[str]:
    """That the program has made others of this name since."""
    newest = expression_names.newest(node.graph, node.name) if node.name else None
    if newest is None or newest.tensor == node.tensor:
        return []
    return [f"This is the {title(node)} of #{node.row}; the newest is #{newest.row}."]
