"""The benchmark of the doctor judges trainings that are well, and says what that took."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.doctor import PROGRAMS, record, taken


@pytest.mark.slow
@pytest.mark.torch
def test_the_doctor_is_measured_on_a_training_that_is_well(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    record(tmp_path / "run.gscope", PROGRAMS["perceptron"], 2500)
    said = taken("doctor", str(tmp_path / "run.gscope"))
    assert 0 < said["seconds"] < 1000
    assert said.get("bytes", 1e6) >= 1e6
