"""`graphscope diff` bit by bit, and with a baseline."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from .conftest import Run

SCHEMA = json.loads((files("graphscope.compare") / "assets" / "diff.schema.json").read_text())

A = """
import graphscope as torch
torch.manual_seed(0)
layer = torch.nn.Linear(3, 2)
sgd = torch.optim.SGD(layer.parameters(), lr=0.1)
x = torch.randn(4, 3)
for _ in range(3):
    sgd.zero_grad()
    layer(x).tanh().square().mean().backward()
    sgd.step()
"""


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text(A)
    (tmp_path / "b.py").write_text(A.replace(".tanh()", ".sigmoid()"))
    (tmp_path / "c.py").write_text(A.replace("(4, 3)", "(4, 3) + 1e-6 * __import__('os').getpid()"))
    return tmp_path


@pytest.mark.slow
def test_a_baseline_is_kept_and_compared_with(scripts: Path, graphscope: Run) -> None:
    kept = graphscope("diff", "--save-baseline", "kept.json", "a.py")
    assert kept.returncode == 0, kept.stderr
    assert "graphscope diff kept.json" in kept.stderr
    assert not kept.stdout
    assert (scripts / "kept.json").stat().st_size < 50_000
    same = graphscope("diff", "kept.json", "a.gscope")
    assert (same.returncode, same.stdout.startswith("The same")) == (0, True)
    other = graphscope("diff", "kept.json", "b.py", "--json")
    assert other.returncode == 1
    told = json.loads(other.stdout)
    jsonschema.validate(told, SCHEMA)
    assert told["parting"]["a"]["op"] == "tanh"
    assert told["parting"]["b"]["op"] == "sigmoid"
    assert told["parting"]["b"]["line"] == 9


@pytest.mark.slow
def test_exact_is_bit_by_bit(scripts: Path, graphscope: Run) -> None:
    assert graphscope("diff", "--exact", "a.py", "a.py").returncode == 0
    other = graphscope("diff", "--exact", "c.py", "c.py", "--json")
    assert other.returncode == 1, other.stderr
    told = json.loads(other.stdout)
    jsonschema.validate(told, SCHEMA)
    assert told["parting"]["a"]["line"] == told["parting"]["b"]["line"] == 6


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["kept.json"], "there is no log to compare"),
        (["kept.json", "a.py", "--exact"], "--exact compares two logs"),
        (["kept.json", "a.py", "-o", "x.svg"], "-o compares two logs"),
        (["--save-baseline", "kept.json", "a.py", "b.py"], "there are two"),
        (["missing.json", "a.py"], "missing.json"),
        (["--exact", "--rtol", "1e-3", "a.py", "a.py"], "--rtol has no say in that"),
        (["--exact", "--atol", "0", "a.py", "a.py"], "--atol has no say in that"),
    ],
)
def test_what_can_not_be_is_told(arguments: list[str], said: str, scripts: Path, graphscope: Run) -> None:
    result = graphscope("diff", *arguments)
    assert result.returncode == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr
