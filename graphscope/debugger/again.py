"""Running a program again up to where one stood in the run before, with something changed there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphscope.debugger.commands.edits import assignment_of, replace
from graphscope.errors import CommandError
from graphscope.graph import Node

if TYPE_CHECKING:
    from graphscope.debugger.debugger import Debugger
    from graphscope.debugger.results import Again, Stop


def come_again(dbg: Debugger, wanted: Again) -> Stop:
    """Change what was to be changed, if this is the node; the stop there."""
    node = dbg.node
    if not isinstance(node, Node) or (node.kind, node.label) != (wanted.kind, wanted.label):
        remark = f"the run before had {wanted.label} here: the program takes another way, and nothing is changed"
    elif not wanted.assignment:
        remark = "where you stood in the run before; `diff earlier` compares the two"
    else:
        try:
            word, expression = assignment_of(wanted.assignment)
            replace(dbg, word, expression)
            remark = f"{wanted.assignment}: the program goes on with this; `diff earlier` compares the two runs"
        except CommandError as error:
            remark = f"nothing is changed: {error.message}"
    return dbg.stop(remark=remark)
