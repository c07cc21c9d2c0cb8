"""Four ranks that train as people write it, sick in one way each: named with rank, step and line; else silence."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT

from .ranked.answers import ENVIRONMENT, PROGRAMS, WAYS, check

torch = pytest.importorskip("torch")
if not torch.distributed.is_available():
    pytest.skip("torch was built without its distributed part", allow_module_level=True)

pytestmark = [pytest.mark.torch, pytest.mark.slow]


@pytest.fixture(scope="module", params=["by_hand", "wrapped"])
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A program, and the folder with a folder of logs for each way."""
    folder = tmp_path_factory.mktemp(request.param)
    command = [sys.executable, "-m", "tests.diagnose.ranked.launch", str(PROGRAMS / f"{request.param}.py"), *WAYS]
    subprocess.run(command, cwd=folder, check=True, timeout=300, capture_output=True, env=ENVIRONMENT)
    return request.param, folder


def test_each_is_named_and_the_healthy_one_is_silent(recorded: tuple[str, Path]) -> None:
    program, folder = recorded
    for way in WAYS:
        check(folder / way, program, way)


def test_a_wide_terminal_shows_the_steps_of_each_rank(recorded: tuple[str, Path]) -> None:
    """Of a rank that leaves out the collectives of its sixth step, that step has no time in them."""
    program, folder = recorded
    if program != "by_hand":
        pytest.skip("one program is enough")
    command = [sys.executable, "-m", "graphscope", "ranks", "skip"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env={**ENVIRONMENT, "COLUMNS": "160"}
    )
    shown = re.findall("[▁▂▃▄▅▆▇█]+", done.stdout)
    assert [len(each) for each in shown] == [7, 7, 7, 8]
    assert [each[5] == "▁" for each in shown] == [False, False, False, True]


def test_torchrun_starts_them_as_the_documentation_says(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "how-to" / "many-ranks.md").read_text(encoding="utf-8")
    (told,) = re.findall(r"^    torchrun (.*) train\.py  +#", text, re.MULTILINE)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", *told.split()]
    subprocess.run(
        [*command, str(PROGRAMS / "by_hand.py"), "rate"], cwd=tmp_path, check=True, timeout=300, capture_output=True,
        env={**ENVIRONMENT, "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    assert sorted(log.name for log in tmp_path.glob("*.gscope")) == [f"run-rank{rank}.gscope" for rank in range(4)]
    check(tmp_path, "by_hand", "rate")
