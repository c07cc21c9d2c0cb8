"""The capture levels of PyTorch programs: calls, what runs backward too, and the ops inside of calls."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn

import graphscope as gs
from graphscope.errors import LogError
from graphscope.eventlog.schema import Flag, Kind
from tests.adapters.programs import PROGRAMS
from tests.adapters.special_tensors import SPECIAL, Idle, Seen, runs_alone

pytestmark = pytest.mark.torch


def step() -> nn.Module:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.LayerNorm(4), nn.Linear(4, 2))
    nn.functional.cross_entropy(model(torch.ones(5, 3)), torch.tensor([0, 1, 0, 1, 0])).backward()
    return model


def events(capture: str) -> tuple[Any, list[Any]]:
    with gs.record(capture=capture) as log:
        step()
    log.refresh()
    return log, [log.event(row) for row in range(log.first, log.end)]


def test_calls_alone_have_no_backward() -> None:
    log, found = events("calls")
    assert {event.kind for event in found} == {Kind.LEAF, Kind.OP, Kind.SCOPE_ENTER, Kind.SCOPE_EXIT}
    assert [node.op for node in log.graph.nodes if node.kind == "op"][-1] == "cross_entropy"


def test_the_ops_inside_are_those_that_torch_dispatches() -> None:
    with Seen() as seen:
        step()
    log, found = events("ops")
    told = {log.op(event.op).name for event in found if event.kind is Kind.OP}
    ran = {name.split(".")[1] for name in seen.ops} - {"detach"}  # the same numbers have no row of their own
    made_here = {"ones", "tensor", "empty", "uniform_", "zeros_like", "fill_", "zero_", "lift_fresh"}  # ahead of it all
    assert ran - made_here <= told
    calls = {"linear", "tanh", "layer_norm", "cross_entropy"}
    assert told - ran <= calls


@pytest.mark.parametrize("capture", ["calls", "calls+backward", "ops"])
def test_what_is_made_of_numbers_is_a_leaf_with_a_name(capture: str) -> None:
    with gs.record(capture=capture) as log:
        weight = torch.tensor([2.0], requires_grad=True)
        listed = torch.as_tensor([1.0, 2.0])
        (weight * listed).sum().backward()
    log.refresh()
    leaves = [node for node in log.graph.nodes if node.kind == "leaf"]
    assert [(node.name, node.op, bool(node.event.flags & Flag.REQUIRES_GRAD)) for node in leaves] == [
        ("weight", "tensor", True),
        ("listed", "as_tensor", False),
    ]


@pytest.mark.slow
def test_beneath_a_call_lies_what_it_runs_and_the_rest_is_as_at_the_level_of_calls() -> None:
    deep, inside = events("ops")
    plain, calls = events("calls+backward")
    scopes = {deep.scope_path(event.scope) for event in inside}
    assert {"0.linear", "cross_entropy"} <= scopes
    (product,) = [
        event
        for event in inside
        if event.op and deep.op(event.op).name == "addmm" and deep.scope_path(event.scope) == "0.linear"
    ]
    call = next(event for event in inside if event.op and deep.op(event.op).name == "linear")
    np.testing.assert_array_equal(deep.value(product.row), deep.value(call.row))

    def outline(log: Any, found: list[Any], kind: Kind) -> list[Any]:
        return [(log.op(event.op).name if event.op else "", event.shape) for event in found if event.kind is kind]

    for kind in (Kind.GRAD, Kind.ACCUMULATE):
        assert outline(deep, inside, kind) == outline(plain, calls, kind)
    rows = {event.row: event for event in inside}
    products = [event for event in inside if event.op and deep.op(event.op).name == "mm"]
    assert products
    for event in products:  # an op of the backward pass belongs to the rule that ran it
        assert rows[event.forward].kind is Kind.GRAD


def test_threads_have_their_ops_seen() -> None:
    with gs.record(capture="ops") as log:
        worker = threading.Thread(
            target=lambda: nn.functional.linear(torch.ones(1, 2), torch.ones(1, 2), torch.ones(1))
        )
        worker.start()
        worker.join()
    log.refresh()
    assert "addmm" in {node.op for node in log.graph.nodes}
    assert torch.utils._python_dispatch._get_current_dispatch_mode() is None


def test_torch_script_is_seen_inside() -> None:
    source = "def f(x):\n    return torch.tanh(x) * 2\n"
    unit = torch.jit.CompilationUnit(source)
    with gs.record(capture="ops") as log:
        unit.f(torch.ones(2))
    log.refresh()
    assert [node.op for node in log.graph.nodes if node.kind == "op"] == ["tanh", "mul"]


@pytest.mark.slow
@pytest.mark.parametrize("name", SPECIAL)
def test_no_tensor_ends_a_recording_of_ops(name: str) -> None:
    try:
        with gs.record(values="summary", capture="ops") as log:
            SPECIAL[name]()
            torch.zeros(7, 5, 3).mul(2)
    except Exception:
        if runs_alone(name, beneath=Idle()):
            raise
        pytest.skip(f"torch {torch.__version__} can't run it beneath any mode")
    log.refresh()
    assert log.event(log.end - 1).shape == (7, 5, 3)


def test_ops_run_in_inference_mode() -> None:
    with gs.record(capture="ops") as log, torch.inference_mode():
        x = torch.ones(3)
        y = torch.nn.functional.layer_norm(x * 2, (3,))
    log.refresh()
    assert {"ones", "mul", "layer_norm"} <= {node.op for node in log.graph.nodes}
    assert y.is_inference()


@pytest.mark.slow
def test_the_level_is_asked_for_at_the_command_line(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import torch\ntorch.nn.functional.linear(torch.ones(1, 2), torch.ones(1, 2), torch.ones(1))\n")
    words = ["record", "--capture", "ops", "--log", str(tmp_path / "run.gscope"), str(program)]
    subprocess.run([sys.executable, "-m", "graphscope", *words], check=True, capture_output=True, timeout=120)
    assert "addmm" in {node.op for node in gs.load(tmp_path / "run.gscope").graph.nodes}


def test_a_level_that_there_is_not_is_refused() -> None:
    with pytest.raises(LogError, match="no level"):
        gs.record(capture="everything")


def test_a_write_inside_of_a_call_is_known_as_that() -> None:
    logits = torch.randn(4, 3, requires_grad=True)
    with gs.record(capture="ops") as log:
        torch.nn.functional.cross_entropy(logits, torch.tensor([0, 1, 2, 0]), label_smoothing=0.1).backward()
    log.refresh()
    ops = [node.op for node in log.graph.nodes]
    assert "masked_fill_" in ops
    assert "changed" not in ops


def normalized() -> None:
    layer = nn.utils.parametrizations.spectral_norm(nn.Linear(3, 4))
    for _ in range(2):
        layer(torch.ones(2, 3)).sum().backward()


def accumulated() -> None:
    layer = nn.Linear(3, 4)
    for _ in range(3):
        layer(torch.ones(2, 3)).sum().backward()
        layer.weight.grad.norm()
        layer.weight.detach().mul_(2)


@pytest.mark.slow
@pytest.mark.parametrize("capture", ["calls+backward", "ops"])
@pytest.mark.parametrize("program", [normalized, accumulated, "packed", "resumed", "threads"])
def test_nothing_is_said_to_have_changed_of_itself(program: Any, capture: str) -> None:
    run = program if callable(program) else PROGRAMS[program]()[0]
    with gs.record(capture=capture) as log:
        run()
        run()
    log.refresh()
    assert "changed" not in {node.op for node in log.graph.nodes}


@pytest.mark.parametrize("capture", ["calls+backward", "ops"])
def test_hooks_of_modules_lie_where_they_were_called(capture: str) -> None:
    layer = nn.Linear(3, 2)
    layer.register_full_backward_hook(lambda module, results, cotangents: None)
    with gs.record(capture=capture) as log:
        layer(torch.ones(2, 3, requires_grad=True)).sum().backward()
    log.refresh()
    rows = [log.event(row) for row in range(log.first, log.end)]
    hooks = [event for event in rows if event.op and log.op(event.op).name == "backward_hook_function"]
    assert {event.kind for event in hooks} == {Kind.GRAD}
    assert [log.op(log.event(event.forward).op).name for event in hooks] == ["view_as", "view_as"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("capture", ["calls", "calls+backward", "ops"])
def test_of_two_branches_the_one_that_is_chosen_is_shown(capture: str) -> None:
    def chosen(factor: int) -> list[torch.Tensor]:
        x = torch.arange(3.0, requires_grad=True)
        y = torch.cond(x.sum() * factor > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))
        y.sum().backward()
        assert x.grad is not None
        return [y, x.grad]

    bare = [*chosen(1), *chosen(-1)]
    with gs.record(capture=capture) as log:
        recorded = [*chosen(1), *chosen(-1)]
    assert all(map(torch.equal, bare, recorded))
    log.refresh()
    calls = [node.op for node in log.graph.nodes if node.kind == "op" and node.op in ("sin", "cos")]
    assert calls == ["sin", "cos"] if capture != "ops" else calls[0] == "sin"


@pytest.mark.parametrize("capture", ["calls+backward", "ops"])
def test_a_variable_is_what_the_call_of_its_line_returned(capture: str, tmp_path: Path) -> None:
    script = tmp_path / "attention.py"
    script.write_text(
        "import torch\n"
        "from torch.nn.attention import SDPBackend, sdpa_kernel\n"
        "query = torch.ones(1, 2, 3, requires_grad=True)\n"
        "with sdpa_kernel(SDPBackend.MATH):\n"
        "    out = torch.nn.functional.scaled_dot_product_attention(query, query, query, is_causal=True)\n"
        "chosen = torch.nn.functional.one_hot(torch.tensor([1, 2]))\n"
        "out.sum().backward()\n"
    )
    names: dict[str, Any] = {"__name__": "__main__"}
    with gs.record(capture=capture) as log:
        exec(compile(script.read_text(), str(script), "exec"), names)
    log.refresh()
    for name in ("query", "out", "chosen"):
        found = log.graph.select(f"name:{name} forward")
        assert found, name
        for node in found:
            assert node.shape == tuple(names[name].shape), node
            np.testing.assert_array_equal(node.value, names[name].detach().numpy())
