"""`graphscope open` over a model: it is run once, and every node is there with its value."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from .conftest import Run

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


@pytest.mark.slow
def test_open_runs_a_model_and_steps_through_it(tmp_path: Path, graphscope: Run) -> None:
    module = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Tanh())
    torch.export.save(torch.export.export(module, (torch.ones(4, 3),)), str(tmp_path / "net.pt2"))
    np.savez(tmp_path / "feed.npz", input=np.zeros((4, 3), np.float32))
    found = graphscope(
        "open", "--console", "net.pt2", "--feed", "feed.npz", stdin="s\ns\ns\ns\np value\nlt op:tanh\nq\n"
    )
    assert found.returncode == 0, found.stderr
    assert "tanh" in found.stdout
    assert (tmp_path / "net.gscope" / "log.json").is_file()
    expected = module(torch.zeros(4, 3)).detach().numpy()
    assert f"{expected[0, 0]:.4g}"[:6] in found.stdout


@pytest.mark.slow
def test_a_file_that_is_no_model_says_so(tmp_path: Path, graphscope: Run) -> None:
    (tmp_path / "net.pt").write_bytes(b"nothing")
    found = graphscope("open", "net.pt")
    assert found.returncode == 2
    assert "net.pt is no TorchScript" in found.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", [("summary",), ("export", "-o", "net.svg"), ("pack",)])
def test_what_reads_logs_names_the_command_that_reads_models(
    tmp_path: Path, graphscope: Run, command: tuple[str, ...]
) -> None:
    (tmp_path / "net.pt2").write_bytes(b"")
    found = graphscope(*command, "net.pt2")
    assert found.returncode == 2
    assert "'net.pt2' is a model and no log" in found.stderr
    assert "graphscope open net.pt2" in found.stderr
