"""What a picture shows where nobody asks for more: one step, folded as far as it takes to be read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

import graphscope as gs
from graphscope import nn, optim
from graphscope.errors import ExportError
from graphscope.eventlog.reader import Log
from graphscope.exporters.export import export
from graphscope.graph.outline.steps import Steps, steps

from .conftest import Parsed, parse

Recorder = Callable[[Callable[[], Any]], Log]


def training(count: int = 5, *, layers: int = 2, sick: int | None = None) -> Callable[[], None]:
    """A program that trains a stack of layers for so many steps; the log of a negative number in one of them."""

    def program() -> None:
        gs.manual_seed(0)
        model = nn.Sequential(*[part for _ in range(layers) for part in (nn.Linear(4, 4), nn.Tanh())])
        optimizer = optim.SGD(model.parameters(), lr=0.1)
        for step in range(count):
            x = gs.randn(3, 4)
            loss = model(x).pow(2).mean()
            if step == sick:
                loss = loss + gs.log(gs.tensor(-1.0))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return program


def told_steps(log: Log) -> Steps:
    """The steps of a log as far as it goes now."""
    log.refresh()
    return steps(log)


def drawn(log: Log, **options: Any) -> Parsed:
    return parse(str(export(log, format="dot", **options)))


def labels(found: Parsed) -> list[str]:
    """What is written on the boxes, without markup."""
    return [re.sub("<[^>]*>", " ", node["label"]).strip() for node in found.nodes.values()]


def numbers(found: Parsed) -> set[int]:
    """The rows that boxes say they are."""
    return {int(number) for label in labels(found) for number in re.findall(r"#(\d+)", label)}


@pytest.mark.slow
def test_the_newest_step_is_drawn_with_the_weights_that_it_begins_with(recorded: Recorder) -> None:
    log = recorded(training())
    found = drawn(log)
    told = told_steps(log)
    assert "one of 5" in found.attributes["label"]
    assert "--all" in found.attributes["label"]
    weights = {id: node for id, node in found.nodes.items() if node["shape"] == "cylinder"}
    assert sorted(node["label"].count("weight") for node in weights.values()) == [0, 0, 1, 1]
    assert all(len([pair for pair in found.pairs() if pair[0] == id]) >= 1 for id in weights)
    of_weights = {int(id[1:]) for id in weights}
    assert {row for row in numbers(found) - of_weights if row < told.first[-1]} == set()
    assert all(row < told.first[-1] for row in of_weights)


def test_the_optimizer_is_one_box_and_the_loss_is_marked(recorded: Recorder) -> None:
    found = drawn(recorded(training()))
    (box,) = (label for label in labels(found) if "parameters" in label)
    assert re.sub(r"\s+", " ", box) == "SGD 4 parameters"
    marked = [node["label"] for node in found.nodes.values() if node.get("peripheries") == "2"]
    assert len(marked) == 1
    assert "mean" in marked[0]


def test_clipping_is_one_box(recorded: Recorder) -> None:
    def program() -> None:
        layer = nn.Linear(4, 4)
        optimizer = optim.SGD(layer.parameters(), lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            layer(gs.randn(3, 4)).sum().backward()
            nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
            optimizer.step()

    written = [re.sub(r"\s+", " ", label) for label in labels(drawn(recorded(program)))]
    assert {"clip_grad_norm_ 2 gradients", "SGD 2 parameters"} <= set(written)
    assert not any(label.startswith("mul_") for label in written)


@pytest.mark.slow
def test_a_step_can_be_asked_for(recorded: Recorder) -> None:
    log = recorded(training())
    told = told_steps(log)
    for place, name in enumerate(map(str, range(5))):
        rows = numbers(drawn(log, step=int(name)))
        assert max(rows) <= told.last[place]
        assert max(rows) >= told.first[place]
    every = numbers(drawn(log, step="all", fold="none"))
    assert every >= {node.row for node in log.graph.nodes if node.kind in ("op", "grad")}
    with pytest.raises(ExportError, match=r"no step 9: they are 0, 1, 2, 3 and 4\n"):
        drawn(log, step=9)
    with pytest.raises(ExportError, match="no training steps"):
        drawn(recorded(lambda: gs.tensor(1.0) * 2), step=1)


@pytest.mark.slow
def test_the_step_that_is_sick_is_drawn(recorded: Recorder) -> None:
    log = recorded(training(4, sick=1))
    found = drawn(log)
    assert "the doctor found" in found.attributes["label"]
    assert any("NaN" in label for label in labels(found))
    assert "log" in {label.split()[0] for label in labels(found)}


def test_a_step_that_goes_on_is_not_the_newest_that_ended(recorded: Recorder) -> None:
    def program() -> None:
        training(3)()
        gs.tensor([1.0], requires_grad=True).sum().backward()

    log = recorded(program)
    assert "one of" in drawn(log).attributes["label"]
    assert any("SGD" in label for label in labels(drawn(log)))


def test_where_somebody_stands_is_drawn(recorded: Recorder) -> None:
    log = recorded(training())
    told = told_steps(log)
    row = next(node.row for node in log.graph.nodes if node.op == "mean" and node.row > told.first[2])
    found = drawn(log, at=row, current=row)
    assert max(numbers(found)) == row
    assert "of 3" in found.attributes["label"]
    assert sum("►" in node["label"] for node in found.nodes.values()) == 1


@pytest.mark.slow
def test_a_deep_model_is_folded_to_what_can_be_read(recorded: Recorder) -> None:
    log = recorded(training(2, layers=20))
    found = drawn(log)
    assert len(found.nodes) <= 60
    assert "--fold none" in found.attributes["label"]
    assert len(drawn(log, fold="none").nodes) > 200
    repeats = drawn(log, fold="repeats")
    assert any("× 20" in cluster["label"] for cluster in repeats.clusters.values())
    assert len(repeats.nodes) < 30


def test_data_that_nothing_uses_is_left_out_unless_all_is_asked_for(recorded: Recorder) -> None:
    def program() -> None:
        seen, unseen = gs.ones(2), gs.zeros(3)
        weight = gs.ones(2, requires_grad=True)
        (seen * weight).sum().backward()
        assert unseen.shape == (3,)

    log = recorded(program)
    texts = " ".join(node["label"] for node in drawn(log).nodes.values())
    assert "<B>seen<" in texts
    assert "unseen" not in texts
    assert "unseen" in " ".join(node["label"] for node in drawn(log, fold="none").nodes.values())
    assert len(drawn(recorded(lambda: gs.ones(2))).nodes) == 1


def test_a_picture_that_is_cut_tells_how_much_is_drawn(recorded: Recorder) -> None:
    def program() -> None:
        x = gs.ones(3, requires_grad=True)
        for power in range(60):
            (x**power).sum()
        (x * 2).sum().backward()

    found = drawn(recorded(program))
    told = re.search(r"(\d+) of ([\d,]+) boxes are drawn", found.attributes["label"])
    assert told is not None
    assert int(told[1]) == len(found.nodes) <= 80 < int(told[2])


@pytest.mark.slow
def test_what_a_person_asks_for_is_not_folded(recorded: Recorder) -> None:
    log = recorded(training(2, layers=20))
    chosen = drawn(log, select="op:linear forward")
    assert len(chosen.nodes) == 40
    assert len(drawn(log, select="op:linear forward", step=1).nodes) == 20
    data = json.loads(export(log, format="json"))
    assert {row for node in data["nodes"] for row in node["rows"]} == {node.row for node in log.graph.nodes}


def test_a_folded_module_has_an_arrow_of_each_pass_at_its_half(recorded: Recorder) -> None:
    found = drawn(recorded(training(2)), fold=1)
    modules = {id for id, node in found.nodes.items() if "PORT=" in node["label"]}
    assert len(modules) == 4
    data = [edge for edge in found.edges if edge["from"] in modules and edge.get("dir") != "back"]
    gradients = [edge for edge in found.edges if edge["from"] in modules and edge.get("dir") == "back"]
    assert {edge["tailport"] for edge in data} == {"forward"}
    assert {edge["tailport"] for edge in gradients} == {"backward"}
    between = {(edge["from"], edge["to"]) for edge in data if edge["to"] in modules}
    assert between == {(edge["from"], edge["to"]) for edge in gradients if edge["to"] in modules}
    assert len(between) == 3
