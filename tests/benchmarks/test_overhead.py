"""The twin without recording is a working engine, apart from ours, with nothing left of the recorder in its way."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from benchmarks.engines import graphscope, load
from benchmarks.overhead import COMPILED, Cutter, CuttingLoader, apart, loaded, step_of
from benchmarks.workloads import WORKLOADS


def cut(source: str) -> str:
    return ast.unparse(ast.fix_missing_locations(Cutter().visit(ast.parse(source))))


def test_branches_that_record_are_cut() -> None:
    assert cut("if writer is not None:\n    a()\nelse:\n    b()") == "b()"
    assert cut("if writer is None:\n    a()\nelse:\n    b()") == "a()"
    assert cut("if writer is not None and keep:\n    a()\nb()") == "pass\nb()"
    assert cut("x = a() if writer is not None else b()") == "x = b()"
    assert cut("writer = recording.writer") == "writer = None"


def test_other_branches_stay() -> None:
    source = "if writer is None and keep:\n    a()"
    assert cut(source) == source
    source = "if keep:\n    a()"
    assert cut(source) == source


@pytest.mark.slow
def test_twin_computes_the_same_and_leaves_the_original_alone(tmp_path: Path) -> None:
    original = load("graphscope").tensor
    before = loaded()
    twin = apart(tmp_path, cut=True)
    after = loaded()
    assert {name: after[name] for name in before} == before
    assert CuttingLoader.cuts > 0
    assert Path(str(twin[COMPILED].__file__)).is_relative_to(tmp_path)
    for workload in WORKLOADS.values():
        ours, theirs = graphscope(workload), step_of(twin, workload)
        ours.run()
        with theirs.session():
            theirs.run()
        for name, gradient in ours.gradients().items():
            np.testing.assert_array_equal(theirs.gradients()[name], gradient)
    assert twin["graphscope"].tensor is not original
