"""How a gradient came: the backward rows it passed, from the tensor up to where the pass began."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from graphscope.graph import Node

MOST = 20_000
"""So many rows are looked at: enough for any network, and the answer comes in seconds."""


@dataclass(frozen=True, slots=True)
class Hop:
    """One rule that ran: where its cotangent lies, what it made, and which way led from there to the tensor."""

    grad: Node
    """The GRAD row of the rule."""
    row: int
    """The row that holds what it made for the input in question."""
    owner: Node
    """The forward node whose rule it is."""
    before: Hop | None
    """The rule that took what this one made; None where the tensor itself did."""

    @property
    def trail(self) -> list[Node]:
        """The forward nodes from the tensor (left out) up to the rule's own; each once, whatever parts its rule has."""
        found: list[Node] = []
        hop: Hop | None = self
        while hop is not None:
            owner = hop.owner
            while owner.kind == "grad" and owner.forward is not None:
                owner = owner.forward
            found += [owner] if owner not in found[-1:] else []
            hop = hop.before
        return found[::-1]


def hops(node: Node) -> Iterator[Hop]:
    """The rules whose results make up the gradient of a node, the nearest first."""
    waiting: deque[tuple[Node, Hop | None]] = deque([(node, None)])
    seen: set[int] = set()
    while waiting and len(seen) < MOST:
        reached, before = waiting.popleft()
        for arrived in reached.contributions:
            source = _rule_behind(arrived.source)
            owner = source.forward if source is not None and source.kind == "grad" else None
            if source is None or owner is None:
                continue
            hop = Hop(source, arrived.row, owner, before)
            yield hop
            if source.row not in seen:
                seen.add(source.row)
                waiting.append((source, hop))


def _rule_behind(source: Node | None) -> Node | None:
    """What made a contribution, also of one that ranks have averaged since: then its source is the rank's own."""
    while source is not None and source.kind == "accumulate":
        source = next((edge.source for edge in source.inputs), None)
    return source


def op_of(rule: Node) -> Node:
    """The op that a rule, or a part of one, belongs to."""
    while rule.graph_pass == "backward" and rule.forward is not None:
        rule = rule.forward
    return rule


def share_of_zeros(node: Node) -> float | None:
    """How much of a node's value is zero, from 0 to 1; None where that is not known or there is nothing."""
    value = node.value
    if value is not None:  # the other statistics cost more
        zeros = value.size - np.count_nonzero(value) if value.dtype.kind in "fiubc" else 0
        return zeros / value.size if value.size else None
    found = node.summary
    return None if found is None or not found.count else found.zero / found.count


def inputs_of(node: Node) -> list[np.ndarray | None]:
    """The values of a node's operands, numbers among them; of a backward one, what its rules were given."""
    if node.kind in ("grad", "accumulate"):
        return [edge.source.value for edge in node.inputs]
    return [
        each.edge.source.output(each.edge.slot)
        if each.edge is not None
        else np.asarray(each.constant)
        if isinstance(each.constant, int | float)
        else None
        for each in node.operands
    ]
