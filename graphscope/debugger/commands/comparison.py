"""Commands that compare the run with another one."""

from __future__ import annotations

from graphscope.debugger.command_table import Rest, command
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.results import Message, Stop


@command("diff", group="looking")
def diff(dbg: Debugger, other: Rest = "") -> Stop | Message:
    """Compare with another run, and go where they part first: `diff other.gscope`, `diff earlier`.

    `earlier` is the run before `restart` or `again`, with as much as this one has done by now.

    From there, `diff next` and `diff prev` go to the nodes that differ, `diff first` to where they part; `diff` alone
    says what belongs to the current node over there, and what it holds. This run is `a`, the other one `b`.
    """
    from graphscope.debugger import compared_run  # comparing is loaded when somebody compares

    return compared_run.diff(dbg, other.strip())
