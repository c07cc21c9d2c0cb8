"""The map of a program's modules, compared with what PyTorch's modules say of themselves in hooks."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphscope as gs
from graphscope.eventlog.reader import Log, load
from graphscope.graph import Graph
from graphscope.graph.modules import Call, ModuleBox, ModuleMap, StepRows, module_map, step_rows
from graphscope.graph.outline import steps

Shape = tuple[int, ...]
GOLDEN = Path(__file__).parents[1] / "golden"


class Witness:
    """What modules say of a pass: their calls, the tensors that went in and out, and where these came from."""

    def __init__(self, network: Any) -> None:
        self.network = network
        self.order: list[str] = []
        self.taken: dict[str, list[list[Shape]]] = {}
        self.given: dict[str, list[Shape]] = {}
        self.flows: set[tuple[tuple[str, int], tuple[str, int]]] = set()
        """Each a module and which of its calls, and where what it made went."""
        self._makers: dict[int, set[tuple[str, int]]] = {}
        self._alive: list[Any] = []
        for name, module in network.named_modules():
            if name:
                module.register_forward_pre_hook(self._begin(name), with_kwargs=True)
                module.register_forward_hook(self._end(name))

    def forget(self) -> None:
        for kept in (self.order, self.taken, self.given, self.flows, self._makers, self._alive):
            kept.clear()

    def _begin(self, name: str) -> Callable[..., None]:
        def begin(module: Any, given: Any, named: Any) -> None:
            import torch

            tensors = [each for each in (*given, *named.values()) if isinstance(each, torch.Tensor)]
            self.order.append(name)
            self.taken.setdefault(name, []).append([tuple(each.shape) for each in tensors])
            taker = name, len(self.taken[name]) - 1
            for tensor in tensors:
                self.flows |= {(maker, taker) for maker in self._makers.get(id(tensor), ())}

        return begin

    def _end(self, name: str) -> Callable[..., None]:
        def end(module: Any, given: Any, made: Any) -> None:
            made = made[0] if isinstance(made, tuple) else made
            self.given.setdefault(name, []).append(tuple(made.shape))
            self._makers.setdefault(id(made), set()).add((name, len(self.given[name]) - 1))
            self._alive.append(made)

        return end


def encoder() -> tuple[Any, tuple[Any, ...]]:
    import torch
    from torch import nn

    class Classifier(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(20, 8)
            self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 3)
            self.head = nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 4))

        def forward(self, tokens: Any) -> Any:
            return self.head(self.encoder(self.embed(tokens)).mean(dim=1))

    return Classifier(), (torch.randint(0, 20, (2, 5)),)


def transformer() -> tuple[Any, tuple[Any, ...]]:
    import torch

    network = torch.nn.Transformer(8, 2, 2, 2, 16, batch_first=True, dropout=0.0)
    return network, (torch.randn(2, 5, 8), torch.randn(2, 4, 8))


def residual() -> tuple[Any, tuple[Any, ...]]:
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self, inside: int, outside: int, stride: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(outside)
            self.relu = nn.ReLU()
            self.conv2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(outside)
            self.shortcut = nn.Conv2d(inside, outside, 1, stride) if stride > 1 else None

        def forward(self, x: Any) -> Any:
            kept = x if self.shortcut is None else self.shortcut(x)
            y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
            return self.relu(y + kept)

    network = nn.Sequential(
        nn.Conv2d(3, 4, 3, padding=1),
        nn.Sequential(Block(4, 4, 1), Block(4, 4, 1)),
        nn.Sequential(Block(4, 8, 2), Block(8, 8, 1)),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, 5),
    )
    return network, (torch.randn(2, 3, 8, 8),)


def recurrent() -> tuple[Any, tuple[Any, ...]]:
    import torch
    from torch import nn

    class Reader(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(9, 4)
            self.cell = nn.GRUCell(4, 6)
            self.rnn = nn.LSTM(6, 5, 2, batch_first=True)
            self.out = nn.Linear(5, 3)

        def forward(self, tokens: Any) -> Any:
            x, state, states = self.embed(tokens), torch.zeros(tokens.shape[0], 6), []
            for place in range(x.shape[1]):
                state = self.cell(x[:, place], state)
                states.append(state)
            return self.out(self.rnn(torch.stack(states, 1))[0][:, -1])

    return Reader(), (torch.randint(0, 9, (2, 7)),)


def tied() -> tuple[Any, tuple[Any, ...]]:
    import torch
    from torch import nn

    class Language(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(11, 6)
            self.mix = nn.Sequential(nn.Linear(6, 6), nn.Tanh())
            self.head = nn.Linear(6, 11, bias=False)
            self.head.weight = self.embed.weight

        def forward(self, tokens: Any) -> Any:
            return self.head(self.mix(self.mix(self.embed(tokens))))

    return Language(), (torch.randint(0, 11, (2, 4)),)


NETWORKS = {made.__name__: made for made in (encoder, transformer, residual, recurrent, tied)}


@pytest.fixture(scope="module", params=NETWORKS)
def seen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Log, Witness]:
    """Two steps of training, the second of which was witnessed."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    network, given = NETWORKS[request.param]()
    witness = Witness(network)
    path = tmp_path_factory.mktemp("modules") / "run.gscope"
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
    with gs.record(path):
        for _ in range(2):
            witness.forget()
            optimizer.zero_grad()
            network(*given).square().sum().backward()
            optimizer.step()
    return load(path), witness


def rows_of_step(log: Log, step: int) -> StepRows:
    return step_rows(log, int(steps(log).first[step]))


def maps(log: Log, rows: StepRows) -> Iterator[ModuleMap]:
    """The map of the program, and that of each module in it."""
    waiting: list[tuple[Call, ...]] = [()]
    while waiting:
        around = waiting.pop()
        made = module_map(Graph(log), rows, around)
        yield made
        waiting += [(*around, box.calls[0]) for single in made.boxes for box in members(single) if box.calls]


def members(box: ModuleBox) -> tuple[ModuleBox, ...]:
    return box.members or (box,)


def modules(log: Log, step: int) -> list[ModuleBox]:
    """Every call of a module."""
    found = maps(log, rows_of_step(log, step))
    return [box for made in found for single in made.boxes for box in members(single) if box.kind == "module"]


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("step", [0, 1])
def test_every_call_of_a_module_is_a_box_in_the_order_of_the_calls(seen: tuple[Log, Witness], step: int) -> None:
    log, witness = seen
    found = sorted((box for box in modules(log, step) if box.calls), key=lambda box: box.calls[0].begin)
    ran = [name for name in witness.order if name in {box.path for box in found}]

    assert [box.path for box in found] == ran
    silent = set(witness.order) - set(ran)
    assert all(not [*witness.network.get_submodule(name).parameters()] for name in silent), "a module is not shown"
    types = {name: type(module).__name__ for name, module in witness.network.named_modules()}
    assert {box.path: box.type for box in found} == {name: types[name] for name in ran}


@pytest.mark.torch
@pytest.mark.parametrize("step", [0, 1])
def test_boxes_tell_the_shapes_that_hooks_see(seen: tuple[Log, Witness], step: int) -> None:
    log, witness = seen
    turns: dict[str, int] = {}
    for box in sorted(modules(log, step), key=lambda box: box.calls[0].begin):
        turn = turns[box.path] = turns.get(box.path, -1) + 1
        assert set(box.taken) <= set(witness.taken[box.path][turn]), box.path
        assert box.given[0] == witness.given[box.path][turn], box.path


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("step", [0, 1])
def test_boxes_count_the_parameters_of_their_modules(seen: tuple[Log, Witness], step: int) -> None:
    log, witness = seen
    for box in modules(log, step):
        module = witness.network.get_submodule(box.path)
        assert box.size == sum(parameter.numel() for parameter in module.parameters()), box.path


@pytest.mark.torch
def test_gradient_norms_are_those_that_parameters_have(seen: tuple[Log, Witness]) -> None:
    log, witness = seen
    for box in modules(log, 1):
        grads = [parameter.grad for parameter in witness.network.get_submodule(box.path).parameters()]
        if grads:
            expected = float(np.sqrt(sum(float(grad.double().square().sum()) for grad in grads)))
            assert box.gradient == pytest.approx(expected, rel=1e-5), box.path
        else:
            assert box.gradient is None


@pytest.mark.torch
@pytest.mark.parametrize("step", [0, 1])
def test_flows_between_modules_are_the_tensors_that_they_hand_on(seen: tuple[Log, Witness], step: int) -> None:
    log, witness = seen
    made = list(maps(log, rows_of_step(log, step)))
    place_of: dict[tuple[str, int], tuple[int, int]] = {}
    turns: dict[str, int] = {}
    placed = [(box, (number, place)) for number, each in enumerate(made) for place, box in enumerate(each.boxes)]
    singles = [(one, place) for box, place in placed for one in members(box) if one.calls]
    for one, place in sorted(singles, key=lambda found: found[0].calls[0].begin):
        turns[one.path] = turns.get(one.path, -1) + 1
        place_of[one.path, turns[one.path]] = place
    expected = set()
    for maker, taker in witness.flows:
        source, target = place_of.get(maker), place_of.get(taker)
        if source is not None and target is not None and source[0] == target[0] and source != target:
            expected.add((source[0], source[1], target[1]))
    found = {
        (number, flow.source, flow.target)
        for number, each in enumerate(made)
        for flow in each.flows
        if each.boxes[flow.source].kind == each.boxes[flow.target].kind == "module"
    }
    assert found == expected


@pytest.mark.slow
@pytest.mark.torch
def test_rules_are_those_of_the_box_whose_ops_they_undo(seen: tuple[Log, Witness]) -> None:
    log, _ = seen
    graph = Graph(log)
    for made in maps(log, rows_of_step(log, 1)):
        for row in range(made.start, made.start + len(made.owners)):
            event = log.event(row)
            place = made.at(row)
            if event.kind.name != "GRAD" or place is None:
                continue
            node = graph.node(row)
            while node.kind == "grad" and node.forward is not None:
                node = node.forward
            assert made.at(node.row) == place


@pytest.mark.slow
@pytest.mark.torch
def test_equal_layers_and_the_turns_of_a_loop_are_one_box(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    found = {}
    for make in (encoder, recurrent):
        network, given = make()
        path = tmp_path / f"{make.__name__}.gscope"
        with gs.record(path):
            network(*given).sum().backward()
        log = load(path)
        for made in maps(log, step_rows(log, log.first)):
            found |= {box.name: box.count for box in made.boxes if box.count > 1}
    assert found["layers.0-2"] == 3
    assert found["cell"] == 7


@pytest.mark.torch
def test_models_of_one_program_bear_their_names(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    script = tmp_path / "two.py"
    script.write_text(
        """
import torch
from torch import nn
maker = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
judge = nn.Sequential(nn.Linear(4, 2), nn.Tanh())
optimizer = torch.optim.SGD([*maker.parameters(), *judge.parameters()], lr=0.1)
for _ in range(2):
    optimizer.zero_grad()
    judge(maker(torch.ones(2, 3))).sum().backward()
    optimizer.step()
"""
    )
    with gs.record(tmp_path / "two.gscope"):
        runpy.run_path(str(script))
    log = load(tmp_path / "two.gscope")
    names = [box.name for box in module_map(Graph(log), rows_of_step(log, 1)).boxes if box.kind == "module"]
    assert names == ["maker.0", "maker.1", "judge.0", "judge.1"]


def test_modules_of_the_engine_are_boxes_too(tmp_path: Path) -> None:
    network = gs.nn.Sequential(gs.nn.Linear(3, 4), gs.nn.Tanh(), gs.nn.Linear(4, 1))
    with gs.record(tmp_path / "engine.gscope"):
        network(gs.ones(2, 3)).sum().backward()
    log = load(tmp_path / "engine.gscope")
    made = [box for made in maps(log, step_rows(log, log.first)) for box in made.boxes if box.kind == "module"]
    sizes = {box.type: box.size for box in made if box.size}
    assert sizes["Linear"] in (16, 5)
    assert {"Linear", "Tanh"} <= {box.type for box in made}


def test_a_program_without_modules_is_ops(tmp_path: Path) -> None:
    with gs.record(tmp_path / "plain.gscope"):
        W = gs.ones(3, 3, requires_grad=True)
        (W @ W).tanh().sum().backward()
    log = load(tmp_path / "plain.gscope")
    made = module_map(Graph(log), step_rows(log, log.first))
    assert [box.kind for box in made.boxes if box.kind == "module"] == []


def test_an_empty_log_has_an_empty_map(tmp_path: Path) -> None:
    with gs.record(tmp_path / "empty.gscope"):
        pass
    log = load(tmp_path / "empty.gscope")
    assert module_map(Graph(log), step_rows(log, log.first)).boxes == ()


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.zip")), ids=lambda path: path.stem)
def test_logs_of_every_format_have_a_map_at_each_row(path: Path) -> None:
    log = load(path)
    for row in range(log.first, log.end):
        rows = step_rows(log, row)
        around = rows.around(row)
        for depth in range(len(around) + 1):
            made = module_map(Graph(log), rows, around[:depth])
            assert all(0 <= flow.source < len(made.boxes) > flow.target >= 0 for flow in made.flows)
