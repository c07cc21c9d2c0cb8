"""A program that two ranks run over gloo, each in a process of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import graphscope as gs


def run(folder: Path, program: str) -> None:
    """Run a program in a folder, as `train.py`, to its end."""
    (folder / "train.py").write_text(program, encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    shared = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2"}
    shared |= {"PYTHONPATH": str(Path(gs.__file__).parents[1]), "OMP_NUM_THREADS": "1"}
    ranks = [
        subprocess.Popen([sys.executable, "train.py"], cwd=folder, env={**shared, "RANK": str(rank)})
        for rank in range(2)
    ]
    assert [each.wait(timeout=240) for each in ranks] == [0, 0]
