"""Commands that change the running program: the value, or the cotangent, that it waits with."""

from __future__ import annotations

import re
import warnings
from typing import Final

import numpy as np

from graphscope.debugger import value_results
from graphscope.debugger.command_table import Rest, command
from graphscope.debugger.commands.printing import evaluate
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.results import Again, Ended, ValueResult
from graphscope.errors import CommandError
from graphscope.eventlog.schema import Kind

_KINDS: Final = "biufc"
"""Kinds of dtypes: each holds what those ahead of it do, but for the size of numbers."""
_ASSIGNMENT = re.compile(r"(\w+)\s*=(?!=)\s*(.+)", re.DOTALL)


@command("set", group="values", needs="edge")
def set_(dbg: Debugger, assignment: Rest) -> ValueResult:
    """Let the program go on with another value: `set value = EXPR`; at a backward node, `set grad = EXPR`.

    The new value is broadcast to the shape of the old one and takes its dtype. This works where the program waits.
    """
    word, expression = assignment_of(assignment)
    return replace(dbg, word, expression)


def assignment_of(text: str) -> tuple[str, str]:
    """`value` or `grad`, and the expression that it is to be.

    Raises:
        CommandError: The text says something else.
    """
    found = _ASSIGNMENT.fullmatch(text)
    if found is None or found[1] not in ("value", "grad"):
        raise CommandError(
            f"`set {text}` is not understood", "set value = EXPR, set grad = EXPR; !NAME = EXPR for a variable"
        )
    return found[1], found[2]


@command("cut", group="values", needs="edge")
def cut(dbg: Debugger, expression: Rest = "") -> ValueResult:
    """Let a PyTorch program go on with the value, or with that of EXPR, and no gradient back through it.

    As if the line had called `.detach()` on it; after `set value = EXPR` the gradient goes through as before.
    """
    if dbg.at_edge and dbg.edge is not None and not dbg.edge.cuts:
        raise CommandError(
            "This value can't be cut off",
            "what PyTorch computed with a gradient and is no view can be; `set value = EXPR` replaces others",
        )
    return replace(dbg, "value", expression or "value", cut=True)


@command("inject_value", group="tensors", needs="edge")
def inject_value(dbg: Debugger, tensor: str, expression: Rest) -> ValueResult:
    """As in tfdbg: let the program go on with another value of a tensor, which must be the current one."""
    node = dbg.need_node()
    if tensor not in ("value", "grad") and dbg.chosen(tensor).row not in (node.row, getattr(node.forward, "row", None)):
        raise CommandError(f"The program does not wait at {tensor!r}", f"b {tensor} stops where it can be replaced")
    return replace(dbg, "grad" if node.graph_pass == "backward" else "value", expression)


@command("again", group="values")
def again(dbg: Debugger, assignment: Rest = "") -> Ended:
    """Run the program again up to this node, and change it there: `again value = 0`, `again grad = 2 * grad`.

    Breakpoints on the way are passed by. The run so far stays: `diff earlier` tells where the two part, and how far.
    """
    if not dbg.can_restart:
        raise CommandError("This program can't be run again from here", "start it with `graphscope debug`")
    if assignment:
        assignment_of(assignment)
    return Ended(restart=True, again=_here(dbg, assignment))


def _here(dbg: Debugger, assignment: str) -> Again:
    """The node where one stands, as another run comes to it: edits have rows too, and are of this run alone."""
    node = dbg.need_node()
    kinds = dbg.log.column("kind", dbg.log.first, node.row)
    return Again(node.row - int(np.count_nonzero(kinds == Kind.EDIT)), node.kind, node.label, assignment)


def replace(dbg: Debugger, word: str, expression: str, new: object = None, *, cut: bool = False) -> ValueResult:
    """Let the program go on with what an expression gives, or with `new`; `cut` off from what it was computed from.

    Raises:
        CommandError: It does not wait here, or with something else, or that has another shape.
    """
    if not dbg.at_edge or dbg.edge is None:
        where = f"go to #{dbg.edge.row}, where it waits" if dbg.edge else "run it under `graphscope debug`"
        raise CommandError("What is past can't be changed, only what the program waits with", where)
    if dbg.edge.passed:
        raise CommandError("The program has gone on past this node", "n stops at the next one, where it can be changed")
    node = dbg.need_node()
    fits = "grad" if node.kind in ("grad", "accumulate") else "value"
    if word != fits:
        raise CommandError(f"At this node the program waits with its {fits}, not with `{word}`", f"set {fits} = EXPR")
    old = value_results.as_array(dbg.lookup()(word))
    if old is None:
        raise CommandError(f"The {word} here has no elements that can be replaced", "it is nested, or has no memory")
    new = evaluate(dbg, expression) if new is None else new
    if new is None:
        raise CommandError(f"The program can't go on without a {word} here", f"`set {word} = 0` lets nothing flow")
    given = value_results.as_array(new)
    try:
        source = np.broadcast_to(new if given is None else given, old.shape)  # type: ignore[arg-type]
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):  # what is lost is told
            array = np.array(source, dtype=old.dtype)
    except (TypeError, ValueError):
        shape = getattr(new, "shape", None)
        what = f"of shape {tuple(shape)}" if shape is not None else f"a {type(new).__name__}"
        raise CommandError(
            f"The {word} here is {old.dtype} of shape {old.shape}; {expression.strip()!r} is {what}",
            f"give something that broadcasts to {old.shape}",
        ) from None
    wider = _KINDS.find(source.dtype.kind) > _KINDS.find(old.dtype.kind)
    if wider and not np.array_equal(array, source):
        raise CommandError(
            f"The {word} here is {old.dtype}; {expression.strip()!r} is {source.dtype}: a part would be lost",
            "give the part that is meant, as `.real`, or round it",
        )
    dbg.edge.replace(array, cut=cut)
    dbg.log.refresh()
    return value_results.result(word, dbg.lookup()(word))
