"""JAX programs as people write them: their logs hold both passes, and their output is as bare."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphscope.eventlog.reader import load
from tests.frameworks.judge import CLOSE, compare_gradients, difference, measure, record
from tests.frameworks.referee import bare, programs

pytest.importorskip("jax")
pytestmark = [pytest.mark.jax, pytest.mark.slow]

PROGRAMS = programs(Path(__file__).parent / "jax_programs")


def test_there_are_programs() -> None:
    assert len(PROGRAMS) >= 20


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_is_recorded_whole(program: Path, tmp_path: Path) -> None:
    code, output = bare(program)
    recording = record(program, tmp_path / "recorded.gscope")
    assert recording.code == code
    assert difference(output, recording.output) <= CLOSE  # what was jitted is not fused
    log = load(recording.log)
    measures, gradients = measure(log, program), compare_gradients(log, output)
    assert measures.forward > 100
    assert measures.tied >= 0.95 * measures.backward > 0
    assert measures.placed >= 0.9 * (measures.forward + measures.backward)
    assert gradients.anywhere == gradients.printed  # what a program makes of its gradients is at no leaf
