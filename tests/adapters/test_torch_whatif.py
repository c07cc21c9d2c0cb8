"""What if, on recordings of PyTorch: gradients checked against differences, calls and stretches run again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import graphscope as gs  # noqa: E402
from graphscope.adapters import executor  # noqa: E402
from graphscope.eventlog.schema import Flag  # noqa: E402
from graphscope.static.replay import framework_checks, what_if  # noqa: E402
from tests.adapters import training_programs  # noqa: E402
from tests.adapters.custom_functions import CASES  # noqa: E402
from tests.adapters.op_samples import SAMPLES  # noqa: E402
from tests.adapters.unjudged_functions import UNJUDGED, Square  # noqa: E402

pytestmark = pytest.mark.torch


def _tensors(given: Any) -> list[Any]:
    if isinstance(given, torch.Tensor):
        return [given]
    return [each for part in given for each in _tensors(part)] if isinstance(given, (tuple, list)) else []


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [False, True], ids=["right", "wrong"])
@pytest.mark.parametrize("name", CASES)
def test_check_tells_which_gradient_of_a_custom_function_is_wrong(name: str, wrong: bool, tmp_path: Path) -> None:
    torch.manual_seed(0)
    case = CASES[name]
    function = case.written(wrong)
    given = case.given()
    with gs.record(tmp_path / "log", values="full") as log:
        case.loss(function.apply(*given)).backward()
    found = framework_checks.judge(_of_custom(log))
    assert len(found) == len(_tensors(given))
    blamed = [place for place, each in enumerate(found) if each.agrees is False]
    assert blamed == ([case.mistaken] if wrong else []), found
    silent = [each for each in found if each.agrees is None]
    assert {each.remark for each in silent} <= {"needs no gradient", "int64 has no gradient"}


def _of_custom(log: Any) -> Any:
    return [each for each in log.graph.nodes if each.kind == "op" and log.op(each.event.op).custom][-1]


@pytest.mark.parametrize("name", UNJUDGED)
def test_check_says_what_it_can_not_judge(name: str, tmp_path: Path) -> None:
    program, reason = UNJUDGED[name]
    with gs.record(tmp_path / "log", values="full") as log:
        program().backward()
    found = framework_checks.judge(_of_custom(log))
    assert all(each.agrees is None and reason in each.remark for each in found), found


def test_what_a_pass_was_not_asked_for_is_not_missed(tmp_path: Path) -> None:
    x, y = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    with gs.record(tmp_path / "log", values="full") as log:
        torch.autograd.grad((x * y).sum(), [x])
    found = framework_checks.judge(next(each for each in log.graph.nodes if each.op == "mul"))
    assert [each.agrees for each in found] == [True, None]
    assert "asked for" in found[1].remark


@pytest.mark.parametrize("values", ["summary", "none"])
def test_check_without_values_says_so(values: Any, tmp_path: Path) -> None:
    with gs.record(tmp_path / "log", values=values) as log:
        Square.apply(torch.ones(400, 300, requires_grad=True)).sum().backward()
    with pytest.raises(gs.errors.StaticError, match="was not kept"):
        framework_checks.judge(_of_custom(log))


@pytest.mark.slow
def test_no_gradient_of_torchs_own_ops_is_blamed(tmp_path: Path) -> None:
    torch.manual_seed(0)

    def leaf(*shape: int, low: float = -1.0, high: float = 1.0) -> Any:
        return torch.empty(shape, dtype=torch.float64).uniform_(low, high).requires_grad_()

    with gs.record(tmp_path / "log", values="full") as log:
        for _, sample in SAMPLES:
            made = sample(leaf)
            outs = [each for each in (made if isinstance(made, (tuple, list)) else [made]) if each.requires_grad]
            parts = [torch.view_as_real(each) if each.is_complex() else each for each in outs]
            sums = [(each * torch.linspace(0.5, 2, each.numel()).reshape(each.shape)).sum() for each in parts]
            if sums:
                sum(sums).backward()
    judged = 0
    for node in log.graph.nodes:
        if node.kind == "op" and not node.flags & Flag.NO_GRAD and any(each.kind == "grad" for each in node.backward):
            found = framework_checks.judge(node)
            assert not any(each.agrees is False for each in found), (node, found)
            judged += sum(each.agrees is True for each in found)
    assert judged > 500


@pytest.mark.slow
@pytest.mark.parametrize("name", training_programs.PROGRAMS)
def test_three_steps_run_again_to_the_bit(name: str, tmp_path: Path) -> None:
    with gs.record(tmp_path / "log", values="full") as log:
        training_programs.trained(name, "none")
    runs = executor("PyTorch")
    unlike: list[Any] = []
    count = 0

    def seen(node: Any, results: Any) -> None:
        nonlocal count
        for slot, result in enumerate(results):
            value = node.output(slot)
            assert value is not None
            count += 1
            if runs.array(result).tobytes() != np.ascontiguousarray(value).tobytes():
                unlike.append(node)

    state = torch.get_rng_state()
    what_if.forward(log.graph, log.graph.nodes[-1], {}, seen)
    assert unlike == []
    assert count > 70
    assert torch.equal(torch.get_rng_state(), state)


def _changed(log: Any, edit: str) -> dict[int, Any]:
    """The row that an edit by hand is of, and the value that it puts there."""
    nodes = log.graph.nodes
    biases = [each for each in nodes if each.kind == "leaf" and each.name.endswith(("edited.bias", "0.bias"))]
    bias = biases[0]
    if edit == "leaf":
        return {bias.row: training_programs.leaf_given(torch.empty(bias.shape)).numpy()}
    layer = [edge.target for each in nodes if each.tensor == bias.tensor for edge in each.users]
    out = [each for each in layer if each.op in ("linear", "conv2d")][1]
    if edit == "value":
        return {out.row: training_programs.value_given(torch.empty(out.shape)).numpy()}
    return {out.backward[-1].row: training_programs.gradient_given(torch.empty(out.shape)).numpy()}


@pytest.mark.slow
@pytest.mark.parametrize("edit", training_programs.EDITS[1:])
@pytest.mark.parametrize("name", training_programs.PROGRAMS)
def test_replay_of_a_change_is_what_the_program_edited_by_hand_computes(name: str, edit: str, tmp_path: Path) -> None:
    with gs.record(tmp_path / "log", values="full") as log:
        plain = training_programs.trained(name, "none")
    wanted = dict(training_programs.trained(name, edit).named_parameters())
    rerun = what_if.forward(log.graph, log.graph.nodes[-1], _changed(log, edit))
    newest = {node.name: node for node in log.graph.nodes if node.op == "Adam"}
    assert newest.keys() == wanted.keys()
    for parameter, node in newest.items():
        assert np.array_equal(rerun.array((node.row, 0)), wanted[parameter].detach().numpy()), parameter
    assert any(not torch.equal(each, wanted[parameter]) for parameter, each in plain.named_parameters())


@pytest.mark.slow
@pytest.mark.parametrize("name", training_programs.PROGRAMS)
def test_gradients_sent_back_again_are_those_recorded(name: str, tmp_path: Path) -> None:
    with gs.record(tmp_path / "log", values="full") as log:
        training_programs.trained(name, "none")
    graph = log.graph
    losses = [each for each in graph.nodes if each.op in ("cross_entropy", "mean") and each.kind == "op"]
    loss = [each for each in losses if each.shape == ()][1]
    found = what_if.backward(graph, loss, {})
    assert len(found) == len([each for each in graph.nodes if each.op == "Adam"]) / 3
    for row, gradient in found.items():
        recorded = what_if.gradient_recorded(graph.node(row), loss.row)
        assert recorded is not None
        assert recorded.tobytes() == gradient.tobytes()
