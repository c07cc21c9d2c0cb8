"""The debugger works where the engine and define-then-run are not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """\
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(2):
    loss = model(torch.ones(5, 3)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print("done")
"""
ONLY_HERE = """\
import sys
sys.meta_path = [finder for finder in sys.meta_path if "editable" not in getattr(finder, "__module__", "")]
"""
"""An editable installation would find in the checkout what the copy lacks."""


@pytest.fixture(scope="module")
def debugger_alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a program of PyTorch, and a copy of the package without its other house."""
    folder = tmp_path_factory.mktemp("alone")
    shutil.copytree(
        ROOT / "graphscope", folder / "graphscope", ignore=shutil.ignore_patterns("engine", "static", "__pycache__")
    )
    (folder / "train.py").write_text(PROGRAM)
    (folder / "sitecustomize.py").write_text(ONLY_HERE)
    return folder


def run(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.torch
def test_it_records_steps_and_draws_a_program_of_pytorch(debugger_alone: Path) -> None:
    pytest.importorskip("torch")
    main = ("-m", "graphscope")
    assert str(debugger_alone) in run(debugger_alone, "-c", "import graphscope; print(graphscope.__file__)")
    assert "done" in run(debugger_alone, *main, "record", "train.py")
    assert "mean" in run(debugger_alone, *main, "summary")
    run(debugger_alone, *main, "export", "-o", "train.svg")
    assert "<svg" in (debugger_alone / "train.svg").read_text()
    words = ["b op:tanh backward", "c", "p grad.shape", "why model.0.weight", "rn", "help", "q"]
    said = run(
        debugger_alone, *main, "debug", "--console", *(part for word in words for part in ("-c", word)), "train.py"
    )
    assert "(5, 4)" in said or "[5, 4]" in said
    run(debugger_alone, "-c", "import graphscope as gs; print(len(gs.load('train.gscope').graph.nodes))")


@pytest.mark.slow
def test_what_is_not_there_is_named(debugger_alone: Path) -> None:
    code = "import graphscope as gs\ntry:\n    gs.tensor\nexcept AttributeError as error:\n    print(error)"
    assert "no attribute 'tensor'" in run(debugger_alone, "-c", code)
    code = "try:\n    import graphscope.nn\nexcept ModuleNotFoundError as error:\n    print(error)"
    assert "No module named 'graphscope.nn'" in run(debugger_alone, "-c", code)
