"""Values and norms that are read in bulk are those of the rows one by one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import graphscope as gs
from graphscope.eventlog.reader import Log
from graphscope.eventlog.schema import Flag
from graphscope.graph.sizes import norm_of, norms_of, norms_of_sums
from graphscope.graph.stacks import stacks

DTYPES = ("float32", "float64", "int64", "bool", "complex64")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Log:
    """Values of many shapes and dtypes, kept in the rows, beside them, and as statistics."""
    path = tmp_path_factory.mktemp("stacks") / "run.gscope"
    numbers = np.random.default_rng(0)
    with gs.record(path, values="summary"):
        for _ in range(6):
            for shape in ((), (1,), (3, 5), (5, 3), (0, 4), (80, 80)):
                for dtype in DTYPES:
                    gs.tensor((numbers.normal(size=shape) * 9).astype(dtype)) * gs.tensor(np.ones((), dtype))
            gs.tensor(numbers.normal(size=(4, 6)).astype("float32")).sort()
            gs.tensor([1.0, float("nan")]) * 2
    return gs.load(path)


def test_stacks_hold_the_values_of_the_rows(log: Log) -> None:
    rows = np.random.default_rng(1).permutation(np.arange(log.first, log.end))
    rows = rows[log.pick("several", rows) == 0]
    found = {}
    for places, values in stacks(log, rows):
        assert (np.diff(places) > 0).all()
        found |= dict(zip(rows[places].tolist(), values, strict=True))
    wanted = {row: value for row in rows.tolist() if (value := log.value(row)) is not None}
    assert found.keys() == wanted.keys()
    assert len(wanted) > 300
    for row, value in wanted.items():
        assert found[row].dtype == value.dtype
        assert found[row].tobytes() == value.tobytes()


def test_norms_are_those_of_the_values(log: Log) -> None:
    rows = np.arange(log.first, log.end)
    is_kept = ((log.pick("flags", rows) & int(Flag.SUMMARY)) == 0) & (log.pick("several", rows) == 0)
    for row, norm in zip(rows[is_kept].tolist(), norms_of(log, rows[is_kept]).tolist(), strict=True):
        value = log.value(row)
        wanted = np.nan if value is None else np.linalg.norm(value.astype(np.result_type(value, np.float64)).ravel())
        np.testing.assert_allclose(norm, wanted, rtol=1e-12)
        np.testing.assert_equal(norm, np.nan if value is None else norm_of(value))


def test_norms_of_sums_are_those_of_values_added_one_by_one(log: Log) -> None:
    rows = np.arange(log.first, log.end)
    rows = rows[log.pick("several", rows) == 0]
    shapes, dtypes = log.pick("shape", rows), log.pick("dtype", rows)
    _, groups = np.unique(shapes.astype(np.int64) << 8 | dtypes, return_inverse=True)
    mixed = np.append(groups, [groups.max() + 1] * 2)  # of two shapes
    rows = np.append(rows, [rows[shapes == shapes[0]][0], rows[shapes != shapes[0]][0]])
    for number, norm in enumerate(norms_of_sums(log, rows, mixed)):
        values = [log.value(row) for row in rows[mixed == number].tolist()]
        kept = [value for value in values if value is not None]
        known = len(kept) == len(values) and number <= groups.max()
        total = np.sum(kept, axis=0, dtype=np.result_type(kept[0], np.float64)) if known else None
        np.testing.assert_allclose(norm, np.nan if total is None else np.linalg.norm(total.ravel()), rtol=1e-12)


def test_nothing_has_no_norms(log: Log) -> None:
    nothing = np.zeros(0, np.int64)
    assert len(norms_of(log, nothing)) == len(norms_of_sums(log, nothing, nothing)) == 0


def test_of_values_that_a_budget_took_nothing_is_told(tmp_path: Path) -> None:
    with gs.record(tmp_path / "run.gscope", budget=1 << 20) as recorded:
        for turn in range(40):
            gs.full((100, 100), 1.0 + turn) * 100
            gs.ones(3) * 2
    log = gs.load(recorded.path)
    rows = np.arange(log.first, log.end)
    told = np.concatenate([rows[places] for places, _ in stacks(log, rows)])
    assert 0 < len(told) < len(rows)
    assert sorted(told.tolist()) == [row for row in rows.tolist() if log.value(row) is not None]


@pytest.mark.parametrize("size", [1e-250, 1e-3, 1e250])
def test_a_norm_is_not_lost_where_the_squares_are(size: float) -> None:
    """Of `float64` squares may be beyond it; what is not finite, or 0, stays so."""
    assert norm_of(np.array([3.0, -4.0]) * size) == pytest.approx(5 * size)
    assert norm_of(np.array([3 + 4j, 0]) * size) == pytest.approx(5 * size)
    assert norm_of(np.zeros(3)) == norm_of(np.zeros((0, 2))) == 0
    assert norm_of(np.array([size, np.inf])) == np.inf
