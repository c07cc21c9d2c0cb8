"""Type checkers and editors find the modules that people import by their short names."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """\
import graphscope as gs
import graphscope as torch
import graphscope.nn as nn
import graphscope.nn.functional
import graphscope.utils.data as data
from graphscope import jit, optim
from graphscope.cuda.amp import GradScaler
from graphscope.nn import functional as F
from graphscope.optim.lr_scheduler import StepLR

class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 3)

reveal_type(gs.tensor([1.0]))
reveal_type(torch.nn.ReLU(inplace=True))
reveal_type(nn.MaxPool2d(2))
reveal_type(optim.SGD(Net().parameters(), lr=0.1))
reveal_type(data.Dataset)
reveal_type(jit.trace)
reveal_type(GradScaler())
reveal_type(F.cosine_similarity)
reveal_type(StepLR)
nn.ReLU(True, 2)
"""
REVEALED = [
    "Tensor", "ReLU", "MaxPool2d", "SGD", "Dataset", "def (function", "GradScaler", "def (x1", "StepLR"
]  # fmt: skip


@pytest.mark.slow
def test_the_stubs_are_current(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "docs" / "reference" / "stubs.py", tmp_path], check=True, timeout=60)
    made, kept = (
        {
            str(path.relative_to(folder)): path.read_text(encoding="utf-8")
            for path in folder.rglob("*")
            if path.is_file()
        }
        for folder in (tmp_path, ROOT / "graphscope-stubs")
    )
    assert made == kept, "run `make docs`"


@pytest.mark.slow
def test_mypy_knows_every_spelling(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True, timeout=60)
    (packages,) = environment.glob("lib/python*/site-packages")
    for name in ("graphscope", "graphscope-stubs"):
        shutil.copytree(ROOT / name, packages / name, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    (packages / "others.pth").write_text("\n".join(path for path in sys.path if path.endswith("site-packages")))
    (tmp_path / "train.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--python-executable", environment / "bin" / "python", "train.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    said = done.stdout.splitlines()
    revealed = [line for line in said if "Revealed type" in line]
    assert [part for part, line in zip(REVEALED, revealed, strict=True) if part not in line] == [], said
    assert [line for line in said if "error" in line][:-1] == [
        'train.py:25: error: Too many arguments for "ReLU"  [call-arg]'
    ]
