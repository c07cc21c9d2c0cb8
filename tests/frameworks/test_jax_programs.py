"""JAX programs as people write them: their logs hold both passes, and their output is as bare."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.recorded import recorded_whole
from tests.frameworks.referee import programs

pytest.importorskip("jax")
pytestmark = [pytest.mark.jax, pytest.mark.slow]

PROGRAMS = programs(Path(__file__).parent / "jax_programs")

MADE_OF_GRADIENTS = {
    "per_example": ("['hidden']['b']", "['hidden']['w']", "['out']['b']", "['out']['w']"),  # one for each example
}
"""What programs print as gradients that is at no leaf: they make it of gradients themselves."""


def test_there_are_programs() -> None:
    assert len(PROGRAMS) >= 20


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_is_recorded_whole(program: Path, tmp_path: Path) -> None:
    measures, _ = recorded_whole(program, tmp_path / "recorded.gscope", MADE_OF_GRADIENTS.get(program.stem, ()))
    assert measures.forward > 100
