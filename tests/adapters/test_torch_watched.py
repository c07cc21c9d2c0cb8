"""A recording that keeps the newest steps, and holds them when the doctor finds something while the program runs."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import graphscope as gs
from graphscope.diagnose.watching import what_follows
from graphscope.errors import LogError
from graphscope.eventlog.requests import NAME
from tests.cli.conftest import ROOT

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.slow]

PROGRAM = """\
import sys
from pathlib import Path

import numpy as np
import torch

model = torch.nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), 1e-2)
requests = np.load(next(Path().glob("*.gscope/requests.npy")), mmap_mode="r")
sick_from, step, last = int(sys.argv[1]), 0, 1_000_000
while step < last:
    if step < sick_from:
        optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(torch.randn(16, 4)), torch.arange(16) % 3)
    loss.backward()
    optimizer.step()
    step += 1
    if last == 1_000_000 and (requests[0] if sick_from < last else requests[1]):
        last = step + 120
print(step)
"""


@pytest.mark.parametrize("sick_from", [100, 1_000_000])
def test_what_is_found_while_a_program_runs_is_held_and_what_follows_recorded(tmp_path: Path, sick_from: int) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    words = ["record", "--every", "50", "--keep-last", "3", "--on", "finding", "train.py", str(sick_from)]
    command = [sys.executable, "-m", "graphscope", *words]
    done = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=300, check=True
    )
    log = gs.load(tmp_path / "train.gscope")
    asked = subprocess.run(
        [sys.executable, "-m", "graphscope", "doctor", "--json", "train.gscope"],
        cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    found = {each["kind"] for each in json.loads(asked.stdout)["findings"]}
    steps = sum(event.kind.name == "STEP" for event in map(log.event, range(log.first, log.end)))
    if sick_from == 100:
        assert "zero_grad, train.py:15, " in done.stderr
        assert "zero_grad" in found
        assert steps > 6  # more than `--keep-last` alone keeps: those that were held, and those that followed
    else:
        assert "records the next steps" not in done.stderr
        assert found == set()


def test_whoever_judges_ends_with_the_recording(tmp_path: Path) -> None:
    with gs.record(tmp_path / "run.gscope", every=100, keep_last=2, on="finding") as log:
        counters = np.load(log.path / NAME, mmap_mode="r")
        x = gs.ones(2, requires_grad=True)
        while not counters[1]:
            (x * x).sum().backward()
            gs.step()
        (judge,) = _processes_of(log.path)
        handle = os.pidfd_open(judge)
    ended, _, _ = select.select([handle], [], [], 60)
    os.close(handle)
    assert ended
    assert counters[0] == 0


def _processes_of(path: Path) -> list[int]:
    """Those that were started for a log."""
    words = ((int(each.parent.name), each.read_bytes()) for each in Path("/proc").glob("[0-9]*/cmdline"))
    return [process for process, told in words if told.endswith(b"\0" + os.fsencode(path) + b"\0")]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"on": "findings", "every": 2}, "there is no moment 'findings'"),
        ({"on": "finding"}, "all steps are kept in any case"),
        ({"on": "nan"}, "all steps are kept in any case"),
        ({"on": "nan|signal|exception", "every": 1}, "all steps are kept in any case"),
    ],
)
def test_what_can_not_be_heeded_is_refused(tmp_path: Path, options: dict[str, object], said: str) -> None:
    with pytest.raises(LogError, match=said), gs.record(tmp_path / "run.gscope", **options):
        pass
    assert not (tmp_path / "run.gscope").exists()


def test_what_is_found_when_the_recording_has_ended_promises_no_next_steps(tmp_path: Path) -> None:
    with gs.record(tmp_path / "run.gscope", every=100, on="finding"):
        gs.ones(2) * 2
        assert "records the next steps" in what_follows(tmp_path / "run.gscope")
    assert what_follows(tmp_path / "run.gscope") == "the recording had ended by then"
