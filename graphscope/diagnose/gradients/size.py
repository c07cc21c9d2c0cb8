"""How a gradient that is neither None nor zero came to be as it is: its size on the way, and where it became small."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.explanation import title, where
from graphscope.diagnose.gradients.flow import Hop, hops, share_of_zeros
from graphscope.diagnose.gradients.zero_causes import Evidence, reason

if TYPE_CHECKING:
    from graphscope.diagnose.subject import Subject
    from graphscope.graph import Node

SMALL: Final = 0.01
"""An element is called small that is less than this part of the largest one."""

MOSTLY: Final = 0.5
"""From this share of zero, or of small, elements on, it is told where they come from."""

_ENDS: Final = 16
"""So many nodes at either end of a path have their gradients measured."""

FLAT: Final = ("tanh", "sigmoid", "softmax", "log_softmax", "erf", "logsigmoid", "gelu", "silu", "softsign")
"""Ops whose slope is almost zero where their inputs are large."""


def mostly_zero(subject: Subject) -> str:
    """What is to be said of a gradient that is zero in most places; empty otherwise."""
    gradient = subject.node.grad
    if gradient is None or gradient.size == 0:
        return ""
    share = 1 - np.count_nonzero(gradient) / gradient.size
    if share < MOSTLY:
        return ""
    worst: tuple[float, Hop] | None = None
    for hop in hops(subject.node):
        before, after = share_of_zeros(hop.grad), share_of_zeros(subject.graph.node(hop.row))
        if before is not None and after is not None and (worst is None or after - before > worst[0]):
            worst = (after - before, hop)
    said = f"{share:.0%} of it is zero"
    if worst is None or worst[0] <= 0:
        return f"{said}."
    owner, before_it = worst[1].owner, worst[1].before
    _, why, _ = reason(Evidence(owner, before_it.owner if before_it else subject.node))
    return f"{said}, most of that since {owner.op}{where(owner)}: {why}."


class Shrunk(NamedTuple):
    """Where most of a gradient became small."""

    node: Node
    """The forward node of the rule that did it."""
    sentence: str


def norm(array: np.ndarray | None) -> float | None:
    """The 2-norm of an array; None where there is none that is finite."""
    if array is None or array.dtype.kind not in "fciub":
        return None
    found = float(np.linalg.norm(np.abs(array).astype(np.float64)))
    return found if np.isfinite(found) else None


def norms(path: Sequence[Node]) -> dict[int, float]:
    """The norms of the gradients that have arrived at the nodes of a path, by row; of a long one, at its ends."""
    measured = {node.row: node for node in (*path[:_ENDS], *path[-_ENDS:])}
    found = {row: norm(node.grad) for row, node in measured.items()}
    return {row: size for row, size in found.items() if size is not None}


def shrunk(subject: Subject) -> Shrunk | None:
    """The rule that most of a gradient became small in, next to its largest element; None where most is not small."""
    share = small(subject.node.grad)
    if share is None or share < MOSTLY:
        return None
    worst: tuple[float, Node, float] | None = None
    for hop in hops(subject.node):
        before, after = small(hop.grad.value), small(subject.graph.node(hop.row).value)
        if before is not None and after is not None and (worst is None or after - before > worst[0]):
            worst = after - before, hop.owner, after
    if worst is None or worst[0] < share / 2:
        return None
    _, owner, left = worst
    said = f"{share:.0%} of it is small (below {SMALL:.0%} of its largest element), most of that since"
    why = f"{title(owner)} = {owner.op}" if owner.name else owner.op
    slope = ": it is almost flat there, its inputs are large" if owner.op.rstrip("_") in FLAT else ""
    return Shrunk(owner, f"{said} {why}{where(owner)}, which leaves {left:.0%} small{slope}.")


def small(array: np.ndarray | None) -> float | None:
    """The share of elements that are small next to the largest one; None where there are too few to tell."""
    if array is None or array.size < 2 or array.dtype.kind not in "fc":
        return None
    sizes = np.abs(array)
    largest = sizes.max()
    return float(np.mean(sizes < SMALL * largest)) if np.isfinite(largest) and largest > 0 else None
