"""Ops that squash scores into probabilities, also where a program writes them out; and where they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphscope.diagnose.origins import axis, operand, origin

if TYPE_CHECKING:
    from graphscope.graph import Node

SIGMOIDS: Final = frozenset({"sigmoid", "expit", "special_expit", "hardsigmoid"})


def softmax_axis_of(node: Node) -> int | None:
    """The axis over which the values of a node are a softmax; None when they are none."""
    if node.kind != "op":
        return None
    if node.op in ("softmax", "softmin"):
        return axis(node)
    return _written_out(node) if node.op.rstrip("_") in ("div", "true_divide") else None


def _written_out(node: Node) -> int | None:
    """The axis of `exp(x) / exp(x).sum(axis, keepdim=True)`."""
    above, below = (operand(node, name, place) for place, name in enumerate(("input", "other")))
    if above is None or below is None:
        return None
    total = origin(below)
    same = above.op == "exp" and total.op == "sum" and bool(total.inputs) and total.inputs[0].source == above
    return axis(total) if same else None


def is_sigmoid(node: Node) -> bool:
    """Whether the values of a node are a sigmoid."""
    return node.kind == "op" and node.op.rstrip("_") in SIGMOIDS


def blamed(node: Node) -> tuple[str, int]:
    """File and line where a program says that an op is to run.

    An op of a module that its line does not name, as the part of a `Sequential`, runs because the module was made.
    """
    log = node.graph.log
    scope = log.scope(node.scope_number)
    made = log.site(scope.site) if scope is not None and scope.site else None
    named = made is None or scope is None or f"{scope.name}(" in node.source_line
    site = node.site if named else made
    return ("", 0) if site is None else (site.file, site.line)
