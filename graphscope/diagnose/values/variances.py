"""Variances that a program makes of the mean of the squares and the square of the mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from graphscope.graph import Node

_SCALING: Final = frozenset(
    {"mean", "sum", "div", "mul", "view", "reshape", "unsqueeze", "squeeze", "expand", "to", "float"}
)
"""Means and sums, and what goes on with them as they are."""
_POWERS: Final = frozenset({"pow", "square"})
_MOST: Final = 6
"""So many ops lie between numbers and their mean square."""


def varying(difference: Node) -> Node | None:
    """The numbers whose variance a difference is: of the mean of their squares and the square of their mean."""
    if len(difference.inputs) != 2:
        return None
    of_squares, of_means = (_squared(edge.source) for edge in difference.inputs)
    if of_squares is None or of_means is None or of_squares.row == of_means.row:
        return None
    return of_squares if _unscaled(of_means, of_squares.row).row == of_squares.row else None


def _squared(node: Node) -> Node | None:
    """What was squared before it was scaled or summed."""
    for _ in range(_MOST):
        if node.kind != "op" or not node.inputs:
            return None
        taken = [edge.source for edge in node.inputs]
        if node.op in _POWERS or (node.op == "mul" and len(taken) == 2 and taken[0].row == taken[1].row):
            return taken[0]
        if node.op not in _SCALING:
            return None
        node = taken[0]
    return None


def _unscaled(node: Node, stop: int) -> Node:
    """What was scaled or summed, back to a row."""
    for _ in range(_MOST):
        if node.row == stop or node.kind != "op" or node.op not in _SCALING or not node.inputs:
            break
        node = node.inputs[0].source
    return node
