"""A text is found wherever a person reads it, and a SPEC means what it means to breakpoints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import graphscope as gs
from graphscope.graph import Graph, Node, descriptions, text_search
from graphscope.graph.search import find
from graphscope.graph.select import parse
from graphscope.graph.text_search import Matches, TextSearch, rows_with
from graphscope.nn import functional


class Block(gs.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.Inner = gs.nn.Linear(6, 4)
        self.outer = gs.nn.Linear(4, 6)

    def forward(self, x: gs.Tensor) -> gs.Tensor:
        return x + self.outer(functional.gelu(self.Inner(x)))


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    """A small training, with backward passes."""
    path = tmp_path_factory.mktemp("search") / "run.gscope"
    with gs.record(path):
        layers = gs.nn.ModuleList([Block(), Block()])
        data = gs.ones(12, 6)
        for _ in range(2):
            hidden = data
            for layer in layers:
                hidden = layer(hidden)
            loss_of_all = functional.mse_loss(
                hidden,
                gs.zeros(12, 6),
            )
            loss_of_all.backward()
    log = gs.load(path)
    return Graph(log).at(log.end - 1)


def holding(graph: Graph, text: str) -> list[int]:
    """Each node looked at, one by one, with what the screen says of it."""

    def told(node: Node) -> str:
        return "\n".join([node.op, node.label, node.name, node.scope, node.scope_title])

    is_exact = text != text.lower()
    nodes = find(graph, parse("forward")) + find(graph, parse("backward"))
    return sorted(node.row for node in nodes if text in (told(node) if is_exact else told(node).lower()))


@pytest.mark.parametrize(
    "text", ["inner", "Inner", "gelu", "Gelu", "mm", "bias", "1.outer", "block", "loss_of", "nobody"]
)
def test_words_are_found_in_names_ops_and_modules(graph: Graph, text: str) -> None:
    found = rows_with(graph, text).tolist()
    assert set(holding(graph, text)) <= set(found)
    said = [graph.node(row).source_line for row in set(found) - set(holding(graph, text))]
    assert all(text.lower() in line.lower() for line in said)


@pytest.mark.parametrize("text", ["8x", "12x6", "12×6", "(12, 6)", "6x4", "12x", "2x6"])
def test_shapes_are_found_as_people_write_them(graph: Graph, text: str) -> None:
    sizes = [int(size) for size in text.replace("×", "x").replace(", ", "x").strip("()").split("x") if size]
    nodes = find(graph, parse("forward")) + find(graph, parse("backward"))
    wanted = sorted(
        node.row
        for node in nodes
        for place in range(len(node.shape))
        if list(node.shape[place : place + len(sizes)]) == sizes
        and (not text.endswith("x") or place + len(sizes) < len(node.shape))
    )
    found = set(rows_with(graph, text).tolist())
    assert found >= set(wanted)
    assert found == set(wanted) or text.startswith("(")  # which stands in the program as well


@pytest.mark.parametrize("text", ["1 gelu", "linear 0.outer bias", "inner backward", "12x6 outer"])
def test_words_may_stand_in_different_places(graph: Graph, text: str) -> None:
    found = [set(rows_with(graph, word).tolist()) for word in text.split()]
    both = set.intersection(*found)
    assert set(rows_with(graph, text).tolist()) == both
    assert all(both < rows for rows in found)


def test_what_is_no_word_is_found_as_it_stands(graph: Graph) -> None:
    assert rows_with(graph, "x + self").tolist() != []
    assert rows_with(graph, "self + x").tolist() == []


def test_lines_of_the_program_are_found(graph: Graph) -> None:
    assert {graph.node(row).source_line for row in rows_with(graph, "mse_loss(").tolist()} == {
        "loss_of_all = functional.mse_loss("
    }
    assert rows_with(graph, "x + self.outer(").tolist() == rows_with(graph, "return x +").tolist() != []
    line = next(node for node in find(graph, parse("op:gelu"))).site
    assert line is not None
    assert set(rows_with(graph, f"{Path(line.file).name}:{line.line}").tolist()) >= {
        node.row for node in find(graph, parse("op:gelu"))
    }


@pytest.mark.parametrize("spec", ["op:gelu", "op:mm backward", "name:*bias", "scope:0.*", "#3", "*Inner*"])
def test_a_spec_means_what_it_means_to_breakpoints(graph: Graph, spec: str) -> None:
    assert rows_with(graph, spec).tolist() == [node.row for node in find(graph, parse(spec))]


def test_words_of_a_spec_are_found_as_well(graph: Graph) -> None:
    assert set(rows_with(graph, "accumulate").tolist()) >= {node.row for node in find(graph, parse("accumulate"))}


@pytest.mark.parametrize("now", [-1, 0, 17, 10_000])
def test_the_stretches_are_all_rows_and_begin_behind_where_one_stands(graph: Graph, now: int) -> None:
    stretches = list(TextSearch(graph, "x").stretches(now))
    rows = [row for start, stop in stretches for row in range(start, stop)]
    assert sorted(rows) == [*range(graph.log.first, graph.now + 1)]
    assert rows[0] == (now + 1 if now < graph.now else graph.log.first)


def test_a_broken_spec_is_a_text(graph: Graph) -> None:
    for text in ("op:", '"', "and", "or", "foo:bar", "((", "[", "\\", "x" * 500, "π"):
        assert isinstance(rows_with(graph, text), np.ndarray)


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("text", ["gelu", "op:mm backward", "nobody", "#7"])
def test_the_nearest_match_lies_in_that_direction(graph: Graph, text: str, direction: int) -> None:
    found, search = rows_with(graph, text).tolist(), TextSearch(graph, text)
    for now in range(-1, graph.log.end, 5):
        ahead = [row for row in found if (row - now) * direction > 0]
        wanted = (ahead or found)[::direction][0] if found else None
        assert search.nearest(now, direction) == wanted


@pytest.mark.slow
def test_a_log_that_grows_is_searched_as_it_is_by_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (descriptions, text_search):
        monkeypatch.setattr(module, "BLOCK", 32)
    layer = gs.nn.Linear(6, 6)
    with gs.record(tmp_path / "run.gscope") as recorded:
        hidden = gs.ones(2, 6) @ layer.weight  # it is named when the module is called
        log = gs.load(recorded.path)
        for _ in range(12):
            for _ in range(3):
                hidden = gs.tanh(hidden * 2 + hidden)
                grown = Graph(log)
                for spec in ("name:hidden", "name:weight", "tanh", "scope:*"):
                    wanted = [node.row for node in grown.nodes if parse(spec).matches(node)]
                    assert [node.row for node in find(grown, parse(spec))] == wanted
            hidden = layer(hidden.detach())
            loss = (hidden * hidden).sum()
            loss.backward()


def test_the_place_of_a_match_is_that_among_all_of_them() -> None:
    parts = [
        np.array([40, 41, 50]),
        np.array([70]),
        np.array([2, 9, 30]),
    ]  # from where one stands on, and round the end
    matches = Matches()
    for part in parts:
        matches.add(part)
    assert matches.place(41) is None, "more may be found"
    matches.is_whole = True
    everything = sorted(np.concatenate(parts).tolist())
    for row in range(80):
        assert matches.place(row) == (everything.index(row) if row in everything else None)
