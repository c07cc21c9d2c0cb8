"""Putting several boxes into one, and the arrows between boxes that became one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from graphscope.graph.modules.repeats import without_numbers
from graphscope.graph.view import ViewEdge, ViewNode

Box = TypeVar("Box", ViewNode, ViewEdge)

_FLAGS: Final = ("parameter", "requires_grad", "nonfinite", "edited", "in_place", "loss", "current", "breakpoint")


def altered(box: Box, **told: Any) -> Box:
    """A box or an arrow of which something else is told; itself where that is so already, as it is of most."""
    return box if all(getattr(box, name) == each for name, each in told.items()) else replace(box, **told)


def common(values: Iterable[Any], otherwise: Any) -> Any:
    """The value that all are, or `otherwise`."""
    found = list(dict.fromkeys(values))
    return found[0] if len(found) == 1 else otherwise


def of_alike(names: Iterable[str], otherwise: str) -> str:
    """The name that all have, but for numbers: `h.*.weight`; else `otherwise`."""
    several = list(names)
    return str(common(several, common(map(without_numbers, several), otherwise)))


def facts(nodes: Iterable[ViewNode]) -> dict[str, Any]:
    """What is so of one box in place of several: whatever is so of any of them."""
    several = list(nodes)
    return {flag: any(getattr(node, flag) for node in several) for flag in _FLAGS}


def merge_nodes(nodes: Sequence[ViewNode]) -> ViewNode:
    """One box in place of several of the same kind; it keeps the id of the first."""
    first = nodes[0]
    return replace(
        first,
        rows=tuple(sorted(row for node in nodes for row in node.rows)),
        label=of_alike([node.label for node in nodes], first.op),
        name=of_alike([node.name for node in nodes], ""),
        arguments=common((node.arguments for node in nodes), ""),
        shape=common((node.shape for node in nodes), None),
        dtype=common((node.dtype for node in nodes), ""),
        count=sum(node.count for node in nodes),
        **facts(nodes),
    )


def merge_edges(
    edges: Iterable[ViewEdge],
    become: Mapping[str, str],
    *,
    carries: Callable[[ViewEdge], bool] = lambda _: False,
) -> tuple[ViewEdge, ...]:
    """The arrows after boxes became others: those that say the same become one and count.

    An arrow from a fold to one box may arrive at many of its inputs (and from many outputs of one box at a fold):
    which one is then no longer said.
    """
    folded: dict[str, int] = {}
    for new in become.values():
        folded[new] = folded.get(new, 0) + 1
    found: dict[tuple[object, ...], list[ViewEdge]] = {}
    for edge in edges:
        source, target = become.get(edge.source, edge.source), become.get(edge.target, edge.target)
        carried = edge.carried or carries(edge)
        if source == target and not carried:
            continue
        slot = 0 if folded.get(target, 0) > 1 and source not in folded else edge.slot
        argument = 0 if folded.get(source, 0) > 1 and target not in folded else edge.argument
        key = (source, target, edge.kind, slot, argument, carried)
        found.setdefault(key, []).append(edge)
    return tuple(
        altered(
            same[0],
            source=str(source),
            target=str(target),
            carried=bool(carried),
            shape=same[0].shape if len(same) == 1 else common((edge.shape for edge in same), None),
            count=sum(edge.count for edge in same),
        )
        for (source, target, _, _, _, carried), same in found.items()
    )
