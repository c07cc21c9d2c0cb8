"""Small hostile programs do recorded what they do unrecorded: what they return, raise, print and are warned of."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

pytest.importorskip("torch")

pytestmark = [pytest.mark.torch, pytest.mark.slow]

ROOT: Final = Path(__file__).parents[2]

OF_OPS: Final = {
    "zeros_that_lie_nowhere": "PyTorch can't add a number to such zeros under a mode of ops",
}
"""What is otherwise where ops are captured, and why."""


@functools.cache
def outcomes(*options: str) -> dict[str, Any]:
    how = ["-m", "graphscope", "record", *options] if options else []
    words = [sys.executable, *how, "-m", "tests.adapters.hostile"]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=300, check=True, cwd=ROOT)
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("options", ["--values full", "--values summary", "--values none", "--capture ops"])
def test_a_hostile_program_does_what_it_does_unrecorded(options: str, tmp_path: Path) -> None:
    found = outcomes(*options.split(), "--log", str(tmp_path / "hostile.gscope"))
    excused = OF_OPS if "ops" in options else {}
    different = {name for name, wanted in outcomes().items() if found[name] != wanted}
    assert different <= set(excused)
