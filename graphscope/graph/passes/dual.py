"""The dual drawing: a box for each tensor, and arrows for what ops make of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from graphscope.graph.passes.merge import merge_edges
from graphscope.graph.view import GraphView, PassName, ViewEdge, ViewNode

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["dual"]

_FORWARD: Final[PassName] = "forward"
_BACKWARD: Final[PassName] = "backward"


def dual(view: GraphView) -> GraphView:
    """The same with what flows as boxes, and what it flows through as arrows.

    An op of several tensors is a point where arrows meet. In backward each rule leads from the gradient of an op's
    result to that of one of its inputs; gradients that meet in one tensor are summed up.
    """
    return _Dual(_met(view)).view()


def _met(view: GraphView) -> GraphView:
    """The same without the sums of gradients that a rule takes: they are the tensor that it takes."""
    nodes = view.by_id()
    become = {
        edge.source: edge.target
        for edge in view.edges
        if edge.kind == "gradient"
        and nodes[edge.source].kind == "accumulate"
        and nodes[edge.target].kind != "accumulate"
    }
    kept = tuple(node for node in view.nodes if node.id not in become)
    return replace(view, nodes=kept, edges=tuple(merge_edges(view.edges, become)))


class _Dual:
    """The tensors and arrows of a view."""

    def __init__(self, old: GraphView) -> None:
        self.old = old
        self.nodes = old.by_id()
        self.data: dict[str, list[ViewEdge]] = {}
        self.slots: dict[str, set[int]] = {}
        for edge in old.edges:
            if edge.kind == "data":
                self.data.setdefault(edge.target, []).append(edge)
                self.slots.setdefault(edge.source, set()).add(edge.slot)
        self.gradients = [edge for edge in old.edges if edge.kind == "gradient"]
        self.cotangents = {each for edge in self.gradients for each in (edge.source, edge.target)}

    def view(self) -> GraphView:
        """The drawing."""
        boxes = [box for node in self.old.nodes for box in self._boxes(node)]
        known = {box.id for box in boxes}
        arrows = [*self._forward(), *self._backward(), *self._links(known)]
        return replace(
            self.old,
            nodes=tuple(boxes),
            edges=tuple(each for each in arrows if each.source in known and each.target in known),
        )

    def _boxes(self, node: ViewNode) -> Iterator[ViewNode]:
        """What a node makes, and in backward the gradient that arrives at it; an op of several tensors is a point."""
        if node.graph_pass != "backward":
            if len(self.data.get(node.id, ())) > 1:
                yield replace(_plain(node), id=_joint(node.id), kind="joint", label="")
            if node.kind == "leaf":
                yield node
            elif node.kind == "op" or node.id in self.data or node.id in self.slots:
                for slot in sorted(self.slots.get(node.id, {0})):
                    yield self._tensor(node, slot)
            else:
                yield node  # what is joined to nothing: the step of an optimizer
        if node.id in self.cotangents or (node.graph_pass == "backward" and node.kind in ("grad", "accumulate")):
            yield self._gradient(node)

    def _tensor(self, node: ViewNode, slot: int) -> ViewNode:
        shape = next(
            (
                edge.shape
                for edges in self.data.values()
                for edge in edges
                if (edge.source, edge.slot) == (node.id, slot)
            ),
            node.shape,
        )
        text = shape_text(shape)
        name = (f"{node.name}[{slot}]" if slot else node.name) if node.kind == "op" else f"of {node.label}"
        return replace(
            node,
            id=_output(node.id, slot),
            kind="tensor",
            label=name or text,
            name="",
            op=node.op,
            arguments=text if name else "",
            shape=shape,
            graph_pass=_FORWARD,
        )

    def _gradient(self, node: ViewNode) -> ViewNode:
        owner = self.nodes.get(node.forward or "", node)
        called = node.name or owner.name
        shape = shape_text(node.shape)
        return replace(
            node,
            id=_cotangent(node.id),
            kind="gradient",
            label=f"∂{called}" if called else "∂",
            name="",
            arguments=shape,
            graph_pass=_BACKWARD,
            forward=_beside(owner),
            current=node.current and node.graph_pass == "backward",
        )

    def _forward(self) -> Iterator[ViewEdge]:
        for target, edges in self.data.items():
            node = self.nodes[target]
            words = _words(node)
            joint = len(edges) > 1
            for edge in edges:
                source = edge.source if self.nodes[edge.source].kind == "leaf" else _output(edge.source, edge.slot)
                into = replace(edge, source=source, slot=0, shape=None)
                if joint:
                    yield replace(into, target=_joint(target), argument=0)
                else:
                    for slot in sorted(self.slots.get(target, {0})):
                        yield replace(into, target=_output(target, slot), label=words)
            for slot in sorted(self.slots.get(target, {0})) if joint else ():
                yield ViewEdge(_joint(target), _output(target, slot), "data", label=words)

    def _backward(self) -> Iterator[ViewEdge]:
        for edge in self.gradients:
            rule = self.nodes[edge.source]
            yield replace(
                edge,
                source=_cotangent(edge.source),
                target=_cotangent(edge.target),
                slot=0,
                shape=None,
                label="" if rule.kind == "accumulate" else _words(rule),
            )

    def _links(self, known: set[str]) -> Iterator[ViewEdge]:
        for edge in self.old.edges:
            if edge.kind == "link":
                source = edge.source if edge.source in known else _output(edge.source, 0)
                yield replace(edge, source=source, target=_cotangent(edge.target))


def _beside(owner: ViewNode) -> str | None:
    """The tensor that a gradient is of; None of one whose forward node is not drawn."""
    if owner.graph_pass == "backward":
        return None
    return owner.id if owner.kind == "leaf" else _output(owner.id, 0)


def shape_text(shape: tuple[int, ...] | None) -> str:
    """A shape as it is written in a box: `2×3`, `5`, `scalar`."""
    return "" if shape is None else "×".join(map(str, shape)) if shape else "scalar"


def _words(node: ViewNode) -> str:
    return f"{node.label} {node.arguments}".strip()


def _plain(node: ViewNode) -> ViewNode:
    return replace(node, name="", arguments="", count=1, loss=False, current=False, breakpoint=False, nonfinite=False)


def _output(id: str, slot: int) -> str:
    return f"{id}.{slot}" if slot else id


def _joint(id: str) -> str:
    return f"{id}:op"


def _cotangent(id: str) -> str:
    return f"{id}:grad"
