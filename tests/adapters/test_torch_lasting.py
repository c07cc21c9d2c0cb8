"""What holds over long runs, without the compiled parts, and beside other parts of PyTorch."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

import dataclasses
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import graphscope as gs
from graphscope.adapters.torch import compiled, tensor_elements
from graphscope.adapters.torch.tensor_base import ORDINARY, Own
from graphscope.adapters.torch.values import Keeping
from graphscope.eventlog import record as recording
from graphscope.eventlog.schema import Flag, Kind
from tests.adapters.programs import PROGRAMS

pytestmark = pytest.mark.torch


def rows(name: str) -> list[Any]:
    """What a program's recording says, but for times."""
    torch.manual_seed(0)
    step, _ = PROGRAMS[name]()
    with gs.record() as log:
        for _ in range(3):
            step()
    log.refresh()
    found = []
    for row in range(log.first, log.end):
        event = log.event(row)
        value = log.value(row) if event.output_count == 1 and event.dtype else None
        kept = None if value is None else value.tobytes()
        name = log.op(event.op).name if event.op else ""
        found.append((event.kind, event.flags, name, event.shape, event.dtype, event.version, event.inputs, kept))
    return found


PLAINLY = """\
import pickle, sys, warnings

sys.modules["graphscope.adapters.torch._calls"] = None  # as if it had not been built
warnings.simplefilter("ignore")
from tests.adapters.test_torch_lasting import PROGRAMS, rows

found = {name: rows(name) for name in PROGRAMS if name != "threads"}
with open(sys.argv[1], "wb") as file:
    pickle.dump(found, file)
"""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_without_the_compiled_part_the_same_is_written(tmp_path: Path) -> None:
    if compiled.Handler is None:
        pytest.skip("nothing is compiled here")
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", PLAINLY, str(tmp_path / "rows")]
    subprocess.run(command, check=True, cwd=root, env={**os.environ, "PYTHONPATH": str(root)})
    for name, plain in pickle.loads((tmp_path / "rows").read_bytes()).items():
        assert rows(name) == plain, name


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["perceptron", "recurrent", "transformer"])
def test_torch_that_shows_no_memory_is_asked_for_it(name: str) -> None:
    if compiled.Handler is None:
        pytest.skip("nothing is compiled here")
    quick = rows(name)
    offered = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)  # none before 2.10
    compiled.look_through(None, compiled.measure, ORDINARY, Own)
    try:
        assert rows(name) == quick
    finally:
        compiled.look_through(offered, compiled.measure, ORDINARY, Own)


@pytest.mark.slow
def test_a_long_run_stays_flat(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    x = torch.randn(8, 4)

    def train(steps: int) -> tuple[int, int]:
        for _ in range(steps):
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
        resident = next(line for line in Path("/proc/self/status").read_text().splitlines() if "RssAnon" in line)
        disk = sum(file.stat().st_size for file in (tmp_path / "run.gscope").rglob("*") if file.is_file())
        return int(resident.split()[1]), disk

    with gs.record(tmp_path / "run.gscope", keep_last=20):
        memory, disk = train(2000)
        later, more = train(8000)
    assert later - memory < 8_000  # KiB
    assert more < 2 * disk


@pytest.mark.slow
def test_a_new_segment_has_leaves_of_its_own(tmp_path: Path) -> None:
    w = torch.ones(3, requires_grad=True)
    with gs.record(tmp_path / "run.gscope") as log:
        for _ in range(2000):
            (w * 2).sum().backward()
            w.grad = None
    log.refresh()
    events = [log.event(row) for row in range(log.first, log.end)]
    leaves = [event for event in events if event.kind.name == "LEAF"]
    assert len(leaves) == len(list((tmp_path / "run.gscope" / "segments").iterdir())) > 1
    assert {event.tensor for event in leaves} == {leaves[0].row}
    assert log.graph.node(leaves[-1].row).grad is None  # as the program has it in the end
    arrived = [event.row for event in events if event.kind.name == "ACCUMULATE"][-1]
    np.testing.assert_array_equal(log.graph.at(arrived).node(leaves[-1].row).grad, [2, 2, 2])


@pytest.mark.slow
def test_a_new_segment_cuts_no_edge(tmp_path: Path) -> None:
    with gs.record(tmp_path / "run.gscope", values="none"):
        before, last = torch.ones(2), torch.zeros(2)
        for _ in range(5000):
            before, last = last, torch.maximum(before, last)
    log = gs.load(tmp_path / "run.gscope")
    nodes = [log.graph.node(row) for row in range(log.first, log.end)]
    assert len(list((tmp_path / "run.gscope" / "segments").iterdir())) > 1
    assert [node.op for node in nodes] == ["ones", "zeros", *["maximum"] * 5000]
    assert all([edge.source.row for edge in node.inputs] == [node.row - 2, node.row - 1] for node in nodes[2:])


COMPILED = """\
import torch
import graphscope as gs
model = torch.nn.Linear(3, 2)
with gs.record() as log:
    quick = torch.compile(model)
    torch.compile(lambda x: x.sin() * 2)(quick(torch.ones(1, 3))).sum().backward()
log.refresh()
print([node.op for node in log.graph.nodes if node.kind == "op"], model.weight.grad is not None)
"""


@pytest.mark.slow
def test_what_was_compiled_runs_eagerly_and_one_line_says_so() -> None:
    run = subprocess.run([sys.executable, "-c", COMPILED], capture_output=True, text=True, timeout=300, check=True)
    assert run.stdout.strip() == "['linear', 'sin', 'mul', 'sum'] True"
    assert run.stderr.count("torch.compile") == 1


@pytest.mark.slow
def test_workers_of_a_data_loader_record_nothing_and_break_nothing(tmp_path: Path) -> None:
    data = torch.utils.data.TensorDataset(torch.arange(8.0).reshape(4, 2))
    loader = torch.utils.data.DataLoader(data, batch_size=2, num_workers=2)
    with gs.record(tmp_path / "run.gscope") as log:
        total = sum(batch.sum().item() for (batch,) in loader)
    assert total == 28
    log.refresh()
    leaves = [event for event in map(log.event, range(log.first, log.end)) if event.kind is Kind.LEAF]
    for event, rows in zip(leaves, data.tensors[0].split(2), strict=True):  # batches, and nothing of how they came
        np.testing.assert_array_equal(log.value(event.row), rows)
    assert recording.active() is None


def test_what_goes_wrong_in_the_recorder_ends_the_recording_and_not_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from graphscope.adapters.torch import results

    def broken(*_: Any, **__: Any) -> None:
        raise KeyError("lost")

    x = torch.ones(2, requires_grad=True)
    with gs.record():
        y = x * 2
        with monkeypatch.context() as patched:
            patched.setattr(results, "variant", broken)
            with pytest.warns(RuntimeWarning, match="goes on unrecorded"):
                z = y.exp()
        z.sum().backward()
    np.testing.assert_allclose(x.grad, 2 * np.exp([2.0, 2.0]), rtol=1e-6)


def _rounded(summary: Any) -> Any:
    return summary and tuple(float(f"{part:.4g}") for part in dataclasses.astuple(summary))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("values", ["summary", "none"])
def test_what_is_computed_on_an_accelerator_of_its_own_tensors_is_the_same(
    values: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No accelerator is needed: tensors are said to lie on one, and torch computes their statistics there."""

    def told() -> list[Any]:
        with gs.record(values=values) as log:
            x = torch.linspace(-2, 3, 9000).reshape(90, 100).requires_grad_()
            y = x.t().log() * torch.arange(90)
            y.half().sum().backward()
        log.refresh()
        summaries = [log.summary(row) if log.event(row).output_count == 1 else None for row in range(log.end)]
        return [(log.event(row).flags, _rounded(each)) for row, each in enumerate(summaries)]

    here = told()
    assert any(flags & Flag.NONFINITE for flags, _ in here)
    monkeypatch.setattr(tensor_elements, "is_remote", lambda tensor: True)
    monkeypatch.setattr(Keeping, "read", lambda keeping, tensor: keeping._elsewhere(tensor))
    if compiled.Handler is None:
        assert told() == here
        return
    offered = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)  # none before 2.10
    compiled.look_through(None, compiled.measure, ORDINARY, Own)
    try:
        assert told() == here
    finally:
        compiled.look_through(offered, compiled.measure, ORDINARY, Own)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
@pytest.mark.parametrize("values", ["full", "summary", "none"])
def test_a_program_on_cuda_computes_the_same_and_its_values_are_told(values: str) -> None:
    def train() -> list[torch.Tensor]:
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).cuda()
        optimizer = torch.optim.Adam(model.parameters())
        side, losses = torch.cuda.Stream(), []
        for _ in range(3):
            optimizer.zero_grad()
            with torch.cuda.stream(side):
                loss = model(torch.randn(5, 4, device="cuda")).square().mean()
            torch.cuda.current_stream().wait_stream(side)
            loss.backward()
            optimizer.step()
            losses.append(loss.detach().cpu())
        return [*losses, *(each.detach().cpu() for each in model.parameters())]

    bare = train()
    with gs.record(values=values) as log:
        recorded = train()
    log.refresh()
    assert all(map(torch.equal, bare, recorded))
    if values == "full":
        assert [node.value for node in log.graph.select("name:loss forward")] == [each.item() for each in bare[:3]]
