"""Pairs of programs, as people port and refactor them: where one does something else it is found on both sides, and
what is only written in another way is the same."""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path

import pytest

import graphscope as gs
from graphscope.compare import Side, diff
from graphscope.eventlog.reader import Log

PROGRAMS = Path(__file__).parent / "programs"
PARTED, SAME = sorted(PROGRAMS.glob("parted/*")), sorted(PROGRAMS.glob("same/*"))
MARK = "# <-- "
"""Behind it stand the pass, and what is to be said: `forward eps`."""

pytestmark = [pytest.mark.torch, pytest.mark.slow]


def recorded(program: Path, folder: Path) -> Log:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    with gs.record(folder / f"{program.stem}.gscope"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runpy.run_path(str(program), run_name="__main__")
    return gs.load(folder / f"{program.stem}.gscope")


def marked(program: Path) -> dict[int, list[str]]:
    lines = enumerate(program.read_text(encoding="utf-8").splitlines(), 1)
    return {number: line.partition(MARK)[2].split() for number, line in lines if MARK in line}


def line(side: Side | None) -> int:
    return 0 if side is None else side.line


@pytest.mark.parametrize("pair", PARTED, ids=lambda path: path.name)
def test_both_lines_are_found(pair: Path, tmp_path: Path) -> None:
    programs = pair / "a.py", pair / "b.py"
    marks = [marked(each) for each in programs]
    found = diff(*(recorded(each, tmp_path) for each in programs))
    first = found.first
    assert first is not None, found
    told = f"{first.cause} {first.verdict} {first.facts}"
    assert line(first.a) in marks[0], (marks, told)
    assert line(first.b) in marks[1], (marks, told)
    when, *words = next(iter(marks[0].values()))
    assert first.when == when, told
    assert all(word in told for word in words), told


@pytest.mark.parametrize("pair", SAME, ids=lambda path: path.name)
def test_another_way_to_write_it_is_the_same(pair: Path, tmp_path: Path) -> None:
    found = diff(*(recorded(pair / name, tmp_path) for name in ("a.py", "b.py")))
    assert found.verdict == "same", [(each.when, each.verdict) for each in found.partings]
