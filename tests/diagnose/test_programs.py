"""Whole training programs: what is wrong with a sick one is found where its line says so, a healthy one has nothing."""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path

import pytest

import graphscope as gs
from graphscope.diagnose import Finding, every
from graphscope.eventlog.reader import Log
from graphscope.eventlog.record import exception

PROGRAMS = Path(__file__).parent / "programs"
SICK, HEALTHY = sorted(PROGRAMS.glob("sick/*.py")), sorted(PROGRAMS.glob("healthy/*.py"))
VALUES = ["full", "summary"]
MARK = "# <-- "
"""Behind it stands the check that is to find the line."""

pytestmark = [pytest.mark.torch, pytest.mark.slow]


def recorded(program: Path, values: str, folder: Path) -> Log:
    """The log of a program, also of one that fails."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    with gs.record(folder / "run.gscope", values=values), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            runpy.run_path(str(program), run_name="__main__")
        except (RuntimeError, TypeError) as error:
            exception(error)
    return gs.load(folder / "run.gscope")


def findings(log: Log) -> list[Finding]:
    return [found for check in every().values() for found in check.findings(log.graph)]


def blamed(program: Path) -> set[tuple[str, int]]:
    lines = enumerate(program.read_text(encoding="utf-8").splitlines(), 1)
    return {(line.partition(MARK)[2].split()[0], number) for number, line in lines if MARK in line}


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("program", SICK, ids=lambda path: path.stem)
def test_the_line_to_change_is_found(program: Path, values: str, tmp_path: Path) -> None:
    (kind, line), *_ = expected = blamed(program)
    found = findings(recorded(program, values, tmp_path))
    assert {(each.kind, each.line) for each in found if each.kind == kind} == expected, (line, found)
    assert all(each.file == str(program) and each.cure for each in found if each.kind == kind)


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("program", HEALTHY, ids=lambda path: path.stem)
def test_a_healthy_program_has_nothing(program: Path, values: str, tmp_path: Path) -> None:
    assert findings(recorded(program, values, tmp_path)) == []


@pytest.mark.parametrize("program", [*SICK[:2], *HEALTHY[:2]], ids=lambda path: path.stem)
def test_a_log_without_values_is_read_as_well(program: Path, tmp_path: Path) -> None:
    findings(recorded(program, "none", tmp_path))
