"""Classic programs of TensorFlow 1 with one import changed: they print what they print under TensorFlow."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

PROGRAMS: Final = Path(__file__).parents[1] / "frameworks" / "tensorflow1_programs"
EXPECTED: Final = json.loads((PROGRAMS / "expected.json").read_text(encoding="utf-8"))
"""What each printed under TensorFlow 2.21, in another process."""

NUMBER: Final = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_program_prints_the_same_numbers(name: str, tmp_path: Path) -> None:
    text = (PROGRAMS / name).read_text(encoding="utf-8")
    changed = text.replace("import tensorflow.compat.v1 as tf", "import graphscope.static as tf")
    assert changed != text
    file = tmp_path / name
    file.write_text(changed, encoding="utf-8")
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == EXPECTED[name]["exit"], done.stderr
    lines = done.stdout.splitlines()
    assert [NUMBER.sub("#", line) for line in lines] == [NUMBER.sub("#", line) for line in EXPECTED[name]["output"]]
    for line, wanted in zip(lines, EXPECTED[name]["output"], strict=True):
        found = [float(each) for each in NUMBER.findall(line)]
        assert found == pytest.approx([float(each) for each in NUMBER.findall(wanted)], rel=1e-5, abs=1e-5)
