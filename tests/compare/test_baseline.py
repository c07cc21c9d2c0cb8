"""A baseline is small, holds what a run did, and a run that does otherwise parts from it where it does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import graphscope as gs
from graphscope.compare import departure, read_baseline, save_baseline
from graphscope.errors import LogError
from graphscope.eventlog.reader import Log
from tests.quick import one_quick

pytestmark = pytest.mark.torch
pytest.importorskip("torch")

TRAINING = """
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 2))
x = torch.randn(64, 8)
y = torch.stack([x.sum(1), x.prod(1)], 1)
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
for step in range(12):
    loss = (net(x) - y).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

LATE = """    optimizer.step()
    if step == 7:
        optimizer.param_groups[0]["lr"] = 1e-2"""

CHANGES = {
    "activation": ("nn.GELU()", "nn.GELU('tanh')", 1, "forward", "gelu"),
    "data": ("x.prod(1)", "x.amax(1)", 1, "forward", "amax"),
    "loss": (".mean()\n", ".sum()\n", 1, "forward", "sum"),
    "detached": ("(net(x) - y)", "(net[3](net[:3](x).detach()) - y)", 1, "forward", "detach"),
    "optimizer": ("torch.optim.AdamW", "torch.optim.SGD", 1, "update", "SGD"),
    "rate": ("lr=1e-3", "lr=1.01e-3", 1, "update", "AdamW"),
    "late": ("    optimizer.step()", LATE, 9, "update", None),
}  # fmt: skip


def recorded(folder: Path, text: str, name: str, values: Literal["full", "summary", "none"] = "full") -> Log:
    script = folder / f"{name}.py"
    script.write_text(text)
    with gs.record(folder / f"{name}.gscope", values=values):
        exec(compile(text, str(script), "exec"), {"__name__": "__main__"})
    return gs.load(folder / f"{name}.gscope")


@pytest.mark.slow
@pytest.mark.parametrize("values", one_quick(["full", "summary", "none"]))
def test_the_same_run_is_the_same(values: Literal["full", "summary", "none"], tmp_path: Path) -> None:
    path = tmp_path / "kept" / "baseline.json"
    kept = save_baseline(recorded(tmp_path, TRAINING, "a", values), path)
    assert path.stat().st_size < 50_000
    found = departure(read_baseline(path), recorded(tmp_path, TRAINING, "b", values))
    assert not found, found
    assert found.matched == len(kept.nodes) > 50
    assert found.steps == 12


@pytest.mark.slow
@pytest.mark.parametrize("name", one_quick(CHANGES))
def test_another_run_parts_where_it_does_otherwise(name: str, tmp_path: Path) -> None:
    line, changed, step, when, op = CHANGES[name]
    assert line in TRAINING
    save_baseline(recorded(tmp_path, TRAINING, "a"), tmp_path / "a.json")
    found = departure(read_baseline(tmp_path / "a.json"), recorded(tmp_path, TRAINING.replace(line, changed), "b"))
    assert found.first is not None
    assert (found.first.step, found.first.when) == (step, when), found
    assert op is None or (found.first.b is not None and found.first.b.op == op), found
    assert json.loads(json.dumps(found.data()))["same"] is False


@pytest.mark.slow
def test_rounding_is_no_difference(tmp_path: Path) -> None:
    save_baseline(recorded(tmp_path, TRAINING, "a"), tmp_path / "a.json")
    other = TRAINING.replace("x = torch.randn(64, 8)", "x = torch.randn(64, 8) * (1 + 2e-7)")
    found = departure(read_baseline(tmp_path / "a.json"), recorded(tmp_path, other, "b"))
    assert not found, found
    assert departure(read_baseline(tmp_path / "a.json"), gs.load(tmp_path / "b.gscope"), rtol=1e-9)


@pytest.mark.slow
def test_a_large_run_is_kept_in_a_small_file(tmp_path: Path) -> None:
    deep = TRAINING.replace("nn.GELU(), ", "nn.GELU(), *[nn.Linear(16, 16) for _ in range(60)], ")
    deep = deep.replace("range(12)", "range(150)")
    save_baseline(recorded(tmp_path, deep, "a"), tmp_path / "a.json")
    assert (tmp_path / "a.json").stat().st_size < 90_000
    assert not departure(read_baseline(tmp_path / "a.json"), recorded(tmp_path, deep, "b"))


def test_the_numbers_are_those_of_the_run(tmp_path: Path) -> None:
    log = recorded(tmp_path, TRAINING, "a")
    kept = save_baseline(log, tmp_path / "a.json")
    read = read_baseline(tmp_path / "a.json")
    assert read.nodes == kept.nodes
    losses = [node.value for node in log.graph.select("op:mean") if node.graph_pass == "forward"]
    assert np.allclose(read.course["loss"], np.array(losses, float), rtol=1e-8)
    assert str(tmp_path) not in (tmp_path / "a.json").read_text()


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": 99}', '{"format": 1, "course": {}, "nodes": [[1]]}'])
def test_a_file_that_is_none_is_told(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(LogError, match=r"a\.json"):
        read_baseline(tmp_path / "a.json")
