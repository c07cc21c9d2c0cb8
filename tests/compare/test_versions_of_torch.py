"""Programs under another version of PyTorch: they compute the same up to rounding.

`GRAPHSCOPE_OTHER_PYTHON` names the interpreter that has one, with graphscope installed (CONTRIBUTING.md says how).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphscope.compare import diff

OTHER = os.environ.get("GRAPHSCOPE_OTHER_PYTHON", "")
PROGRAMS = Path(__file__).parent / "programs" / "same"
CHOSEN = (
    "accumulated_batches", "batch_norm_by_hand", "channels_last", "checkpointed", "cnn_three_steps",
    "dropout_in_evaluation", "gru_in_gates", "heads_in_bfloat16", "lstm_by_hand", "transformer_adam_by_hand",
    "transformer_layer", "vmapped_heads",
)  # fmt: skip

pytestmark = [
    pytest.mark.torch,
    pytest.mark.slow,
    pytest.mark.skipif(not OTHER, reason="GRAPHSCOPE_OTHER_PYTHON names no interpreter with another PyTorch"),
]


def recorded(python: str, program: Path, log: Path) -> Path:
    command = [python, "-W", "ignore", "-m", "graphscope", "record", "--log", str(log), str(program)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=log.parent)
    assert done.returncode == 0, done.stderr
    return log


@pytest.mark.parametrize("name", CHOSEN)
def test_another_version_computes_the_same(name: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    program = PROGRAMS / name / "a.py"
    pythons = {"this": sys.executable, "other": OTHER}
    logs = [recorded(python, program, tmp_path / f"{each}.gscope") for each, python in pythons.items()]
    found = diff(*logs)
    assert found.verdict == "same", str(found)
