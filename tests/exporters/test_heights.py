"""Heights that nodes share in a picture: never against an arrow, and layout takes them."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphscope.errors import ExportError
from graphscope.exporters.graphviz_program import program
from graphscope.exporters.heights import consistent
from graphscope.exporters.picture import picture
from graphscope.exporters.placement import beside
from graphscope.graph.view import Cluster, GraphView, ViewEdge, ViewNode

NODES = st.integers(0, 9).map(str)
PAIRS = st.lists(st.tuples(NODES, NODES).filter(lambda pair: pair[0] != pair[1]), max_size=14)


def has_cycle(arrows: list[tuple[str, str]], level: list[tuple[str, str]]) -> bool:
    """Whether some arrow leads back to its own height; heights by repeated renaming, order by Python's own sorter."""
    height = {node: node for pair in (*arrows, *level) for node in pair}
    for one, other in level:
        old, new = height[one], height[other]
        height = {node: new if name == old else name for node, name in height.items()}
    sorter = TopologicalSorter[str]()
    for above, below in arrows:
        if height[above] == height[below]:
            return True
        sorter.add(height[below], height[above])
    try:
        sorter.prepare()
    except CycleError:
        return True
    return False


@pytest.mark.slow
@given(PAIRS, PAIRS)
def test_heights_agree_with_every_arrow_and_no_pair_is_left_out_in_vain(
    arrows: list[tuple[str, str]], wanted: list[tuple[str, str]]
) -> None:
    arrows = [(min(pair), max(pair)) for pair in arrows]  # arrows alone have no cycle
    kept = consistent(arrows, wanted)

    assert not has_cycle(arrows, kept)
    assert set(kept) <= set(wanted)
    for pair in set(wanted) - set(kept):
        assert has_cycle(arrows, [*kept, pair])


@st.composite
def views(draw: st.DrawFn) -> GraphView:
    """Forward nodes in nested scopes, and backward nodes that belong to any of them, or to one another."""
    clusters = [Cluster("c0", "scope", "model")]
    for number in range(1, draw(st.integers(1, 5))):
        parent = draw(st.sampled_from(clusters))
        clusters.append(Cluster(f"c{number}", "scope", f"layer {number}", parent.id, parent.depth + 1))
    frames = st.sampled_from([None, *(cluster.id for cluster in clusters)])
    nodes: list[ViewNode] = []
    edges: list[ViewEdge] = []
    for row in range(draw(st.integers(3, 12))):
        edges += [ViewEdge(source.id, f"n{row}", "data") for source in few(draw, nodes)]
        nodes.append(ViewNode(f"n{row}", (row,), "op", "mul", cluster=draw(frames)))
    backward: list[ViewNode] = []
    for row in range(len(nodes), len(nodes) + draw(st.integers(2, 16))):
        forward = draw(st.sampled_from([*nodes, *backward]))
        edges += [ViewEdge(source.id, f"n{row}", "gradient") for source in few(draw, backward)]
        cluster = forward.cluster if draw(st.booleans()) else draw(frames)
        backward.append(
            ViewNode(f"n{row}", (row,), "grad", "rule", graph_pass="backward", cluster=cluster, forward=forward.id)
        )
    return GraphView((*nodes, *backward), tuple(edges), tuple(clusters))


def few(draw: st.DrawFn, nodes: list[ViewNode]) -> list[ViewNode]:
    return draw(st.lists(st.sampled_from(nodes), max_size=3, unique=True)) if nodes else []


@pytest.mark.slow
@given(views())
def test_no_arrow_leads_from_a_height_back_to_it(view: GraphView) -> None:
    arrows = {"data": lambda edge: (edge.source, edge.target), "gradient": lambda edge: (edge.target, edge.source)}
    level = [(id, place.forward) for id, place in beside(view).items() if place.same_rank]

    assert not has_cycle([arrows[edge.kind](edge) for edge in view.edges], level)


def test_the_parts_of_a_rule_lie_between_what_they_lead_to() -> None:
    """As PyTorch's decomposed `linear`: the rule and, behind another part of it, one that belongs to the rule."""
    forward = ViewNode("n0", (0,), "op", "linear")
    rule = ViewNode("n1", (1,), "grad", "LinearBackward", graph_pass="backward", forward="n0")
    part = ViewNode("n2", (2,), "grad", "AddmmBackward", graph_pass="backward")
    last = ViewNode("n3", (3,), "grad", "TBackward", graph_pass="backward", forward="n1")
    edges = (ViewEdge("n1", "n2", "gradient"), ViewEdge("n2", "n3", "gradient"))

    placed = beside(GraphView((forward, rule, part, last), edges))

    assert placed["n1"].same_rank
    assert not placed["n3"].same_rank


@pytest.mark.slow
@settings(max_examples=40)
@given(views())
def test_random_graphs_are_laid_out(view: GraphView) -> None:
    try:
        program()
    except ExportError:
        pytest.skip("no layout program is installed here")
    assert b"<svg" in picture(view, "svg", rankdir="TB", overlay=False)
