"""In-place damage: a write over a value that the rule of an earlier node still needs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from graphscope.diagnose.explanation import where
from graphscope.diagnose.paths import Ways
from graphscope.eventlog.schema import Flag

if TYPE_CHECKING:
    from graphscope.graph import Node

_WORD = re.compile(r"[A-Za-z_]\w*")

_RULES: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(["mul", "mm", "matmul", "bmm", "linear", "outer", "dot", "mv"], ("g * y", "g * x")),
    **dict.fromkeys(["conv1d", "conv2d", "conv3d"], ("g * y", "g * x")),
    **dict.fromkeys(["exp", "tanh", "sigmoid", "softmax", "log_softmax", "sqrt", "rsqrt", "relu"], ("g * out",)),
    **dict.fromkeys(["log", "sin", "cos", "abs", "square", "pow", "gelu", "silu", "softplus"], ("g * x",)),
    "div": ("g / y", "g * x / y"),
}
"""What the rules of common ops need, for logs of producers that don't write their rules down."""


def damage(write: Node) -> str:
    """What a write in place has damaged, as a sentence; empty where nothing is.

    A value is damaged if a rule that has not run yet needs it as it was. Which values a rule needs is told by its text.
    """
    if not write.flags & Flag.IN_PLACE or not write.inputs:
        return ""
    for old in _same_memory(write.inputs[0].source):
        for owner, what in _savers(old):
            if owner.row < write.row and not owner.backward:
                return (
                    f"{owner.op}{where(owner)} had saved {what}, and {write.op}{where(write)} writes over it before "
                    "backward"
                )
    return ""


def _same_memory(node: Node) -> Iterator[Node]:
    """A node, and what it is a view of."""
    seen = {node.row}
    yield node
    while node.flags & Flag.VIEW and node.inputs and node.inputs[0].source.row not in seen:
        node = node.inputs[0].source
        seen.add(node.row)
        yield node


def _savers(old: Node) -> Iterator[tuple[Node, str]]:
    """The nodes whose rules need a value, and what it is to them."""
    if _needs(old, "out"):
        yield old, "its output"
    for edge in old.users:
        names = old.graph.log.op(edge.target.event.op).inputs or ("x", "y", "z")
        name = names[edge.argument] if edge.argument < len(names) else ""
        if name and _needs(edge.target, name):
            yield edge.target, f"its input {name}"


def _needs(node: Node, name: str) -> bool:
    """Whether a rule that will run mentions a value."""
    if node.kind != "op":
        return False
    rules = node.graph.log.op(node.event.op).vjp or _RULES.get(node.op.rstrip("_"), ())
    places = [place for place, rule in enumerate(rules) if name in _WORD.findall(rule)]
    if not places:
        return False
    ways = Ways(node.graph, node.row)
    sources = node.event.inputs
    return node.row in ways.open and any(place < len(sources) and sources[place][0] in ways.open for place in places)
