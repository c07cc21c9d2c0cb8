"""The boxes and arrows of a chain, and its numbers as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.errors import LogError
from graphscope.eventlog.schema import Flag
from graphscope.graph.filled import with_names
from graphscope.graph.paths import UPDATE
from graphscope.graph.rule_text import applied
from graphscope.graph.view import ViewEdge, ViewNode

if TYPE_CHECKING:
    from graphscope.graph.chain_rule import Chain, Link
    from graphscope.graph.node import Node

__all__ = ["arrow", "box", "called", "is_text", "is_updated", "number_text"]

_FEW: Final = 4
"""So many numbers are written one by one."""
_RULE: Final = 44
"""So many letters of a rule stand on an arrow."""


def box(node: Node, found: Chain, gradient: np.ndarray | None) -> ViewNode:
    """A node on the way, with its value and the gradient of the end by it."""
    is_leaf = node.kind == "leaf" or is_updated(node)
    value = node.value
    notes = [] if value is None or value.size > _FEW else [is_text(value).strip()]
    if gradient is not None:
        notes.append(f"∂{is_text(gradient)}")
    return ViewNode(
        f"n{node.row}",
        (node.row,),
        "leaf" if is_leaf else node.kind,
        called(node) if is_leaf else node.label,
        op=node.op,
        name=called(node) if is_leaf else node.name,
        shape=node.shape,
        dtype=node.dtype,
        site=node.site,
        scope=node.scope,
        notes=tuple(notes),
        parameter=is_leaf and bool(_first(node).flags & Flag.PARAMETER),
        loss=node.row == found.end.row and found.is_whole,
        highlighted=node.row == found.start.row,
    )


def arrow(link: Link, derivative: np.ndarray | None) -> ViewEdge:
    """An edge on the way, with its derivative and rule."""
    lines = []
    if derivative is not None:
        lines.append(f"× {is_text(derivative).removeprefix(' = ')}")
    rule = " ".join(applied(link.op, link.operand.rule).split())
    if rule and rule != "g":
        named = with_names(link.op, rule)
        lines.append(named if len(named) <= _RULE else f"{named[: _RULE - 1]}…")
    return ViewEdge(
        f"n{link.source.row}", f"n{link.op.row}", "data", label="\n".join(lines), argument=link.operand.edge.number
        if link.operand.edge is not None else 0,
    )  # fmt: skip


def is_updated(node: Node) -> bool:
    """Whether it is a parameter as an optimizer has written it."""
    return node.event.flags & UPDATE == UPDATE


def _first(node: Node) -> Node:
    """The first version of a parameter that an optimizer has written; else the node itself."""
    try:
        return node.graph.node(node.tensor) if is_updated(node) else node
    except LogError:
        return node


def called(node: Node) -> str:
    """What a node is called: by the program, else by its op and row."""
    named = _first(node)
    return named.name or f"{named.op} #{node.row}"


def is_text(value: np.ndarray | None) -> str:
    """What a value is, as it is written behind its name."""
    if value is None:
        return ""
    if value.size == 1:
        return f" = {number_text(float(value.reshape(())))}"
    if value.size <= _FEW:
        return f" = [{', '.join(map(number_text, value.reshape(-1).tolist()))}]"
    shape = "×".join(map(str, value.shape))
    finite = value[np.isfinite(value)]
    least, most = (number_text(float(each)) for each in (finite.min(), finite.max())) if finite.size else ("nan", "nan")
    return f" = {shape}, {f'all {least}' if least == most else f'{least} … {most}'}"


def number_text(value: float) -> str:
    """A number in four digits."""
    return f"{value:.4g}"
