"""A program that two ranks or more run over gloo, a process each; tests that use it are skipped where that is not."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
if not torch.distributed.is_available():
    pytest.skip("torch was built without its distributed part", allow_module_level=True)


def run(folder: Path, program: str, count: int = 2, fails: bool = False) -> None:
    """Run a program in a folder, as `train.py`, to its end.

    Args:
        folder: Where.
        program: Its text.
        count: So many ranks.
        fails: Whether ranks end with another status than 0.
    """
    (folder / "train.py").write_text(program, encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    shared = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(count)}
    shared |= {"PYTHONPATH": str(Path(gs.__file__).parents[1]), "OMP_NUM_THREADS": "1"}
    ranks = [
        subprocess.Popen([sys.executable, "train.py"], cwd=folder, env={**shared, "RANK": str(rank)})
        for rank in range(count)
    ]
    statuses = [each.wait(timeout=240) for each in ranks]
    assert any(statuses) == fails
