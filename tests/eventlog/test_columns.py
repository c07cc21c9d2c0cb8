"""Fields of all rows, kept small: whatever lies in a log, they are what numpy reads in its files."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphscope.eventlog import columns, repeated, schema
from graphscope.eventlog.distances import Distances
from graphscope.eventlog.grouping import grouped
from graphscope.eventlog.reader import Log, load
from graphscope.eventlog.schema import Flag, Kind

ROWS = 9000
FIELDS = [name for name in schema.EVENT.names or () if name != "inputs"]


@pytest.fixture(params=["short", "long"])
def length(request, monkeypatch) -> None:
    """Rows are kept as those of a short log are, and of a long one."""
    if request.param == "long":
        monkeypatch.setattr(columns, "_SHORT", 0)


@pytest.fixture(params=["few", "many", "wild"])
def stored(request, make, append) -> tuple[Log, np.ndarray]:
    """A log of several segments in which other rows were put, and these rows; every tenth is not written."""
    writer = make()
    for _ in range(ROWS):
        append(writer, None)
    writer.close()
    random = np.random.default_rng(0)
    folders = sorted((writer.path / "segments").iterdir())
    assert len(folders) > 1
    for folder in folders:
        events = np.load(folder / "events.npy", mmap_mode="r+")
        events[:] = ROWS_OF[request.param](random, len(events), int(folder.name))
        events["kind"][random.random(len(events)) < 0.1] = Kind.UNWRITTEN
        events["kind"][-1] = Kind.OP
        events.flush()
    log = load(writer.path)
    return log, np.concatenate([np.load(folder / "events.npy") for folder in folders])[: len(log)]


def _few(random: np.random.Generator, count: int, first: int) -> np.ndarray:
    """Rows of a program of 40 lines, that name rows near them."""
    lines = _wild(random, 40, first)
    rows = lines[random.integers(0, len(lines), count)]
    rows["kind"] = rows["kind"] % 24
    numbers = np.arange(first, first + count)
    for field in ("tensor", "forward"):
        rows[field] = np.maximum(numbers - random.integers(0, 300, count), 0)
    rows["inputs"] = np.maximum(numbers[:, None] - random.integers(1, 300, (count, 3)), 0)
    rows["input_count"] = random.integers(0, 4, count)
    rows["attrs"] = random.integers(0, 1000, count)
    return rows


def _many(random: np.random.Generator, count: int, first: int) -> np.ndarray:
    """Rows of which hardly two have the same fields, and that name rows far away."""
    rows = _few(random, count, first)
    rows["site"], rows["shape"] = random.integers(0, 5000, (2, count))
    rows["tensor"] = random.integers(0, max(first, 1), count)
    rows["forward"] = random.integers(0, 2**40, count)
    return rows


def _wild(random: np.random.Generator, count: int, _: int) -> np.ndarray:
    """Any bytes, as in a damaged log."""
    return np.frombuffer(random.bytes(count * schema.EVENT.itemsize), schema.EVENT).copy()


ROWS_OF: dict[str, Callable[[np.random.Generator, int, int], np.ndarray]] = {"few": _few, "many": _many, "wild": _wild}


@pytest.mark.slow
@pytest.mark.usefixtures("length")
@pytest.mark.parametrize("is_compiled", [True, False])
def test_fields_of_all_rows_are_those_of_the_files(stored, monkeypatch, is_compiled: bool) -> None:
    log, rows = stored
    if not is_compiled:
        monkeypatch.setattr(repeated, "look_up", repeated._look_up)
    random = np.random.default_rng(1)
    asked = random.integers(-5, len(log) + 5, 2 * len(log))
    inside = (asked >= 0) & (asked < len(log))
    for field in FIELDS:
        found = log.pick(field, asked)
        assert found.dtype == schema.EVENT[field]
        assert (found[inside] == rows[field][asked[inside]]).all()
        assert not found[~inside].any()
        assert (log.column(field, 100, 8000) == rows[field][100:8000]).all()


@pytest.mark.parametrize("stretch", [4000, 1 << 20])
def test_what_is_looked_for_by_fields_is_what_has_them(stored, monkeypatch, stretch: int) -> None:
    monkeypatch.setattr(repeated, "_STRETCH", stretch)
    log, rows = stored
    few = rows["site"][:: len(rows) // 3]

    def is_plain_op(each: np.ndarray) -> np.ndarray:
        return (each["kind"] == Kind.OP) & ((each["flags"] & int(Flag.VIEW)) == 0)

    def is_of_few(each: np.ndarray) -> np.ndarray:
        return np.isin(each["site"], few) & (each["kind"] != 0)

    def is_none(each: np.ndarray) -> np.ndarray:
        return np.zeros(len(each), bool)

    for among in (is_plain_op, is_of_few, is_none):
        for start, stop in ((0, len(log)), (7, 50), (4000, len(log) - 3), (50, 50)):
            expected = start + np.flatnonzero(among(rows[start:stop]))
            assert log.where(among, start, stop).tolist() == expected.tolist()


@pytest.mark.usefixtures("length")
def test_the_row_that_each_takes_is_the_one_that_lies_in_it(stored) -> None:
    log, rows = stored
    for place in range(schema.INLINE_INPUTS):
        has = (rows["input_count"] > place) & ((rows["flags"] & int(Flag.EDGES)) == 0)
        named = (rows["inputs"][:, place] & np.uint64(schema.ROW_MASK)).astype(np.int64)
        expected = np.where(has, named, -1)
        for asked in (np.arange(len(log)), np.arange(0, len(log), 999)):
            assert log.sources(asked, place).tolist() == expected[asked].tolist()


def test_marks_of_a_kind_are_found_whether_few_or_all_of_a_log_were_looked_at(make, append) -> None:
    writer, expected = make(), []
    for number in range(9000):
        if number % 700 == 0:
            expected.append(append(writer, None, kind=Kind.STEP))
        append(writer, None, kind=Kind.SCOPE_ENTER if number % 50 == 0 else Kind.OP)
    few, all_seen = load(writer.path), load(writer.path)
    all_seen.repeated()
    for log in (few, all_seen):
        assert log.marks(Kind.STEP).tolist() == expected
        assert log.marks(Kind.STEP, start=expected[2], stop=expected[-1]).tolist() == expected[2:-1]
    expected.append(append(writer, None, kind=Kind.STEP))
    for log in (few, all_seen):
        log.refresh()
        assert log.marks(Kind.STEP).tolist() == expected


@pytest.mark.slow
@given(st.data())
def test_distances_give_back_what_was_put(data: st.DataObject) -> None:
    first = data.draw(st.integers(0, 2**40))
    far = data.draw(st.sampled_from([2, 250, 70_000, 2**45]))
    count = data.draw(st.integers(1, 300))
    back = np.array(data.draw(st.lists(st.integers(-3, far), min_size=count, max_size=count)))
    named = np.maximum(np.arange(first, first + count) - back, 0).astype(np.uint64)
    named[data.draw(st.lists(st.integers(0, count - 1)))] = 0
    kept = Distances(first, count)
    for place in range(0, count, 37):
        kept.put(place, named[place : place + 37])
    kept.finish()
    assert kept[:].tolist() == named.tolist()
    asked = np.array(data.draw(st.lists(st.integers(0, count - 1), min_size=1)))
    assert kept[asked].tolist() == named[asked].tolist()


@pytest.mark.slow
@given(st.data())
def test_groups_are_those_of_numpy(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 40))
    ranges = st.sampled_from([(0, 2), (-3, 3), (0, 2**20), (-(2**40), 2**40)])
    numbers = [
        np.array(data.draw(st.lists(st.integers(*data.draw(ranges)), min_size=count, max_size=count)))
        for _ in range(data.draw(st.integers(1, 5)))
    ]
    _, first, which = np.unique(np.stack(numbers, axis=1), axis=0, return_index=True, return_inverse=True)
    found = grouped(numbers)
    assert found.first.tolist() == first.tolist()
    assert found.which.tolist() == which.reshape(-1).tolist()


def test_no_rows_have_no_groups() -> None:
    assert [len(each) for each in grouped([np.zeros(0, np.uint32), np.zeros(0)])] == [0, 0]
