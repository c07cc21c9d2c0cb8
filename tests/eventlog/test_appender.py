"""The compiled parts and their twins in Python write the same log."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from graphscope.eventlog.nonfinite import rows_with_nonfinite
from graphscope.eventlog.reader import Log, load
from graphscope.eventlog.schema import Flag
from graphscope.eventlog.values import Summary

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def compiled_parts(package: str) -> tuple[str, ...]:
    return tuple(f"{package}.{path.stem}" for path in sorted((ROOT / package.replace(".", "/")).glob("_*.c")))


LOG = compiled_parts("graphscope.eventlog")
ENGINE = compiled_parts("graphscope.engine.core")
compiled = pytest.mark.skipif(None in map(find_spec, LOG + ENGINE), reason="there was no compiler")

BLOCKED = f"""
import sys
sys.modules.update(dict.fromkeys({LOG + ENGINE}))
import pytest
status = pytest.main(sys.argv[1:])
from graphscope.eventlog.appender import Appender
assert Appender.__module__ == "graphscope.eventlog.appender"
sys.exit(status)
"""


def recorded(path: Path, *words: str) -> Log:
    program = HERE / "programs" / "everything.py"
    done = subprocess.run([sys.executable, program, path, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return load(path)


@pytest.mark.slow
@compiled
@pytest.mark.parametrize(
    ("policy", "blocked"),
    [
        ("full", LOG + ENGINE),
        *(
            pytest.param(policy, blocked, marks=pytest.mark.slow)
            for policy, blocked in (("summary", LOG + ENGINE), ("none", LOG + ENGINE), ("full", LOG), ("full", ENGINE))
        ),
    ],
)
def test_both_ways_write_the_same(tmp_path: Path, policy: str, blocked: tuple[str, ...]) -> None:
    quick = recorded(tmp_path / "quick.gscope", policy)
    pure = recorded(tmp_path / "pure.gscope", policy, *blocked)
    assert len(quick) == len(pure) > 300
    for field in {
        "kind", "dtype", "flags", "op", "site", "scope", "shape", "attrs", "version", "thread", "graph_pass",
        "input_count", "several", "tensor", "value", "forward", "inputs",
    }:  # fmt: skip
        ours, theirs = quick.column(field), pure.column(field)
        if field == "flags":  # the one looks at every value, readers of the other do
            ours, theirs = ours & ~np.uint16(Flag.NONFINITE), theirs & ~np.uint16(Flag.NONFINITE)
        np.testing.assert_array_equal(ours, theirs, err_msg=field)
    nonfinite = list(rows_with_nonfinite(pure))
    assert list(rows_with_nonfinite(quick)) == nonfinite
    assert len(nonfinite) > 50
    if blocked == ENGINE:
        nonfinite = []
    assert set(quick.rare()) == set(pure.rare()) | set(nonfinite)
    for row in range(quick.first, quick.end):
        assert quick.inputs(row) == pure.inputs(row)
        _assert_same_statistics(quick.summary(row), pure.summary(row))
        mine, other = quick.value(row), pure.value(row)
        assert (mine is None) == (other is None)
        if mine is not None and other is not None:
            np.testing.assert_array_equal(mine, other)
    assert all(event["time"] > 0 for chunk in quick.events() for event in chunk if event["kind"] == 2)


def _assert_same_statistics(found: Summary | None, expected: Summary | None) -> None:
    """Each way sums in an order of its own."""
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert (found.mean, found.std) == pytest.approx((expected.mean, expected.std), rel=1e-5, abs=1e-6)
        assert replace(found, mean=0, std=0) == replace(expected, mean=0, std=0)


@pytest.mark.slow
def test_log_and_engine_keep_their_promises_without_the_compiled_parts(tmp_path: Path) -> None:
    names = ("test_recording.py", "test_autograd.py", "test_errors.py", "test_hooks.py")
    suites = [HERE, *(HERE.parent / "engine" / name for name in names)]
    command = [sys.executable, "-c", BLOCKED, "-q", "-m", "not slow", f"--basetemp={tmp_path / 'runs'}"]
    done = subprocess.run(
        [*command, f"--ignore={__file__}", *map(str, suites)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
