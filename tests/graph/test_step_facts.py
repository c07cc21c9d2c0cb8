"""What a training step says of itself, where the log no longer has it all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import graphscope as gs
from graphscope.graph import Graph
from graphscope.graph.outline import facts
from graphscope.graph.outline.steps import steps
from graphscope.graph.step_numbers import step_numbers


@pytest.mark.slow
@pytest.mark.torch
def test_norms_of_steps_are_known_where_the_rows_of_the_leaves_are_gone(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 1))
    optimizer, norms = torch.optim.AdamW(net.parameters(), 1e-3), []
    with gs.record(tmp_path / "run.gscope", every=100, keep_last=3) as log:
        for step in range(600):  # which is what its steps are called by
            assert step == len(norms)
            optimizer.zero_grad()
            net(torch.randn(256, 64)).square().mean().backward()
            norms.append(float(torch.nn.utils.get_total_norm([each.grad for each in net.parameters()])))
            optimizer.step()
    log.refresh()
    assert log.first > 0
    graph, known, numbers = Graph(log), steps(log), step_numbers(log)
    for place in range(1, len(known)):
        begins = known.begins[list(known.passes_of(place))]
        count = int(numbers.counts[place])
        told = facts.of_step(graph, int(known.first[place]), int(known.last[place]), begins, count).norm
        assert told == pytest.approx(norms[numbers.number(place).counters["step"]], rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("values", ["full", "summary"])
def test_a_norm_whose_gradients_went_with_the_budget_is_unknown(values: str, tmp_path: Path) -> None:
    weight = gs.tensor(np.linspace(0.5, 1.5, 64), requires_grad=True)
    optimizer, norms = gs.optim.SGD([weight], lr=0.01), []
    with gs.record(tmp_path / "run.gscope", values=values, budget=1 << 20) as log:
        for _ in range(6000):
            optimizer.zero_grad()
            ((weight * weight) * 0.5).sum().backward()
            norms.append(float(np.linalg.norm(weight.grad.numpy())))
            optimizer.step()
    log.refresh()
    graph, known, numbers = Graph(log), steps(log), step_numbers(log)
    assert log.dropped > log.first
    for place, norm in ((0, None), (len(known) - 1, norms[-1])):
        begins = known.begins[list(known.passes_of(place))]
        count = int(numbers.counts[place])
        told = facts.of_step(graph, int(known.first[place]), int(known.last[place]), begins, count).norm
        assert told == (norm if norm is None else pytest.approx(norm))
