"""TensorFlow and Keras programs as people write them: their logs hold both passes, and their output is as bare."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.recorded import recorded_whole
from tests.frameworks.referee import programs

pytest.importorskip("tensorflow")
pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

PROGRAMS = programs(Path(__file__).parent / "tensorflow_programs")


def test_there_are_programs() -> None:
    assert len(PROGRAMS) >= 20


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_is_recorded_whole(program: Path, tmp_path: Path) -> None:
    measures, _ = recorded_whole(program, tmp_path / "recorded.gscope")
    assert measures.forward > 100
