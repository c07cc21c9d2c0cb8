"""A pass of a compiler as one picture: what was there before and what is there after it, marked by what happened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphscope.graph.operands import call_text
from graphscope.graph.pass_changes import Key
from graphscope.graph.passes import split_shared_leaves
from graphscope.graph.view import Cluster, GraphView, ViewEdge, ViewNode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from graphscope.eventlog.generated import GeneratedNode
    from graphscope.eventlog.reader import Log
    from graphscope.graph.pass_changes import PassChange
    from graphscope.graph.view import Changed

MOST: Final = 240
"""Of a graph of more nodes only what changed is drawn, and what lies next to it."""

_NEAR: Final = 8
"""So many of what lies next to a node that changed, where not all nodes are drawn."""


def pass_view(change: PassChange, log: Log, heading: str = "") -> GraphView:
    """The picture of a pass.

    Args:
        change: The pass.
        log: Where its lines are known.
        heading: What was compiled.
    """
    keys = _drawn(change)
    drawing = _Drawing(log, change, keys)
    left_out = len(change.states) - len(keys)
    lines = [heading, f"{change.number}. {change.stage.name}: {len(change.before.nodes)} nodes"]
    if change.number:
        lines[-1] += f", then {len(change.after.nodes)}"
    lines.append(change.stage.doc)
    if left_out:
        lines.append(f"{left_out:,} nodes are left out: the first that changed are drawn, with what lies next to them")
    view = GraphView(
        drawing.nodes(),
        drawing.edges(),
        drawing.clusters(),
        heading=tuple(line for line in lines if line),
        legend=tuple(change.counts.items()),
    )
    return split_shared_leaves(view)  # what a loop reads in all its turns would tie the whole picture to one place


def _drawn(change: PassChange) -> dict[Key, None]:
    """The nodes to draw: all, or of a large graph what changed with its neighbours."""
    if len(change.states) <= MOST:
        return dict.fromkeys(change.states)
    near: dict[Key, list[Key]] = {}
    for graph in (change.before, change.after):
        keys = [_key(node) for node in graph.nodes]
        for node, key in zip(graph.nodes, keys, strict=True):
            for place in node.inputs:
                near.setdefault(key, []).append(keys[place])
                near.setdefault(keys[place], []).append(key)
    chosen: dict[Key, None] = {}
    changed = [key for key, state in change.states.items() if state not in ("kept", "fused", "grown")]
    for key in [*change.members, *changed] or change.states:
        chosen |= dict.fromkeys([key, *near.get(key, ())[:_NEAR]])
        if len(chosen) >= MOST:
            break
    return dict.fromkeys([*chosen][:MOST])


class _Drawing:
    """Boxes, arrows and frames of the two graphs of a pass."""

    def __init__(self, log: Log, change: PassChange, keys: Iterable[Key]) -> None:
        self.log, self.change = log, change
        self.names = {key: f"n{number}" for number, key in enumerate(keys)}
        blocks = dict.fromkeys(key.block for key in self.names if key.block)
        parents = {parent: None for block in blocks for parent in _around(block)}
        self.frames = {block: f"c{number}" for number, block in enumerate(sorted(parents))}

    def nodes(self) -> tuple[ViewNode, ...]:
        """A box for each node."""
        change = self.change
        found = []
        for key, identity in self.names.items():
            nodes = change.new if key in change.new else change.old
            found.append(self._box(identity, nodes[key], change.states[key], key))
        return tuple(found)

    def edges(self) -> tuple[ViewEdge, ...]:
        """An arrow for each input: of before, of after, or of both."""
        ends: dict[tuple[str, str, int], tuple[tuple[int, ...] | None, Changed]] = {}
        for graph, state in ((self.change.before, "removed"), (self.change.after, "added")):
            keys = [_key(node) for node in graph.nodes]
            for node, key in zip(graph.nodes, keys, strict=True):
                for argument, place in enumerate(node.inputs):
                    if key not in self.names or keys[place] not in self.names:
                        continue
                    end = (self.names[keys[place]], self.names[key], argument)
                    is_both = end in ends or self.change.before is self.change.after
                    ends[end] = _shape(graph.nodes[place]), "kept" if is_both else state  # type: ignore[assignment]
        return tuple(
            ViewEdge(source, target, "data", 0, argument, shape, changed=state)
            for (source, target, argument), (shape, state) in ends.items()
        )

    def clusters(self) -> tuple[Cluster, ...]:
        """A frame for each body of a loop or a branch."""
        return tuple(
            Cluster(
                identity, "scope", block.rpartition("/")[2], self.frames.get(_outer(block)), block.count("/"), block
            )
            for block, identity in self.frames.items()
        )

    def _box(self, identity: str, node: GeneratedNode, state: Changed, key: Key) -> ViewNode:
        members = self.change.members.get(key, ())
        is_leaf = node.op.lower() in ("", "constant")  # TorchScript writes it with a capital
        return ViewNode(
            identity,
            (),
            "leaf" if is_leaf else "op",
            node.op or node.name,
            op=node.op,
            name=node.name,
            arguments=call_text(node.arguments) if node.op else "",
            shape=_shape(node),
            dtype=node.dtype,
            site=self.log.site(node.site),
            cluster=self.frames.get(key.block),
            apart=f"of {len(members)}" if members else "",
            changed=state,
        )


def _key(node: GeneratedNode) -> Key:
    return Key(node.block, node.name, node.op)


def _shape(node: GeneratedNode) -> tuple[int, ...] | None:
    sizes = node.shape
    return None if sizes is None or any(not isinstance(each, int) for each in sizes) else tuple(map(int, sizes))


def _outer(block: str) -> str:
    return block.rpartition("/")[0]


def _around(block: str) -> Iterable[str]:
    while block:
        yield block
        block = _outer(block)
