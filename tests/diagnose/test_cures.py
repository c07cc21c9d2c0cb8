"""The cures: what a finding says to do at its line is done in a copy of the program, and the doctor finds nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

GALLERY = Path(__file__).parents[1] / "gallery"
BROKEN = Path(__file__).parents[2] / "samples" / "broken"
TABLE = json.loads((GALLERY / "cures.json").read_text(encoding="utf-8"))

SOME = ["06_house", "13_box", "17_patch", "26_graph", "28_level", "37_leaf", "broken/softmax"]
"""Of different kinds; `python tests/gallery/cures.py` does all of them."""


def edits() -> Iterator[tuple[str, str, str]]:
    """Each edit: where, the line of the program, and what is to stand in it."""
    for entry in TABLE:
        sample = BROKEN.parent / f"{entry['program']}.py"
        for edit in entry["edits"]:
            file = sample if sample.exists() else GALLERY / "sick" / entry["program"] / edit["file"]
            line = file.read_text(encoding="utf-8").splitlines()[edit["line"] - 1]
            yield f"{entry['program']}: {edit['file']}:{edit['line']}", line, edit["old"]


def test_every_sick_program_and_every_broken_sample_has_a_cure() -> None:
    programs = {path.name for path in (GALLERY / "sick").iterdir() if path.is_dir()}
    samples = {f"broken/{path.stem}" for path in BROKEN.glob("*.py")}
    assert sorted(entry["program"] for entry in TABLE) == sorted(programs | samples)


def test_every_edit_names_what_stands_once_in_its_line() -> None:
    assert [place for place, line, old in edits() if line.count(old) != 1] == []


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.parametrize("program", SOME)
def test_the_finding_is_gone_when_its_cure_is_applied(program: str) -> None:
    pytest.importorskip("torch")
    command = [sys.executable, str(GALLERY / "cures.py"), "--only", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert "1 of 1 cured" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 0
