"""The log agrees with what PyTorch itself says of a program: its nodes, its gradients, its data flow."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

import gc
import threading
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn
from torch.optim import optimizer as optimizers
from torch.utils.checkpoint import checkpoint

import graphscope as gs
from graphscope.eventlog.schema import Flag, Kind
from tests.adapters.programs import PROGRAMS, Cube

pytestmark = pytest.mark.torch


def nodes_of(root: Any) -> list[Any]:
    """All backward nodes behind a root, by a walk of `next_functions`."""
    found: dict[Any, None] = {}
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in found:
            found[node] = None
            waiting += [target for target, _ in node.next_functions]
    return list(found)


def small_network() -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    torch.manual_seed(1)
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8, 3), nn.LayerNorm(3))
    return model, torch.randn(2, 1, 4, 4), torch.tensor([0, 2])


def rows_of(log: Any, kind: Kind) -> list[Any]:
    return [event for event in (log.event(row) for row in range(log.first, log.end)) if event.kind is kind]


def test_every_backward_node_has_a_row_and_every_leaf_its_contributions() -> None:
    model, x, labels = small_network()
    with gs.record() as log:
        loss = nn.functional.cross_entropy(model(x), labels)
        walked = nodes_of(loss.grad_fn)
        loss.backward()
    log.refresh()
    leaves = [node for node in walked if hasattr(node, "variable")]
    assert len(rows_of(log, Kind.GRAD)) == len(walked) - len(leaves)
    assert len(rows_of(log, Kind.ACCUMULATE)) == len(leaves)
    for event in rows_of(log, Kind.GRAD):  # an inner node of a call belongs to the call's own
        owner = log.event(event.forward)
        assert (owner if owner.kind is Kind.OP else log.event(owner.forward)).kind is Kind.OP


def test_each_gradient_is_what_hooks_of_torch_see() -> None:
    model, x, labels = small_network()
    seen: dict[int, np.ndarray] = {}
    outputs: list[torch.Tensor] = []
    for module in model:
        module.register_forward_hook(lambda module, given, out: outputs.append(out))
    with gs.record() as log:
        loss = nn.functional.cross_entropy(model(x), labels)
        for number, each in enumerate(outputs):
            each.register_hook(lambda g, number=number: seen.__setitem__(number, g.numpy().copy()))
        loss.backward()
    log.refresh()
    calls = [node for node in log.graph.nodes if node.kind == "op"][: len(outputs)]
    assert [node.scope for node in calls]
    for number, node in enumerate(calls):
        np.testing.assert_array_equal(node.grad, seen[number])
    for name, parameter in model.named_parameters():
        (leaf,) = [node for node in log.graph.nodes if node.kind == "leaf" and node.name == name]
        np.testing.assert_array_equal(leaf.grad, parameter.grad.numpy())
        assert log.event(leaf.row).flags & Flag.PARAMETER


def test_contributions_of_several_users_are_rows_of_their_own() -> None:
    with gs.record() as log:
        w = torch.ones(2, requires_grad=True)
        h = w * 2
        loss = (h * h + h.sin() + h).sum() + w.sum()
        loss.backward()
    log.refresh()
    (doubled,) = [node for node in log.graph.nodes if node.kind == "op" and node.name == "h"]
    assert [contribution.row for contribution in doubled.contributions]
    assert len(doubled.contributions) == 4
    np.testing.assert_array_equal(doubled.grad, sum(each.value for each in doubled.contributions))
    (leaf,) = [node for node in log.graph.nodes if node.kind == "leaf"]
    assert len(leaf.contributions) == 2
    np.testing.assert_array_equal(leaf.grad, w.grad.numpy())


def test_ids_that_are_used_again_make_no_wrong_edge() -> None:
    with gs.record(values="none") as log:
        w = torch.ones(3)
        expected = []
        for number in range(2000):
            a = w + number
            b = a * 2
            expected.append(number)
            del a, b
    log.refresh()
    ops = [event for event in (log.event(row) for row in range(log.end)) if event.kind is Kind.OP]
    pairs = list(zip(ops[::2], ops[1::2], strict=True))
    assert len(pairs) == len(expected)
    for made, used in pairs:
        assert made.inputs == ((0, 0),)
        assert used.inputs == ((made.row, 0),)


def test_results_that_take_turns_at_one_line_keep_their_own_values() -> None:
    torch.manual_seed(0)
    held = (
        torch.zeros(3),
        torch.ones(3),
        torch.randn(3, requires_grad=True),
        torch.randn(3),
    )  # more than a row has room for
    made = []
    with gs.record(values="full") as log:
        for turn in range(12):
            x = torch.randn(8, 3, (32, 5, 7)[turn % 3], 32)  # those of 32 are large values
            made.append(nn.functional.batch_norm(x, *held, training=turn % 2 == 0))
    log.refresh()
    calls = [event for event in rows_of(log, Kind.OP) if log.op(event.op).name == "batch_norm"]
    for turn, (call, y) in enumerate(zip(calls, made, strict=True)):
        np.testing.assert_array_equal(log.value(call.row), y.detach().numpy())
        assert log.arguments(call.row).attributes.get("training", False) is (turn % 2 == 0)
        assert len(call.inputs) == 5


def test_data_flow_is_that_of_an_fx_trace() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.randn(4, 4))
            self.inner = nn.Linear(4, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            h = torch.tanh(x @ self.w)
            a, b = h.split(2, dim=1)
            y = self.inner(torch.cat([b, a], 1)) + h
            return (y.transpose(0, 1) * y.mean()).relu().sum()

    model = Net()
    traced = torch.fx.symbolic_trace(model)
    with gs.record() as log:
        model(torch.randn(4, 4))
    log.refresh()
    position = {}
    expected = []
    for node in traced.graph.nodes:
        if node.op in ("output", "get_attr", "placeholder"):
            continue
        if str(node.target) == "<built-in function getitem>":  # a slot of `split`, and no op of its own
            position[node] = position[node.args[0]]
            continue
        position[node] = len(expected)
        expected.append(sorted({position[each] for each in node.all_input_nodes if each in position}))
    ops = [event for event in (log.event(row) for row in range(log.end)) if event.kind is Kind.OP]
    order = {event.row: index for index, event in enumerate(ops)}
    found = [sorted({order[row] for row, _ in event.inputs if row in order}) for event in ops]
    assert found == expected


def test_nothing_of_the_program_is_kept_alive(tmp_path: Path) -> None:
    gc.collect()
    gc.disable()
    try:
        with gs.record(tmp_path / "run.gscope", values="summary"):
            model, x, labels = small_network()
            layers = [model]
            del model

            def step() -> list[weakref.ref[Any]]:
                (model,) = layers
                h = model(x)
                loss = nn.functional.cross_entropy(h, labels)
                loss.backward()
                gradient = model[0].weight.grad
                model.zero_grad()
                return [weakref.ref(each) for each in (h, loss, gradient)]

            for _ in range(3):
                dead = step()
                assert [each() for each in dead] == [None] * 3
            parameter = weakref.ref(layers[0][0].weight)
            layers.clear()
            del step
            gc.collect()
            assert parameter() is None
    finally:
        gc.enable()


def test_writes_through_aliases_make_new_versions() -> None:
    with gs.record() as log:
        base = torch.zeros(2, 3)
        view = base[0]
        alias = base.detach()
        view.add_(1)
        total = base.sum()
        other = alias * 2
        again = view * 3
    log.refresh()
    nodes = {node.name: node for node in log.graph.nodes if node.kind == "op"}
    (added,) = [node for node in log.graph.nodes if node.op == "add_"]
    assert added.tensor == nodes["view"].tensor
    assert added.version == 1
    (source,) = [edge.source for edge in nodes["total"].inputs]
    assert source.op == "copy_slices"
    assert added.row in [edge.source.row for edge in source.inputs]
    np.testing.assert_array_equal(source.value, base.numpy())
    np.testing.assert_array_equal(nodes["other"].inputs[0].source.value, alias.numpy())
    assert nodes["again"].inputs[0].source.row == added.row
    assert total.item() == 3
    assert again.sum() == 9
    assert other.sum() == 6


def test_a_custom_function_is_one_call_with_a_scope() -> None:
    with gs.record() as log:
        w = torch.tensor([2.0], requires_grad=True)
        y = Cube.apply(w)
        y.backward()
    log.refresh()
    (call,) = [node for node in log.graph.nodes if node.op == "Cube" and node.kind == "op"]
    assert [edge.source.name for edge in call.inputs] == ["w"]
    np.testing.assert_array_equal(call.grad, [1])
    inside = [node for node in log.graph.nodes if log.scope_path(log.event(node.row).scope) == "Cube"]
    assert [node.op for node in inside if node.graph_pass == "forward"] == ["mul", "mul"]
    assert "square" in [node.op for node in log.graph.nodes if node.graph_pass == "backward"]
    assert y.item() == 8


def test_double_backward_links_to_the_rules_of_the_first() -> None:
    with gs.record() as log:
        x = torch.tensor(0.5, requires_grad=True)
        (first,) = torch.autograd.grad(x.sin(), x, create_graph=True)
        first.backward()
    log.refresh()
    assert x.grad.item() == pytest.approx(-np.sin(0.5))
    grads = rows_of(log, Kind.GRAD)
    assert len(grads) >= 3
    rows = {event.row for event in grads}
    assert any(event.forward in rows for event in grads[1:])


@pytest.mark.filterwarnings("ignore:.*autocast:FutureWarning")  # torch 2.4 says so of its own checkpoint
@pytest.mark.parametrize("reentrant", [False, True])
def test_what_a_checkpoint_computes_again_is_marked_as_such(reentrant: bool) -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.block = nn.Sequential(nn.Linear(3, 3), nn.Tanh())

        def forward(self, x: torch.Tensor) -> Any:
            return checkpoint(self.block, x, use_reentrant=reentrant).sum()

    with gs.record() as log:
        Net()(torch.ones(2, 3, requires_grad=True)).backward()
    log.refresh()
    ops = [
        (node.op, node.graph_pass, log.scope_path(node.event.scope)) for node in log.graph.nodes if node.kind == "op"
    ]
    again = [op for op, graph_pass, scope in ops if "recompute" in scope.split(".")]
    assert "linear" in again
    assert not [op for op, graph_pass, scope in ops if graph_pass == "backward" and "recompute" not in scope.split(".")]
    assert [op for op, graph_pass, _ in ops if graph_pass == "forward"][-1] == "sum"
    assert not rows_of(log, Kind.EXCEPTION)  # that it stops when it has enough is no mishap


def test_threads_are_seen_each_under_its_number() -> None:
    def work() -> None:
        torch.ones(2).mul(3)

    with gs.record() as log:
        torch.ones(2).add(1)
        worker = threading.Thread(target=work)
        worker.start()
        worker.join()
    log.refresh()
    ops = {log.op(event.op).name: event.thread for event in rows_of(log, Kind.OP)}
    assert set(ops) == {"add", "mul"}
    assert ops["add"] != ops["mul"]


@pytest.mark.parametrize("scheduled", [False, True])
def test_a_step_that_raises_is_over(scheduled: bool) -> None:
    weight = torch.zeros(3, 2, requires_grad=True)
    optimizer = torch.optim.Adam([weight])
    with gs.record() as log:
        if scheduled:  # that wraps the step of this one
            torch.optim.lr_scheduler.ConstantLR(optimizer)
        weight.grad = torch.eye(3, 2).to_sparse()
        with pytest.raises(RuntimeError, match="sparse"):
            optimizer.step()
        torch.ones(2).mul(3)
        weight.grad = torch.ones(3, 2)
        optimizer.step()
    log.refresh()
    assert [node.op for node in log.graph.nodes if node.kind == "op"][-2:] == ["mul", "Adam"]


def test_torch_is_left_as_it_was() -> None:
    def face() -> list[Any]:
        return [
            torch.nn.Module.__call__,
            torch.autograd.graph._engine_run_backward,
            torch.autograd._engine_run_backward,
            torch.autograd.Function.__dict__["apply"],
            torch.autograd.function._HookMixin.__dict__["_register_hook"],
            torch.overrides.has_torch_function,
            threading.Thread._bootstrap_inner,
            torch._C._len_torch_function_stack(),
            len(optimizers._global_optimizer_pre_hooks),
            len(optimizers._global_optimizer_post_hooks),
        ]

    before = face()
    with gs.record():
        assert face() != before
    assert face() == before


def test_of_the_layers_of_a_network_the_last_bears_the_name_of_its_result() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2), nn.Tanh())
    with gs.record() as log:
        for _ in range(2):
            y = model(torch.randn(5, 3))
        assert y.shape == (5, 2)
    log.refresh()
    names = [(node.op, node.name) for node in log.graph.nodes if node.kind == "op" and node.op != "add_"]
    assert names == [("linear", ""), ("batch_norm", ""), ("linear", ""), ("tanh", "y")] * 2


@pytest.mark.parametrize("name", ["last_states", "policy", "recurrent", "transformer"])
def test_all_that_is_computed_has_a_line(name: str) -> None:
    with gs.record() as log:
        step, _ = PROGRAMS[name]()
        step()
    log.refresh()
    nodes = [node for node in log.graph.nodes if node.kind in ("op", "grad")]
    assert [node.label for node in nodes if node.site is None] == []
    written = {node.site.file for node in nodes}
    assert all(Path(file).name == "programs.py" for file in written)


class Named(nn.Module):
    """A module whose only layer has a name of its own."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.add_module(name, nn.Tanh())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        (layer,) = self.children()
        return layer(x)


def test_modules_that_come_and_go_have_scopes_of_their_own() -> None:
    names = [f"layer{number}" for number in range(30)]
    with gs.record() as log:
        for name in names:
            Named(name)(torch.ones(3))
    log.refresh()
    ops = [event for event in map(log.event, range(log.first, log.end)) if event.kind is Kind.OP]
    assert [log.scope_path(event.scope) for event in ops] == names
