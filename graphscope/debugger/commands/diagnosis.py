"""Commands that ask for a reason."""

from __future__ import annotations

from graphscope.debugger.command_table import Rest, command
from graphscope.debugger.debugger import Debugger
from graphscope.diagnose import Explanation, explain_node


@command("why", "explain", group="looking")
def why(dbg: Debugger, spec: Rest = "") -> Explanation:
    """Say why the gradient of the current node, or of a SPEC, is None, zero or not finite.

    The answer names the way to the loss, and the op and the line to blame: `why W`, `why fc1.weight`, `why #12`.
    """
    return explain_node(dbg.chosen(spec))
