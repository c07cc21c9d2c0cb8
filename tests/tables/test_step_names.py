"""Steps have the same name in all tables, in the words of the doctor, and in what the program itself printed."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import pytest

import graphscope as gs

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")

from graphscope.diagnose import doctor
from graphscope.tables import query


def trained(path: Path, loops: str, **options: Any) -> list[str]:
    """What a program prints of its steps; in the one of 60 a NaN is born."""
    weight = gs.tensor([1.0, 2.0], requires_grad=True)
    optimizer = gs.optim.SGD([weight], lr=0.01)
    done = [0]

    def train() -> None:
        optimizer.zero_grad()
        done[0] += 1
        loss = (weight * weight).sum()
        if done[0] == 60:
            loss = (loss - loss - 1.0).log()
        loss.backward()
        optimizer.step()

    printed = io.StringIO()
    program = path.with_suffix(".py")
    program.write_text(loops)
    with gs.record(path, **options), contextlib.redirect_stdout(printed):
        exec(compile(loops, str(program), "exec"), {"train": train})
    return printed.getvalue().splitlines()


FLAT = "for step in range(100):\n    train()\n    print(f'step {step}')\n"
NESTED = """
for epoch in range(4):
    for batch in range(25):
        train()
        print(f'epoch {epoch}, batch {batch}')
"""
BY_TEN = "for step in range(0, 1000, 10):\n    train()\n    print(f'step {step}')\n"


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"keep_last": 2}, {"every": 7, "keep_last": 100}])
@pytest.mark.parametrize("loops", [FLAT, NESTED, BY_TEN])
def test_a_step_is_called_as_the_program_calls_it(loops: str, options: dict[str, int], tmp_path: Path) -> None:
    printed = trained(tmp_path / "run.gscope", loops, **options)
    told = dict(query([tmp_path / "run.gscope"], "SELECT step, step_name FROM series").rows)
    named = {step: name for step, name in told.items() if name is not None}
    assert {step: printed[step - 1] for step in named} == named
    if "every" not in options:
        assert len(named) > 90
    for step, name in query([tmp_path / "run.gscope"], "SELECT step, name FROM steps").rows:
        assert printed[step - 1] == name


@pytest.mark.slow
def test_a_finding_has_the_step_by_both_numbers(tmp_path: Path) -> None:
    printed = trained(tmp_path / "run.gscope", FLAT)
    (found,) = [each for each in doctor(gs.load(tmp_path / "run.gscope")).findings if each.kind == "nan"]
    assert (found.first_step, found.step) == (60, printed[59])
    sql = "SELECT first_step, step_name FROM findings WHERE kind = 'nan'"
    assert query([tmp_path / "run.gscope"], sql).rows == [(60, printed[59])]
