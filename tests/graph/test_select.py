"""Selectors: what is found by columns is what asking each node finds; what is wrong is said."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphscope.errors import SelectorError
from graphscope.eventlog.schema import Kind
from graphscope.graph import Graph, descriptions, search
from graphscope.graph.select import FORMS, parse

SOURCE = """\
W_h = make()
x = make()
h2h = mm(W_h, x)
y = tanh(add(h2h, h2h))
total = linear(y)
"""


@pytest.fixture(scope="module")
def graph(make_tape):
    tape = make_tape()
    tape.source(SOURCE)
    encoder = tape.scope("encoder", "layers", "0")
    w = tape.leaf(np.eye(2), "W_h", line=1)
    x = tape.leaf(np.ones((2, 2)), "x", line=2)
    h2h = tape.op("mm", w, x, line=3, column=6, scope=encoder)
    inner = tape.op("add", h2h, h2h, line=4, column=9, scope=encoder)
    y = tape.op("tanh", inner, line=4, column=4)
    one = tape.op("mul", y, y, line=5, column=8)
    total = tape.op("add", one, y, line=5, column=8)
    tape.backward(total)
    return Graph(tape.log())


def rows(graph, spec):
    return [node.row for node in graph.select(spec)]


def test_every_form_finds_its_nodes(graph):
    node = {each.row: each for each in graph.nodes}
    assert rows(graph, "#2") == [2]
    assert rows(graph, "op:mm forward") == [2]
    assert {node[row].kind for row in rows(graph, "mm")} == {"op", "grad"}
    assert rows(graph, "mm backward") == rows(graph, "MmBackward") == rows(graph, "MmBackward0")
    assert rows(graph, "leaf") == [0, 1]
    assert rows(graph, "W_h and forward") == [0]
    assert {node[row].kind for row in rows(graph, "name:W_*")} == {"leaf", "accumulate"}
    assert rows(graph, "scope:encoder.* forward") == [2, 3]
    assert {node[row].op for row in rows(graph, "scope:encoder.layers.0 backward grad")} == {"mm", "add"}
    assert rows(graph, "line:model.py:4 forward") == rows(graph, "line:me/model.py:4 and forward") == [3, 4]
    assert rows(graph, "line:del.py:4") == []
    assert rows(graph, "#2 backward") == []
    assert rows(graph, "accumulate") == rows(graph, "op:accumulate")
    assert set(rows(graph, "grad")) < set(rows(graph, "backward"))


WORDS = (
    "#2 #9 mm add W_h h2h y total TanhBackward op:m* op:leaf name:* name:? name:h2h scope:* scope:encoder.* "
    "line:model.py:4 line:model.py:5 forward backward leaf grad accumulate"
)


@pytest.mark.slow
@given(st.lists(st.sampled_from(WORDS.split()), min_size=1, max_size=3), st.integers(-1, 40), st.integers(1, 40))
def test_descriptions_find_what_asking_each_node_finds(graph, words, now, block):
    if {"forward", "backward"} <= set(words):
        return
    here = graph.at(None if now < 0 else min(now, graph.log.end - 1))
    selector = parse(" and ".join(words))
    expected = [node.row for node in here.nodes if selector.matches(node)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(descriptions, "BLOCK", block)
        patch.delitem(graph.log.readings, descriptions.Descriptions, raising=False)
        assert [node.row for node in search.find(here, selector)] == expected


@pytest.mark.parametrize("block", [1, 2, 3, 8])
def test_what_comes_later_may_tell_a_name(make_tape, monkeypatch, block):
    monkeypatch.setattr(descriptions, "BLOCK", block)
    tape = make_tape()
    tape.source("total = linear(y)\n")
    y = tape.leaf(np.ones(2), "y")
    facts = {"site": tape.site(1, 8, end=17), "shape": (2,), "dtype": np.dtype("f4"), "input_count": 1}
    log = tape.log()
    for name in ("mm", "add", "mm", "add", "mm", "mul", "add"):  # the last op of an expression bears its name
        template = tape.writer.template(Kind.OP, op=tape.writer.intern("ops", name, {"name": name}), **facts)
        tape.writer.append(template, np.zeros(2, np.float32), 0, 0, 0, y)
        grown = Graph(log)
        named = [node.row for node in grown.nodes if node.name == "total"]
        assert rows(grown, "name:total") == named != []


def test_only_the_outermost_node_bears_the_name(make_tape):
    tape = make_tape()
    tape.source("y = tanh(add(x, x))\ntotal = linear(y)\n")
    x = tape.leaf(np.ones(2), line=1, name=None)
    inner, whole, linear = (
        tape.site(line, column, end=end) for line, column, end in ((1, 9, 18), (1, 4, 19), (2, 8, 17))
    )

    def op(name, site, *inputs):
        number = tape.writer.intern("ops", name, {"name": name})
        facts = {"site": site, "shape": (2,), "dtype": np.dtype("f4"), "input_count": len(inputs)}
        template = tape.writer.template(Kind.OP, op=number, **facts)
        return tape.writer.append(template, np.zeros(2, np.float32), 0, 0, 0, *inputs)

    add = op("add", inner, x, x)
    tanh = op("tanh", whole, add)
    products = []
    for _ in range(3):
        mm = op("mm", linear, tanh)
        products.append((mm, op("add", linear, mm, tanh)))
    graph = Graph(tape.log())
    assert graph.node(x).name == ""
    assert graph.node(x).label == "leaf"
    assert graph.node(add).name == ""
    assert graph.node(tanh).name == "y"
    assert graph.node(tanh).source_line == "y = tanh(add(x, x))"
    assert [(graph.node(first).name, graph.node(last).name) for first, last in products] == [("", "total")] * 3
    assert [node.row for node in graph.select("name:total")] == [last for _, last in products]


@pytest.mark.parametrize(
    ("spec", "message", "hint"),
    [
        ("", "the SPEC is empty", "#12, mul, op:mul"),
        ("nam:fc1", "can't be selected by 'nam:'", "did you mean name:fc1?"),
        ("layer:fc1", "can't be selected by 'layer:'", "op:mul"),
        ("#x", "'#x' names no row", "#12"),
        ("#" + "9" * 5000, "names no row", "#12"),
        ("12", "'12' is no op or name", "#12"),
        ("op:", "nothing follows 'op:'", "op:mul"),
        ("line:12", "'line:12' names no line", "line:model.py:31"),
        ("and mul", "'and' joins two terms", "and"),
        ("mul and", "'and' joins two terms", "and"),
        ("mul and and add", "'and' joins two terms", "and"),
        ("mul or add", "'or' in 'mul or add'", "'and' alone"),
        ("forward backward", "no node is of both passes", "one pass"),
        ('name:"a b', "a quote is not closed", "close it"),
    ],
)
def test_what_is_wrong_is_said(spec, message, hint):
    with pytest.raises(SelectorError) as caught:
        parse(spec)
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


@given(st.text(max_size=30))
def test_any_text_is_understood_or_refused(spec):
    try:
        selector = parse(spec)
    except SelectorError:
        return
    assert all(term.form in FORMS for term in selector.terms)


def test_nothing_found_suggests_what_is_there(graph):
    assert graph.select("tnah") == []
    error = search.nothing_answers(graph, "tnah")
    assert (error.message, error.hint) == ("no node answers to 'tnah'", "did you mean tanh?")
    assert "tanh" in (search.nothing_answers(graph, "op:zzzz").hint or "")
    beside = search.nothing_answers(graph, "op:tanh and line:elsewhere.py:1")  # there is one, but not there
    assert "did you mean" not in (beside.hint or "")


def test_a_quoted_name_may_have_blanks(make_tape):
    tape = make_tape()
    row = tape.leaf(1.0, "my weights")
    assert rows(Graph(tape.log()), 'name:"my weights"') == [row]
