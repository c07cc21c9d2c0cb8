"""A graph that runs later as a picture: its nodes, with the bodies of loops and branches in frames."""

from __future__ import annotations

from collections.abc import Sequence

from graphscope.graph.view import Cluster, GraphView, NodeKind, ViewEdge, ViewNode
from graphscope.static.graphs.control_nodes import carried, given_to_bodies, turns_of
from graphscope.static.graphs.graph import Graph, Node, Value, walk

# A loop is drawn rolled, whatever its length; its frame tells how many turns the last run took.

_LEAVES = ("input", "constant", "variable", "read", "random_normal", "random_uniform", "truncated_normal")


def view_of(graph: Graph, values: Sequence[Value] | None = None) -> GraphView:
    """A view for `gs.export(view_of(graph), "graph.svg")`.

    Args:
        graph: The graph.
        values: Draw what these need, not all.
    """
    drawing = _Drawing()
    drawing.body(graph.nodes if values is None else walk(values), None, {})
    return GraphView(tuple(drawing.nodes), tuple(drawing.edges), tuple(drawing.clusters))


class _Drawing:
    """Boxes, arrows and frames, as they are found."""

    def __init__(self) -> None:
        self.nodes: list[ViewNode] = []
        self.edges: list[ViewEdge] = []
        self.clusters: list[Cluster] = []

    def body(self, nodes: Sequence[Node], cluster: str | None, places: dict[Value, list[tuple[str, int]]]) -> None:
        """Draw nodes in a frame; `places` says in which boxes (and slots) values are to be found."""
        for node in nodes:
            if node.op == "input" and node.outputs[0] in places:
                continue
            if node.bodies:
                self._control(node, cluster, places)
                continue
            box = self._box(node, cluster)
            for argument, value in enumerate(node.inputs):
                for source, slot in places.get(value, []) if isinstance(value, Value) else []:
                    kind = "gradient" if node.rule is not None else "data"
                    shape = _known(value)
                    self.edges.append(ViewEdge(source, box, kind, slot, argument, shape))  # type: ignore[arg-type]
            for slot, value in enumerate(node.outputs):
                places[value] = [(box, slot)]

    def _control(self, node: Node, cluster: str | None, places: dict[Value, list[tuple[str, int]]]) -> None:
        loop = node.op != "cond"
        count = turns_of(node)
        label = node.name + (f" × {count}" if loop and count is not None else "")
        frame = self._frame(label, cluster, repeats=loop, count=count or 1)
        given = [places.get(value, []) if isinstance(value, Value) else [] for value in given_to_bodies(node)]
        if not loop:
            test = self._box(node, frame)
            for source, slot in places.get(node.inputs[0], []):
                self.edges.append(ViewEdge(source, test, "data", slot))
        ends: list[list[list[tuple[str, int]]]] = []
        for body in node.bodies:
            places.update(zip(body.inputs, given, strict=False))
            self.body(body.nodes, self._frame(body.name.rpartition("/")[2], frame), places)
            ends.append([places.get(value, []) for value in body.outputs])
        if loop:
            ends = ends[-1:]
            self._carry(node.bodies, [ends[0][place] for place in carried(node)])
        for slot, value in enumerate(node.outputs):
            places[value] = [each for found in ends for each in (found[slot] if slot < len(found) else [])]

    def _carry(self, bodies: Sequence[Graph], found: Sequence[list[tuple[str, int]]]) -> None:
        """What a turn makes of a loop variable goes to where the next turn takes it."""
        boxes = {box.name: box.id for box in self.nodes}
        for body in bodies:
            for value, ends in zip(body.inputs, found, strict=False):
                takers = [boxes[node.name] for node in body.nodes if value in node.inputs and node.name in boxes]
                for taker in takers:
                    self.edges += [ViewEdge(source, taker, "data", slot, carried=True) for source, slot in ends]

    def _box(self, node: Node, cluster: str | None) -> str:
        identity = f"n{len(self.nodes)}"
        kind: NodeKind = "leaf" if node.op in _LEAVES else "op"
        value = node.outputs[0] if node.outputs else None
        self.nodes.append(
            ViewNode(
                identity,
                (),
                kind,
                node.name if kind == "leaf" else node.op,
                op=node.op,
                name=node.name,
                graph_pass="backward" if node.rule is not None else "forward",
                shape=None if value is None else _known(value),
                dtype="" if value is None or value.dtype is None else value.dtype.name,
                site=node.site,
                scope=node.scope.replace("/", "."),
                cluster=cluster,
                parameter=node.op == "read",
            )
        )
        return identity

    def _frame(self, label: str, parent: str | None, *, repeats: bool = False, count: int = 1) -> str:
        identity = f"c{len(self.clusters)}"
        depth = 0 if parent is None else next(each.depth for each in self.clusters if each.id == parent) + 1
        kind = "repeat" if repeats else "scope"
        self.clusters.append(Cluster(identity, kind, label, parent, depth, count=count))  # type: ignore[arg-type]
        return identity


def _known(value: Value) -> tuple[int, ...] | None:
    shape = value.shape
    return None if shape is None or None in shape else shape  # type: ignore[return-value]
