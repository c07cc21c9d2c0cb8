"""What `graphscope ranks` has to say of the programs of this folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from tests.cli.conftest import ROOT

SICK: Final = {
    ("by_hand", "rate"): ("rank 2", 1, "optimizer = torch.optim.SGD", "other settings"),
    ("by_hand", "twice"): ("rank 1", 5, "loss = nn.functional.mse_loss", "data once more"),
    ("by_hand", "skip"): ("rank 3", 6, "dist.all_reduce(parameter.grad)", "collective left out"),
    ("by_hand", "hang"): ("rank 3", 6, "loss.backward()", "waited for"),
    ("wrapped", "rate"): ("rank 2", 1, "optimizer = torch.optim.AdamW", "other settings"),
    ("wrapped", "twice"): ("rank 2", 1, "loss = nn.functional.mse_loss", "data of another rank"),
    ("wrapped", "skip"): ("rank 3", 6, "loss.backward()", "collective left out"),
    ("wrapped", "hang"): ("rank 1", 7, "loss.backward()", "waited for"),
}
"""The rank, the step counted from 1, the line and the cause that each program was given."""
WAYS: Final = ("healthy", "rate", "twice", "skip", "hang")
PROGRAMS: Final = Path(__file__).parent
ENVIRONMENT: Final = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}


def answered(logs: Path, *words: str, where: Path | None = None) -> tuple[int, dict[str, Any]]:
    """Exit status and answer of `graphscope ranks`."""
    command = [sys.executable, "-m", "graphscope", "ranks", str(logs), "--json", *words]
    done = subprocess.run(command, cwd=where or logs, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, json.loads(done.stdout)


def check_one(logs: Path, rank: str, line: str, step: int, said: str) -> None:
    """See that of the ranks of a log one is named, with its line, the step counted from 1 and what is said of it."""
    told = answered(logs, where=logs.parent)[1]
    (finding,) = told["findings"]
    assert finding["verdict"].startswith(f"{rank} ")
    assert said in finding["verdict"]
    assert finding["source"].strip().startswith(line)
    assert finding["first_step"] == step
    assert told["odd"] == [rank]


def check(folder: Path, program: str, way: str) -> None:
    """See that of the logs in a folder it is said what the program was given, and nothing else."""
    status, found = answered(folder)
    assert [each["name"] for each in found["ranks"]] == [f"rank {rank}" for rank in range(4)]
    if way == "healthy":
        assert (status, found["findings"], found["unjudged"]) == (0, [], [])
        return
    rank, step, line, cause = SICK[program, way]
    assert status == 1, way
    (finding,) = found["findings"]
    assert finding["cause"] == cause
    assert finding["verdict"].startswith(rank)
    assert finding["first_step"] == step
    assert finding["source"].strip().startswith(line)
    assert found["odd"] == [rank]
