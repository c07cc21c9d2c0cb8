"""Views and passes: what is folded, what stays apart, and that nothing is lost on the way."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from graphscope.errors import SelectorError
from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph import Graph
from graphscope.graph.passes import (
    fold_repeats,
    fold_scopes,
    join_sums,
    neighbourhood,
    readable,
    slice_to,
    split_shared_leaves,
    whole,
)

GRADIENT = Flag.REQUIRES_GRAD


def unrolled(tape, steps, *, made_before=False, scope=0):
    """The RNN cell over `steps` inputs: h = tanh(W_h h + W_x x), and the backward pass of its sum."""
    random = np.random.default_rng(0)
    w_h = tape.leaf(random.normal(size=(2, 2)) / 2, "W_h", line=1, flags=GRADIENT)
    w_x = tape.leaf(random.normal(size=(2, 3)) / 2, "W_x", line=2, flags=GRADIENT)
    h = tape.leaf(np.zeros((2, 1)), "h", line=3)
    xs = [tape.leaf(random.normal(size=(3, 1)), "x", line=5) for _ in range(steps if made_before else 0)]
    for step in range(steps):
        x = xs[step] if made_before else tape.leaf(random.normal(size=(3, 1)), "x", line=5)
        h2h = tape.op("mm", w_h, h, line=6, scope=scope)
        i2h = tape.op("mm", w_x, x, line=7, scope=scope)
        total = tape.op("add", h2h, i2h, line=8, scope=scope)
        h = tape.op("tanh", total, line=9, scope=scope)
    return tape.op("sum", h, line=10)


def wiring(view):
    """What a view says, without ids: labels and counts of nodes, and of edges between labels."""
    label = {node.id: (node.label, node.kind, node.site.line if node.site else 0) for node in view.nodes}
    nodes = sorted((*label[node.id], node.count) for node in view.nodes)
    edges = sorted(
        (label[e.source], label[e.target], e.kind, e.carried, e.count) for e in view.edges if e.kind == "data"
    )
    return nodes, edges


def test_the_whole_view_has_each_node_and_edge_once(tape):
    tape.backward(unrolled(tape, 3))
    graph = Graph(tape.log())
    view = whole(graph)
    assert [node.rows for node in view.nodes] == [(node.row,) for node in graph.nodes]
    assert {(e.source, e.target, e.slot, e.argument) for e in view.edges if e.kind != "link"} == {
        (f"n{source}", f"n{row}", slot, argument)
        for row, inputs in tape.inputs.items()
        for argument, (source, slot) in enumerate(inputs)
    }
    links = {(e.source, e.target) for e in view.edges if e.kind == "link"}
    assert links == {(f"n{node.forward.row}", f"n{node.row}") for node in graph.nodes if node.forward}
    assert {node.graph_pass for node in whole(graph, "forward").nodes} == {"forward"}
    assert {node.kind for node in whole(graph, "backward").nodes} == {"grad", "accumulate"}
    some = whole(graph, rows=[node.row for node in graph.select("mm")])
    assert {node.op for node in some.nodes} == {"mm"}
    assert all(edge.source in some.by_id() and edge.target in some.by_id() for edge in some.edges)


@pytest.mark.parametrize("made_before", [False, True])
@pytest.mark.parametrize("steps", [3, 100])
def test_the_unrolled_cell_becomes_one(tape, steps, made_before):
    unrolled(tape, steps, made_before=made_before)
    view = fold_repeats(whole(Graph(tape.log())))
    mm_h, mm_x, add, tanh = ("mm", "op", 6), ("mm", "op", 7), ("add", "op", 8), ("tanh", "op", 9)
    w_h, w_x, h, x = ("W_h", "leaf", 1), ("W_x", "leaf", 2), ("h", "leaf", 3), ("x", "leaf", 5)
    total = ("sum", "op", 10)
    nodes, edges = wiring(view)
    assert nodes == sorted(
        [(*each, steps) for each in (mm_h, mm_x, add, tanh, x)] + [(*each, 1) for each in (w_h, w_x, h, total)]
    )
    assert edges == sorted(
        [
            (w_h, mm_h, "data", False, steps),
            (w_x, mm_x, "data", False, steps),
            (x, mm_x, "data", False, steps),
            (h, mm_h, "data", False, 1),
            (tanh, mm_h, "data", True, steps - 1),
            (mm_h, add, "data", False, steps),
            (mm_x, add, "data", False, steps),
            (add, tanh, "data", False, steps),
            (tanh, total, "data", False, 1),
        ]
    )
    (frame,) = view.clusters
    assert (frame.kind, frame.label, frame.count) == ("repeat", f"x {steps}", steps)
    assert {node.label for node in view.members()[frame.id]} == {"mm", "add", "tanh", "x"}


def test_the_backward_of_the_cell_folds_into_the_same_frame(tape):
    tape.backward(unrolled(tape, 100))
    graph = Graph(tape.log())
    view = fold_repeats(whole(graph))
    grads = {(node.label, node.site.line): node.count for node in view.nodes if node.kind == "grad"}
    assert grads == {
        ("SumBackward", 10): 1,
        ("TanhBackward", 9): 100,
        ("AddBackward", 8): 100,
        ("MmBackward", 7): 100,
        ("MmBackward", 6): 100,
    }
    sums = {(node.name, node.count) for node in view.nodes if node.kind == "accumulate"}
    assert sums == {("W_h", 100), ("W_x", 100), ("x", 100), ("h", 1)}
    (frame,) = view.clusters
    inside = {node.label for node in view.members()[frame.id]}
    assert {"TanhBackward", "AddBackward", "MmBackward", "accumulate", "mm", "tanh"} <= inside
    assert "SumBackward" not in inside
    assert any(edge.carried and edge.kind == "gradient" and edge.count == 99 for edge in view.edges)
    rows = sorted(row for node in view.nodes for row in node.rows)
    assert rows == [node.row for node in graph.nodes]


def calls_in(function: Callable[[], Any]) -> tuple[Any, int]:
    """What a function returns, and how many calls that took: a measure of work that no load of the machine changes."""
    count = 0

    def counted(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    former = sys.getprofile()
    sys.setprofile(counted)
    try:
        return function(), count
    finally:
        sys.setprofile(former)


@pytest.mark.slow
def test_two_thousand_iterations_fold_in_linear_time(make_tape):
    short, tape = make_tape(), make_tape()
    short.backward(unrolled(short, 500))
    _, work = calls_in(partial(fold_repeats, whole(Graph(short.log()))))
    tape.backward(unrolled(tape, 2000))
    graph = Graph(tape.log())
    view = whole(graph)
    folded, more_work = calls_in(partial(fold_repeats, view))
    assert more_work < 6 * work
    assert max(node.count for node in folded.nodes) == 2000
    assert len(folded.nodes) < 25
    last = graph.nodes[-1]
    assert len(graph.ancestors(last)) > 1000
    assert graph.path(graph.node(0), last)
    assert len(slice_to(view, last).nodes) == len(graph.ancestors(last)) + 1


def chain(tape, lines, shape=(2,)):
    """A chain of tanh, one at each of these lines."""
    h = tape.leaf(np.zeros(shape), "h")
    for line in lines:
        h = tape.op("tanh", h, line=line)
    return h


def counts(tape):
    view = fold_repeats(whole(Graph(tape.log())))
    return [node.count for node in view.nodes if node.kind == "op"]


def test_different_places_stay_apart(tape):
    chain(tape, [2, 3, 4, 5, 6])
    assert counts(tape) == [1, 1, 1, 1, 1]


def test_one_place_again_and_again_folds(tape):
    chain(tape, [2, 3, 3, 3, 4])
    assert counts(tape) == [1, 3, 1]


def test_a_loop_with_two_bodies_folds_where_it_repeats(tape):
    chain(tape, [2, 3, 2, 3, 2, 3, 7, 8, 7, 8])
    assert counts(tape) == [3, 3, 2, 2]


def test_loops_in_a_loop_fold_from_the_inside(tape):
    chain(tape, [2, *([3, 3, 3, 4] * 3), 5])
    view = fold_repeats(whole(Graph(tape.log())))
    assert [(node.site.line, node.count) for node in view.nodes if node.kind == "op"] == [
        (2, 1),
        (3, 9),
        (4, 3),
        (5, 1),
    ]
    inner, outer = sorted((c for c in view.clusters), key=lambda cluster: -cluster.depth)
    assert (inner.parent, outer.label) == (outer.id, "x 3")


def test_iterations_that_do_not_feed_one_another_stay_apart(tape):
    for _ in range(4):
        x = tape.leaf(np.ones(2), "x", line=1)
        tape.op("tanh", tape.op("mul", x, x, line=2), line=3)
    assert counts(tape) == [1] * 8


def test_iterations_of_other_scopes_and_shapes_stay_apart(tape):
    h = tape.leaf(np.zeros(2), "h")
    for name in ("one", "two", "three"):
        h = tape.op("tanh", h, line=3, scope=tape.scope(name))
    wide = tape.leaf(np.zeros((2, 2)), "wide")
    for _ in range(3):
        wide = tape.op("add", wide, h, line=4)
    assert counts(tape) == [1, 1, 1, 3]


def test_iterations_wired_otherwise_stay_apart(tape):
    """The same places, but from the third iteration on the first input is used, not the newest."""
    first = h = tape.leaf(np.ones(2), "h")
    for step in range(6):
        h = tape.op("tanh", tape.op("add", h, h if step < 3 else first, line=2), line=3)
    assert counts(tape) == [3, 3, 3, 3]


def test_weights_of_different_places_stay_apart(tape):
    weights = [tape.leaf(np.eye(2), f"W{line}", line=line, flags=GRADIENT) for line in (1, 2)]
    h = tape.leaf(np.ones((2, 1)), "h", line=3)
    for weight in weights:
        h = tape.op("tanh", tape.op("mm", weight, h, line=4), line=5)
    assert counts(tape) == [1, 1, 1, 1]


def test_nodes_without_a_known_place_stay_apart(tape):
    h = tape.leaf(np.zeros(2), "h")
    template = tape.writer.template(Kind.OP, shape=(2,), dtype=np.dtype("f4"), input_count=1)
    for _ in range(4):
        h = tape.writer.append(template, np.zeros(2, np.float32), 0, 0, 0, h)
    assert counts(tape) == [1, 1, 1, 1]


def test_shared_leaves_are_drawn_beside_their_users(tape):
    tape.backward(unrolled(tape, 3))
    view = whole(Graph(tape.log()))
    split = split_shared_leaves(view)
    copies = [node for node in split.nodes if node.name == "W_h" and node.kind == "leaf"]
    assert [node.id for node in copies] == ["n0", "n0_1", "n0_2"]
    assert {node.rows for node in copies} == {(0,)}
    for copy in copies:
        assert len([e for e in split.edges if e.source == copy.id]) == 1
    arrows = sorted(edge.target for edge in view.edges if edge.kind == "data")
    assert sorted(edge.target for edge in split.edges if edge.kind == "data") == arrows
    assert len({node.id for node in split.nodes}) == len(split.nodes)


def test_scopes_fold_into_one_box_a_call(tape):
    outer, inner = tape.scope("net", "fc1"), tape.scope("net", "fc2")
    x = tape.leaf(np.ones((2, 2)), "x")
    w1, w2 = (tape.leaf(np.eye(2), name, scope=scope) for name, scope in (("w1", outer), ("w2", inner)))
    h = tape.op("tanh", tape.op("mm", x, w1, line=2, scope=outer), line=3, scope=outer)
    y = tape.op("mm", h, w2, line=4, scope=inner)
    loss = tape.op("sum", y, line=5)
    tape.backward(loss)
    view = whole(Graph(tape.log()))
    assert [(c.label, c.path, c.depth) for c in view.clusters] == [
        ("net: Module", "net", 0),
        ("fc1: Module", "net.fc1", 1),
        ("fc2: Module", "net.fc2", 1),
    ]
    deep = fold_scopes(view, 2)
    boxes = [(node.label, node.op, node.name, node.graph_pass) for node in deep.nodes if node.kind == "scope"]
    assert boxes == [("fc1", "Module", "net.fc1", "both"), ("fc2", "Module", "net.fc2", "both")]
    assert [c.path for c in deep.clusters] == ["net"]
    assert {node.label for node in deep.nodes if node.kind == "leaf"} == {"x"}
    fc1, fc2 = (node.id for node in deep.nodes if node.kind == "scope")
    assert {(fc1, fc2, "data"), (fc2, fc1, "gradient")} <= {(e.source, e.target, e.kind) for e in deep.edges}
    flat = fold_scopes(view)
    (net,) = (node for node in flat.nodes if node.kind == "scope")
    assert (net.label, net.graph_pass) == ("net", "both")
    assert flat.clusters == ()
    assert [node.label for node in flat.nodes if node.graph_pass == "backward"] == ["SumBackward", "accumulate"]
    alone = fold_scopes(whole(Graph(tape.log()), "backward"), 2)
    assert [(node.label, node.graph_pass) for node in alone.nodes if node.kind == "scope"] == [
        ("fc2", "backward"),
        ("fc1", "backward"),
    ]
    for folded in (deep, flat):
        known = folded.by_id()
        assert all(edge.source in known and edge.target in known for edge in folded.edges)
        assert all(node.forward is None or node.forward in known for node in folded.nodes)


def stack(tape, count):
    """Layers that are equal but for the numbers in their names, of one line, with a weight each."""
    h = tape.leaf(np.ones((2, 2)), "x", line=1)
    for number in range(count):
        layer = tape.scope("net", f"h.{number}")
        weight = tape.leaf(np.eye(2), f"net.h.{number}.weight", line=2, flags=GRADIENT | Flag.PARAMETER, scope=layer)
        h = tape.op("tanh", tape.op("mm", weight, h, line=3, scope=layer), line=4, scope=layer)
    return tape.op("sum", h, line=5)


def test_equal_layers_are_drawn_once(tape):
    tape.backward(stack(tape, 12))
    view = fold_repeats(whole(Graph(tape.log())))
    found = {(node.label, node.count) for node in view.nodes}
    assert {("mm", 12), ("tanh", 12), ("net.h.*.weight", 12), ("MmBackward", 12), ("TanhBackward", 12)} <= found
    assert {("x", 1), ("sum", 1), ("SumBackward", 1)} <= found
    frames = {cluster.label: cluster for cluster in view.clusters}
    layer, loop = frames["h.0 … h.11: Module"], frames["x 12"]
    assert layer.parent == loop.id
    backward = [node for node in view.nodes if node.kind == "grad" and node.count == 12]
    assert all(node.cluster == layer.id for node in backward)


def test_equal_layers_that_are_folded_are_drawn_once(tape):
    tape.backward(stack(tape, 12))
    view = fold_repeats(fold_scopes(whole(Graph(tape.log())), 2))
    (box,) = (node for node in view.nodes if node.kind == "scope")
    assert (box.label, box.name, box.count, box.graph_pass) == ("h.*", "net.h.*", 12, "both")
    assert {(edge.kind, edge.count) for edge in view.edges if edge.carried} == {("data", 11), ("gradient", 11)}


def test_what_was_there_before_is_a_leaf(tape):
    """The weights of a later step, which an optimizer has written; what only they use is left out."""
    weight = tape.leaf(np.eye(2), "w", line=1, flags=GRADIENT | Flag.PARAMETER)
    before = tape.op("tanh", weight, line=2)
    product = tape.op("mul", before, weight, line=3)
    graph = Graph(tape.log())
    view = whole(graph, rows=[product], givens=True)
    assert [(node.kind, node.label, node.parameter) for node in view.nodes] == [
        ("leaf", "tanh", False),
        ("leaf", "w", True),
        ("op", "mul", False),
    ]
    assert {(edge.source, edge.argument) for edge in view.edges} == {(f"n{before}", 0), (f"n{weight}", 1)}
    assert [node.label for node in whole(graph, rows=[product]).nodes] == ["mul"]


def test_contributions_to_one_gradient_are_one_sum(tape):
    x = tape.leaf(np.ones(2), "x", flags=GRADIENT)
    h = tape.op("tanh", x, line=2)
    tape.backward(tape.op("sum", tape.op("add", h, tape.op("mul", h, h, line=3), line=4), line=5))
    view = whole(Graph(tape.log()))
    joined = join_sums(view)
    (summed,) = (node for node in joined.nodes if node.kind == "accumulate" and node.forward == f"n{h}")
    parts = [node for node in view.nodes if node.kind == "accumulate" and node.forward == f"n{h}"]
    assert len(parts) == 3
    assert summed.rows == tuple(node.rows[0] for node in parts)
    rows = sorted(row for node in joined.nodes for row in node.rows)
    assert rows == sorted(row for node in view.nodes for row in node.rows)
    assert sum(node.loss for node in joined.nodes) == 1


def test_a_view_is_folded_no_more_than_it_takes(tape):
    tape.backward(stack(tape, 30))
    view = whole(Graph(tape.log()))
    found, told = readable(view)
    assert len(split_shared_leaves(found).nodes) <= 60
    assert told
    assert {node.kind for node in found.nodes} >= {"scope", "op"}
    small = whole(Graph(tape.log()), "forward", (node.row for node in Graph(tape.log()).nodes[:20]))
    assert readable(small) == (small, "")


def test_what_can_not_be_folded_is_cut_around_the_loss(tape):
    tape.backward(chain(tape, range(2, 200)))
    view = whole(Graph(tape.log()))
    found, told = readable(view)
    assert len(found.nodes) == 80
    assert "80 of" in told
    assert any(node.loss for node in found.nodes)


def test_neighbourhood_and_slice(tape):
    chain(tape, range(2, 8))
    graph = Graph(tape.log())
    view = whole(graph)
    assert [node.rows[0] for node in neighbourhood(view, 3, 1).nodes] == [2, 3, 4]
    assert [node.rows[0] for node in neighbourhood(view, graph.node(0), 2).nodes] == [0, 1, 2]
    assert [node.rows[0] for node in slice_to(view, 3).nodes] == [0, 1, 2, 3]
    assert [node.row for node in graph.neighbours(graph.node(3), 1)] == [2, 3, 4]
    with pytest.raises(SelectorError, match="#99 is not in this picture"):
        neighbourhood(view, 99)


def test_marks_on_boxes(tape):
    a = tape.leaf([1.0, np.nan, 0.5], "a", flags=Flag.PARAMETER | GRADIENT)
    tape.op("tanh", a, line=2)
    tape.writer.mark(Kind.EDIT, inputs=(a,), value=np.zeros(3, np.float32))
    view = whole(Graph(tape.log(), 1))
    assert [(n.parameter, n.requires_grad, n.nonfinite, n.edited, n.current) for n in view.nodes] == [
        (True, True, False, True, False),
        (False, False, True, False, True),
    ]
    assert [node.edited for node in whole(Graph(tape.log())).nodes] == [True, False]


def test_a_rule_that_ran_ahead_of_its_loop_joins_it_and_no_arrow_is_lost(tape):
    total = tape.leaf(0.0, line=4)
    for number in range(12):
        p = tape.leaf(np.ones(3), f"p{number}", line=1, flags=Flag.PARAMETER | Flag.REQUIRES_GRAD)
        square = tape.op("mul", p, p, line=2)
        part = tape.op("sum", square, line=2, column=8)
        total = tape.op("add", total, part, line=3)
    tape.backward(total)
    view = fold_repeats(whole(Graph(tape.log())))
    assert len(view.nodes) < 30
    drawn = view.by_id()
    assert all(edge.source in drawn and edge.target in drawn for edge in view.edges)
    rules = {node.label: node.count for node in view.nodes if node.kind == "grad"}
    assert rules == {"AddBackward": 12, "SumBackward": 12, "MulBackward": 12}
