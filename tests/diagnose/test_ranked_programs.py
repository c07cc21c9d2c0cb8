"""Four ranks that train as people write it, sick in one way each: named with rank, step and line; else silence."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT

torch = pytest.importorskip("torch")
if not torch.distributed.is_available():
    pytest.skip("torch was built without its distributed part", allow_module_level=True)

pytestmark = [pytest.mark.torch, pytest.mark.slow]

HERE = Path(__file__).parent / "ranked"

SICK = {
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
WAYS = ("healthy", "rate", "twice", "skip", "hang")


@pytest.fixture(scope="module", params=["by_hand", "wrapped"])
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A program, and the folder with a folder of logs for each way."""
    folder = tmp_path_factory.mktemp(request.param)
    command = [sys.executable, "-m", "tests.diagnose.ranked.launch", str(HERE / f"{request.param}.py"), *WAYS]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    subprocess.run(command, cwd=folder, check=True, timeout=300, capture_output=True, env=environment)
    return request.param, folder


def test_each_is_named_and_the_healthy_one_is_silent(recorded: tuple[str, Path]) -> None:
    program, folder = recorded
    for way in WAYS:
        command = [sys.executable, "-m", "graphscope", "ranks", way, "--json"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        found = json.loads(done.stdout)
        assert [each["name"] for each in found["ranks"]] == [f"rank {rank}" for rank in range(4)]
        if way == "healthy":
            assert (done.returncode, found["findings"], found["unjudged"]) == (0, [], [])
            continue
        rank, step, line, cause = SICK[program, way]
        assert done.returncode == 1, way
        (finding,) = found["findings"]
        assert finding["cause"] == cause
        assert finding["verdict"].startswith(rank)
        assert finding["first_step"] == step
        assert finding["source"].strip().startswith(line)
        assert found["odd"] == [rank]


def test_a_wide_terminal_shows_the_steps_of_each_rank(recorded: tuple[str, Path]) -> None:
    """Of a rank that leaves out the collectives of its sixth step, that step has no time in them."""
    program, folder = recorded
    if program != "by_hand":
        pytest.skip("one program is enough")
    command = [sys.executable, "-m", "graphscope", "ranks", "skip"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "160"}
    )
    shown = re.findall("[▁▂▃▄▅▆▇█]+", done.stdout)
    assert [len(each) for each in shown] == [7, 7, 7, 8]
    assert [each[5] == "▁" for each in shown] == [False, False, False, True]
