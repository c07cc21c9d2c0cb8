"""Commands that ask for a reason."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from graphscope.debugger import expression_names
from graphscope.debugger.command_table import Rest, command
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.step_table import findings
from graphscope.diagnose import Explanation, Finding, Report, Step, examined, explain_node
from graphscope.diagnose.explanation import title, with_others
from graphscope.errors import GraphscopeError

if TYPE_CHECKING:
    from graphscope.graph import Node


@command("why", "explain", group="looking")
def why(dbg: Debugger, spec: Rest = "") -> Explanation:
    """Say why the gradient of the current node, or of a SPEC, is None, zero or not finite.

    The answer names the way to the loss, and the op and the line to blame: `why W`, `why fc1.weight`, `why #12`. It
    speaks of all that has happened up to now, wherever one stands; where that was different, it says so. Without a SPEC
    it begins with what the doctor finds: of the node, else, where nothing is wrong with that, of the run.
    """
    node = dbg.graph.at(dbg.last_row).node(_row(dbg, spec))
    found = explain_node(node)
    told = with_others(found, [*_before(dbg, node, found), *_newer(node)])
    finding = None if spec.strip() else _finding(dbg, node, found)
    return told if finding is None else _led_by(finding, told)


@command("doctor", group="looking")
def doctor(dbg: Debugger) -> Report:
    """Say what is wrong with all that has happened up to now: where it was written, why, and what to do.

    Every check is asked; `b finding` stops where one finds something.
    """
    return examined(dbg.graph.at(dbg.last_row))


def _finding(dbg: Debugger, node: Node, found: Explanation) -> Finding | None:
    """What the doctor finds at a node, or in its name; where nothing is wrong with the node, what weighs most."""
    known = findings(dbg.log)
    rows = {node.row, *([node.forward.row] if node.forward is not None else [])}
    everything = [each for root in known for each in (root, *root.consequences)]
    here = (each for each in everything if each.place_in_log in rows or each.row in rows or node.name in each.names)
    is_well = found.symptom == "fine" or found.cause == "does not require grad"
    return next(here, known[0] if known and is_well else None)


def _led_by(finding: Finding, found: Explanation) -> Explanation:
    """An explanation behind a finding."""
    if finding.verdict.rstrip(".") == found.verdict.rstrip("."):
        return found
    label = finding.names[0] if finding.names else finding.kind
    blamed = Step(finding.place_in_log, label, "", finding.file, finding.line, finding.source.strip(), finding.kind)
    others = (f"Here: {found.verdict}.", *found.others)
    return replace(found, verdict=finding.verdict.rstrip("."), path=(blamed,), cure=finding.cure, others=others)


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
