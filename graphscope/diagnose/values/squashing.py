"""Ops that squash scores into probabilities, also where a program writes them out; and where they are written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from graphscope.diagnose.source import definitions
from graphscope.diagnose.values.origins import axis, operand, origin, origins
from graphscope.eventlog.names import place_of

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


def probabilities(node: Node) -> Iterator[Node]:
    """The nodes that computed the numbers of a node, past what keeps probabilities from 0 and 1 or leaves some out."""
    for made in origins(node):
        if made.kind == "op" and made.op.rstrip("_") in _KEEPING and made.inputs:
            yield from probabilities(made.inputs[0].source)
        else:
            yield made


_KEEPING: Final = frozenset({"clamp", "clip", "clamp_min", "clamp_max", "dropout"})


def is_sigmoid(node: Node) -> bool:
    """Whether the values of a node are a sigmoid."""
    return node.kind == "op" and node.op.rstrip("_") in SIGMOIDS


def blamed(node: Node, *, settings: bool = False) -> tuple[str, int]:
    """File and line where a program says that an op is to run.

    An op of a module that its line does not name, as the part of a `Sequential`, runs because the module was made.

    Args:
        node: The op.
        settings: Whether what is wrong is what it was given beside its input: a module has got that where it was made.
    """
    log = node.graph.log
    scope = log.scope(node.scope_number)
    own = scope is not None and scope.type.lower() == node.op.replace("_", "")
    made = log.site(scope.site) if own and scope is not None and scope.site else None
    called = scope is not None and f"{scope.name}(" in node.source_line
    if settings and scope is None and node.site is not None:
        maker = definitions.made(log, node.site, node.op.replace("_", ""))
        if maker is not None:
            return maker.place
    return place_of(node.site if made is None or (called and not settings) else made)
