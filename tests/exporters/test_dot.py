"""The DOT exporter: what Graphviz reads is what the view says."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from graphscope.exporters.dot import dot
from graphscope.exporters.export import export
from graphscope.exporters.graphviz_program import drawn
from graphscope.graph.view import Cluster, GraphView, ViewEdge, ViewNode

from .conftest import parse, unrolled

ROOT = Path(__file__).parents[2]


def with_node(view: GraphView, number: int, **changes: object) -> GraphView:
    """The view with one node changed."""
    nodes = list(view.nodes)
    nodes[number] = replace(nodes[number], **changes)  # type: ignore[arg-type]
    return replace(view, nodes=tuple(nodes))


def test_nodes_and_edges_come_back(product: GraphView) -> None:
    found = parse(dot(product))
    assert set(found.nodes) == {"n0", "n1", "n2", "n4", "n5", "n6"}
    assert found.pairs(style="dashed", dir="back") == {("n5", "n4"), ("n6", "n4")}
    assert found.pairs(style="dotted") == {("n2", "n4"), ("n0", "n5"), ("n1", "n6")}
    assert {("n0", "n2"), ("n1", "n2")} <= found.pairs()
    assert len(found.edges) == 7


def test_kinds_differ_by_shape(product: GraphView) -> None:
    found = parse(dot(product))
    shapes = {name: node["shape"] for name, node in found.nodes.items()}
    assert len({shapes[name] for name in ("n0", "n1", "n2", "n4", "n5")}) == 5


def test_op_and_name_stand_on_the_node_and_the_shape_on_the_edge(product: GraphView) -> None:
    product = replace(product, edges=(replace(product.edges[0], shape=(2, 3)), *product.edges[1:]))
    found = parse(dot(product))
    assert "mul" in found.nodes["n2"]["label"]
    assert ">c<" in found.nodes["n2"]["label"]
    labels = {(edge["from"], edge["to"]): edge.get("label", "") for edge in found.edges}
    assert "2×3" in labels["n0", "n2"]
    assert "scalar" in labels["n1", "n2"]


def test_backward_lies_beside_forward(product: GraphView) -> None:
    lines = [line.split() for line in drawn(dot(product), "plain").decode().splitlines()]
    place = {words[1]: (float(words[2]), float(words[3])) for words in lines if words[0] == "node"}
    for forward, backward in (("n2", "n4"), ("n0", "n5"), ("n1", "n6")):
        assert place[forward][1] == pytest.approx(place[backward][1], abs=0.01)
        assert place[forward][0] < place[backward][0]
    assert place["n0"][1] > place["n2"][1]


def test_backward_alone_runs_down(product: GraphView) -> None:
    nodes = tuple(node for node in product.nodes if node.graph_pass == "backward")
    found = parse(dot(replace(product, nodes=nodes, edges=product.edges[3:5])))
    assert found.pairs() == {("n4", "n5"), ("n4", "n6")}
    assert found.pairs(dir="back") == set()


@pytest.mark.parametrize(
    ("fact", "glyph", "attribute"),
    [("current", "►", "penwidth"), ("breakpoint", "●", "penwidth"), ("nonfinite", "NaN or Inf", "penwidth")],
)
def test_marks_are_seen_without_colour(product: GraphView, fact: str, glyph: str, attribute: str) -> None:
    plain, marked = parse(dot(product)), parse(dot(with_node(product, 2, **{fact: True})))
    assert glyph not in plain.nodes["n2"]["label"]
    assert glyph in marked.nodes["n2"]["label"]
    assert attribute in marked.nodes["n2"]
    assert attribute not in plain.nodes["n2"]


def test_a_folded_node_says_how_often(product: GraphView) -> None:
    assert "× 100" in parse(dot(with_node(product, 2, count=100))).nodes["n2"]["label"]


def test_a_frame_that_says_how_often_says_it_once(product: GraphView) -> None:
    folded = with_node(product, 2, count=100, cluster="r")
    found = parse(dot(replace(folded, clusters=(Cluster("r", "repeat", "x 100", count=100),))))
    assert "× 100" in found.clusters["cluster_r"]["label"]
    assert "× 100" not in found.nodes["n2"]["label"]


def test_frames_lie_in_frames(product: GraphView) -> None:
    clusters = (
        Cluster("s1", "scope", "encoder: Encoder", path="encoder"),
        Cluster("s2", "scope", "0: Linear", parent="s1", depth=1, path="encoder.0"),
    )
    found = parse(dot(replace(with_node(product, 2, cluster="s2"), clusters=clusters)))
    assert set(found.clusters) == {"cluster_s1", "cluster_s2"}
    assert found.clusters["cluster_s2"]["nodes"] == {"n2"}
    assert "n2" in found.clusters["cluster_s1"]["nodes"]


def test_an_arrow_to_the_next_iteration_is_no_rank(product: GraphView) -> None:
    carried = ViewEdge("n2", "n0", "data", shape=(), carried=True)
    found = parse(dot(replace(product, edges=(*product.edges, carried))))
    assert found.pairs(constraint="false") == {("n2", "n0")}


@pytest.mark.parametrize("name", ['"', "\\N", "<b>&", "a\nb", "\x1b[31m", "\u202eevil", "x" * 10_000, "\ud800"])
def test_hostile_names_draw_the_same_graph(product: GraphView, name: str) -> None:
    hostile = with_node(with_node(product, 2, label=name, name=name, scope=name, cluster="c"), 0, name=name, label=name)
    hostile = replace(hostile, clusters=(Cluster("c", "scope", name, path=name),))
    source = dot(hostile)
    found = parse(source)
    assert set(found.nodes) == {node.id for node in product.nodes}
    assert len(found.edges) == len(product.edges)
    assert len(source) < 20_000
    assert "\x1b" not in source
    assert "\u202e" not in source


@pytest.mark.slow
def test_ten_thousand_nodes_deep_and_nested_is_written_without_recursion() -> None:
    nodes = tuple(ViewNode(f"n{row}", (row,), "op", "add", cluster=f"s{row % 500}") for row in range(10_000))
    edges = tuple(ViewEdge(f"n{row}", f"n{row + 1}", "data") for row in range(9_999))
    clusters = tuple(Cluster(f"s{depth}", "scope", "s", f"s{depth - 1}" if depth else None) for depth in range(500))
    source = dot(GraphView(nodes, edges, clusters))
    assert source.count(" -> ") == 9_999


@pytest.mark.slow
def test_the_same_log_gives_the_same_bytes(recorded, tmp_path: Path) -> None:
    log = recorded(lambda: unrolled(3))
    code = (
        "import sys, graphscope as gs; log = gs.load(sys.argv[1]);"
        "gs.export(log, sys.argv[2], overlay=True, fold=['scopes', 'repeats']);"
        "gs.export(log, sys.argv[3], overlay=True)"
    )
    written = []
    for seed in ("1", "2"):
        places = [str(tmp_path / f"{name}{seed}.dot") for name in ("folded", "whole")]
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        subprocess.run([sys.executable, "-c", code, str(log.path), *places], check=True, env=environment, timeout=120)
        written.append([Path(place).read_bytes() for place in places])
    assert written[0] == written[1]
    assert written[0][1].decode() == export(log, format="dot", overlay=True)
