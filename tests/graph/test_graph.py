"""Users, ancestors, paths and gradients, against the same facts worked out naively from plain lists."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphscope.errors import LogError
from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.graph import Graph

dags = st.lists(st.lists(st.integers(0, 10**6), max_size=6), min_size=1, max_size=40)
anything = settings(max_examples=40)


def random_graph(make_tape, dag):
    """A log whose node `i` takes the inputs `dag[i]` (taken modulo i), of several slots."""
    tape = make_tape()
    for number, sources in enumerate(dag):
        inputs = [(source % number, source % 3) for source in sources] if number else []
        tape._row(Kind.OP if inputs else Kind.LEAF, np.float32(number), op="mul" if inputs else "", inputs=inputs)
    return tape, Graph(tape.log())


def reachable(start, step):
    seen, border = set(), [start]
    while border:
        row = border.pop()
        for other in step(row):
            if other not in seen:
                seen.add(other)
                border.append(other)
    return sorted(seen)


@pytest.mark.slow
@given(dags, st.data())
@anything
def test_edges_and_ancestors_are_those_of_the_plain_lists(make_tape, dag, data):
    tape, graph = random_graph(make_tape, dag)
    row = data.draw(st.integers(0, len(dag) - 1))
    now = data.draw(st.integers(row, len(dag) - 1))
    graph = graph.at(now)
    node = graph.node(row)
    assert [(edge.source.row, edge.slot, edge.argument) for edge in node.inputs] == [
        (source, slot, argument) for argument, (source, slot) in enumerate(tape.inputs[row])
    ]
    users = [
        (user, slot, argument)
        for user, inputs in tape.inputs.items()
        if user <= now
        for argument, (source, slot) in enumerate(inputs)
        if source == row
    ]
    assert [(edge.target.row, edge.slot, edge.argument) for edge in node.users] == users
    above = reachable(row, lambda each: [source for source, _ in tape.inputs[each]])
    below = reachable(row, lambda each: [user for user in range(now + 1) if each in dict(tape.inputs[user])])
    assert [each.row for each in graph.ancestors(node)] == above
    assert [each.row for each in graph.descendants(node)] == below
    assert [each.row for each in graph.ancestors(node, 1)] == sorted({source for source, _ in tape.inputs[row]})
    assert [each.row for each in graph.nodes] == list(range(now + 1))


@pytest.mark.slow
@given(dags, st.data())
@anything
def test_a_path_is_a_shortest_one(make_tape, dag, data):
    tape, graph = random_graph(make_tape, dag)
    rows = st.integers(0, len(dag) - 1)
    a, b = data.draw(rows), data.draw(rows)
    found = [node.row for node in graph.path(graph.node(a), graph.node(b))]
    distance = {min(a, b): 0}
    for row in range(min(a, b) + 1, len(dag)):
        known = [distance[source] + 1 for source, _ in tape.inputs[row] if source in distance]
        if known:
            distance[row] = min(known)
    if max(a, b) not in distance:
        assert found == []
    else:
        assert (found[0], found[-1]) == (min(a, b), max(a, b))
        assert len(found) == distance[max(a, b)] + 1
        assert all(one in dict(tape.inputs[other]) for one, other in pairwise(found))


@pytest.mark.slow
def test_relations_hold_over_many_blocks_and_segments(tape):
    count = 150_000
    template = tape.writer.template(Kind.OP, dtype=np.dtype("f4"), input_count=2)
    long = tape.writer.template(Kind.OP, dtype=np.dtype("f4"), input_count=5)
    random = np.random.default_rng(1)
    picks = random.integers(0, np.maximum(np.arange(count * 1), 1)[:, None], (count, 2))
    users: dict[int, list[tuple[int, int]]] = {}
    tape.leaf(1.0)
    for row in range(1, count):
        pair = [int(pick) for pick in picks[row]]
        if row % 7 == 0:
            pair = [pair[0]] * 3 + pair
            tape.writer.append_wide(long, [(np.float32(0), long.keep)], [(each, 0) for each in pair])
        else:
            tape.writer.append(template, 0.0, 0, 0, 0, *pair)
        for argument, source in enumerate(pair):
            users.setdefault(source, []).append((row, argument))
    graph = Graph(tape.log())
    for row in [0, 1, 65_535, 65_536, 131_071, count - 1, *random.integers(0, count, 50).tolist()]:
        assert [(edge.target.row, edge.argument) for edge in graph.node(row).users] == users.get(row, [])
    assert len(graph.nodes) == count
    assert graph.nodes[70_000].row == 70_000


def test_a_growing_log_is_followed(tape):
    graph = Graph(tape.log())
    a = tape.leaf(2.0, "a")
    graph.log.refresh()
    assert graph.node(a).users == []
    b = tape.op("mul", a, a)
    graph.log.refresh()
    assert [edge.target.row for edge in graph.node(a).users] == [b, b]
    assert graph.now == b
    assert graph.at(a).node(a).users == []


def test_a_log_that_was_finished_since_is_followed_to_its_end(tape):
    a = tape.leaf(2.0, "a")
    graph = Graph(tape.log())
    assert graph.node(a).users == []
    b = tape.op("mul", a, a)
    tape.writer.close()
    assert graph.log.closed
    assert graph.node(a).users == []
    graph.log.refresh()
    assert [edge.target.row for edge in graph.node(a).users] == [b, b]


def test_gradients_at_every_moment(tape):
    """`y = a*b + a` summed: a has two contributions, and so has the cotangent of what is used twice."""
    a, b = tape.leaf([1.0, 2.0], "a"), tape.leaf([3.0, 4.0], "b")
    product = tape.op("mul", a, b)
    both = tape.op("add", product, product)
    total = tape.op("add", both, a)
    tape.backward(total)
    graph = Graph(tape.log())
    assert graph.node(a).grad.tolist() == [7.0, 9.0]  # 2b + 1
    assert graph.node(b).grad.tolist() == [2.0, 4.0]  # 2a
    assert graph.node(product).grad.tolist() == [2.0, 2.0]
    assert [part.value.tolist() for part in graph.node(product).contributions] == [[1.0, 1.0], [1.0, 1.0]]
    parts = graph.node(a).contributions
    assert [part.value.tolist() for part in parts] == [[1.0, 1.0], [6.0, 8.0]]
    assert [part.source.op for part in parts] == ["add", "mul"]
    first, second = (part.row for part in parts)
    assert graph.at(first - 1).node(a).grad is None
    assert graph.at(second - 1).node(a).grad.tolist() == [1.0, 1.0]
    (grad,) = [each for each in graph.node(product).backward if each.kind == "grad"]
    assert grad.grad.tolist() == grad.value.tolist() == [2.0, 2.0]
    assert grad.forward == graph.node(product)
    assert (grad.label, grad.graph_pass) == ("MulBackward", "backward")
    assert graph.node(total).contributions == []
    assert graph.node(second).label == "accumulate"
    assert graph.node(second).grad.tolist() == [7.0, 9.0]
    assert graph.node(first).grad.tolist() == [1.0, 1.0]


def test_a_second_backward_adds_until_the_gradient_is_fresh_again(tape):
    a = tape.leaf([2.0])
    y = tape.op("mul", a, a)
    tape.backward(y)
    tape.backward(y)
    graph = Graph(tape.log())
    assert graph.node(a).grad.tolist() == [8.0]
    assert graph.node(y).grad.tolist() == [1.0]
    tape.fresh.clear()
    tape.backward(y)
    graph.log.refresh()
    assert graph.node(a).grad.tolist() == [4.0]


def test_a_leaf_written_again_is_the_same_leaf(tape):
    a = tape.leaf([2.0], "a")
    y = tape.op("mul", a, a)
    shape = {"shape": (1,), "dtype": np.dtype("f4")}
    again = tape.writer.append(tape.writer.template(Kind.LEAF, **shape), np.float32([2.0]), tensor=a)
    tape.values[again], tape.inputs[again], tape._lines[again] = np.float32([2.0]), [], (1, 0, 0)
    tape.leaves.add(again)
    z = tape.op("mul", again, again)
    tape.fresh.add(again)
    tape.backward(y)
    tape.backward(z)
    graph = Graph(tape.log())
    for row in (a, again):
        assert [edge.target.row for edge in graph.node(row).users] == [y, y, z, z]
        assert graph.node(row).grad.tolist() == [8.0]
    assert z in [each.row for each in graph.descendants(graph.node(a))]


def test_an_edit_holds_wherever_one_stands(tape):
    """The program waited with the value: nobody has used what was computed."""
    a = tape.leaf([2.0], "a")
    edit = tape.writer.mark(Kind.EDIT, inputs=(a,), value=np.float32([5.0]))
    b = tape.leaf([1.0], "b")
    graph = Graph(tape.log())
    assert graph.node(a).value.tolist() == [5.0]
    assert graph.node(a).edited
    assert graph.node(a).summary.maximum == 5.0
    for now in (a, edit, b):
        assert graph.at(now).node(a).value.tolist() == [5.0]
        assert graph.at(now).node(a).edited
    assert graph.at(a).node(a).computed.tolist() == [2.0]


def test_an_edited_contribution_counts(tape):
    a = tape.leaf([2.0], "a")
    y = tape.op("mul", a, a)
    tape.backward(y)
    graph = Graph(tape.log())
    part = graph.node(a).contributions[0].row
    tape.writer.mark(Kind.EDIT, inputs=(part,), value=np.float32([10.0]))
    graph.log.refresh()
    assert graph.node(a).grad.tolist() == [12.0]


def test_an_op_inside_a_rule_belongs_to_the_rule(tape):
    a = tape.leaf([2.0], "a")
    y = tape.op("mul", a, a)
    tape.backward(y)
    graph = Graph(tape.log())
    (grad,) = [node for node in graph.node(y).backward if node.kind == "grad"]
    op = tape.writer.intern("ops", "mul", {})
    template = tape.writer.template(Kind.OP, op=op, dtype=np.dtype("f4"), graph_pass=Pass.BACKWARD, input_count=1)
    inside = tape.writer.append(template, 1.0, 0, 0, grad.row, grad.row)
    graph.log.refresh()
    assert graph.node(inside).forward == grad
    assert inside in [node.row for node in grad.backward]
    assert graph.node(inside).graph_pass == "backward"


def test_what_is_no_node_is_refused_in_words(tape):
    a = tape.leaf([2.0], "a")
    y = tape.op("mul", a, a)
    tape.backward(y)
    graph = Graph(tape.log())
    with pytest.raises(LogError, match=f"row #{y + 1} is no node but a mark \\(backward begin\\)") as caught:
        graph.node(y + 1)
    assert caught.value.hint == f"the nodes beside it are #{y} and #{y + 2}"
    with pytest.raises(LogError, match="no row #999"):
        graph.node(999)
    with pytest.raises(LogError, match=f"row #{y} is not there yet at #{a}"):
        graph.at(a).node(y)


def test_a_parameter_changed_in_place_keeps_its_gradient(tape):
    a = tape.leaf([2.0], "a", flags=Flag.REQUIRES_GRAD)
    op = tape.writer.intern("ops", "add_", {"name": "add_"})
    shape = {"shape": (1,), "dtype": np.dtype("f4")}
    template = tape.writer.template(Kind.OP, op=op, flags=Flag.IN_PLACE, version=1, input_count=1, **shape)
    changed = tape.writer.append(template, np.float32([3.0]), 0, 0, 0, a, tensor=a)
    tape.values[changed], tape.inputs[changed] = np.float32([3.0]), [(a, 0)]
    tape._lines[changed] = (1, 0, 0)
    tape.leaves.add(changed)
    y = tape.op("mul", changed, changed)
    tape.backward(y)
    graph = Graph(tape.log())
    assert graph.node(a).grad.tolist() == [6.0]
    assert graph.node(changed).grad.tolist() == [6.0]
