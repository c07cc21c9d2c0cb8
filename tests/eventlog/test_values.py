"""What is kept of a value under each policy, and that what was kept is what was given."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from graphscope.eventlog import schema
from graphscope.eventlog.appender import FLOATING
from graphscope.eventlog.reader import load
from graphscope.eventlog.schema import Flag, Kind
from graphscope.eventlog.values import Summary, summarize, summary_record, unpack
from graphscope.eventlog.writer import Writer

NUMERIC = [name for name in schema.DTYPES if name not in {"", "bfloat16", "object", *schema.MEASURED, *schema.NAMED}]
SHAPES = [(), (1,), (2,), (3,), (0,), (2, 0, 3), (2, 3), (1, 1, 1, 1), (7, 5, 3), (40, 40)]


@pytest.mark.parametrize("dtype", NUMERIC)
def test_every_dtype_and_shape(make, append, dtype: str) -> None:
    writer = make()
    values = [(np.arange(math.prod(shape)).reshape(shape) % 2 + 1).astype(dtype) for shape in SHAPES]
    rows = [append(writer, value) for value in values]
    log = load(writer.path)
    for row, value in zip(rows, values, strict=True):
        found = log.value(row)
        assert (found.dtype, found.shape) == (value.dtype, value.shape)
        assert np.array_equal(found, value)
        assert not found.flags.writeable
        assert log.outputs(row) == ((value.shape, dtype),)
        assert log.nonfinite(row) is False


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize("count", [3, 5000])
def test_dtypes_that_packages_add_to_numpy_are_measured(make, append, name: str, count: int) -> None:
    dtypes = pytest.importorskip("ml_dtypes")
    writer = make(policy="summary")
    value = np.array([0.5, np.nan, -3.0, 0.0, 4.0] * (count // 3), np.float32)[:count]
    row = append(writer, value.astype(getattr(dtypes, name)))
    log = load(writer.path)
    assert log.outputs(row) == ((value.shape, name),)
    assert log.summary(row) == summarize(value)
    assert log.nonfinite(row) is True


@pytest.mark.parametrize("inputs", [1, 5])
def test_a_row_may_be_of_another_version_than_its_template(make, append, inputs: int) -> None:
    writer = make()
    first = append(writer, np.ones(3, np.float32))
    template = writer.template(Kind.OP, shape=(3,), dtype=np.dtype(np.float32), version=7, input_count=inputs)
    value, given = np.ones(3, np.float32), [first] * inputs
    rows = [writer.append_many(template, value, given, 0, 0, 0, first, version) for version in (0, 1, 1 << 20)]
    log = load(writer.path)
    assert [log.event(row).version for row in rows] == [7, 1, 1 << 20]
    assert [log.event(row).tensor for row in rows] == [first] * 3


@pytest.mark.parametrize("several", [False, True])
def test_arrays_whose_elements_lie_apart(make, append, several: bool) -> None:
    writer = make()
    base = np.arange(60.0).reshape(3, 4, 5)
    given = [base.T, base[::-1], base[:, ::2], np.broadcast_to(np.float32(3), (4, 4)), np.asfortranarray(base)]
    rows = []
    for value in given:
        if several:
            one = writer.template(Kind.OP, shape=value.shape, dtype=value.dtype)
            both = writer.template(Kind.OP, shape=value.shape, dtype=value.dtype, several=True)
            rows.append(writer.append_wide(both, [(value, one.keep), (value[:0], one.keep)], []))
        else:
            rows.append(append(writer, value))
    log = load(writer.path)
    for row, value in zip(rows, given, strict=True):
        assert np.array_equal(log.value(row), value)


def test_extreme_scalars_in_the_row_itself(make, append) -> None:
    writer = make()
    given = [
        np.float32("nan"),
        np.float32("-inf"),
        np.float64(5e-324),
        np.int64(-(2**63)),
        np.uint64(2**64 - 1),
        np.True_,
    ]
    rows = [append(writer, np.asarray(value)) for value in given]
    log = load(writer.path)
    for row, value in zip(rows, given, strict=True):
        assert log.event(row).flags & Flag.INLINE
        assert np.array_equal(log.value(row), value, equal_nan=value.dtype.kind == "f")


def test_what_can_not_be_kept(make, append) -> None:
    writer = make()
    swapped = append(writer, np.arange(4, dtype=">f4"))
    objects = append(writer, np.array([object(), None]))
    words = append(writer, np.array(["a", "bc"]))
    log = load(writer.path)
    assert [log.value(row) for row in (swapped, objects, words)] == [None, None, None]
    assert log.summary(swapped).maximum == 3
    assert log.outputs(objects) == (((2,), "object"),)


def test_bfloat16_is_read_as_float32(make) -> None:
    writer = make()

    class BFloat16:  # as ml_dtypes has it
        name, itemsize, kind, isnative, hasobject = "bfloat16", 2, "V", True, False

    value = np.array([1.5, -2.0, np.inf], np.float32)
    template = writer.template(Kind.OP, shape=(3,), dtype=BFloat16())
    row = writer.append(template, (value.view("u4") >> 16).astype("u2"))
    log = load(writer.path)
    assert log.value(row).tolist() == value.tolist()
    assert log.first_nonfinite() == row


def test_summary_keeps_small_values_whole(make, append) -> None:
    writer = make(policy="summary")
    small, large = np.ones(1024, "f4"), np.arange(1025, dtype="f4")
    rows = [append(writer, small), append(writer, large)]
    log = load(writer.path)
    assert np.array_equal(log.value(rows[0]), small)
    assert log.value(rows[1]) is None
    found = log.summary(rows[1])
    assert (found.minimum, found.maximum, found.mean, found.zero, found.count) == (0, 1024, 512, 1, 1025)
    assert found.std == pytest.approx(np.std(large, dtype="f8"))


def test_cap(make, append) -> None:
    writer = make(cap=100)
    rows = [append(writer, np.ones(100, "u1")), append(writer, np.ones(101, "u1")), append(writer, np.ones(1))]
    log = load(writer.path)
    assert [log.value(row) is None for row in rows] == [False, True, False]
    assert log.summary(rows[1]).count == 101


def test_none_keeps_nothing_but_whether_it_was_finite(make, append) -> None:
    writer = make(policy="none")
    values = [np.ones(9), np.array([1, np.nan]), np.float32("inf"), np.arange(3), np.ones(3, "c8") * np.nan]
    rows = [append(writer, value) for value in values]
    kept = writer.template(Kind.OP, shape=(2,), dtype=np.dtype("f8")).keep
    both = writer.template(Kind.OP, shape=(2,), dtype=np.dtype("f8"), several=True)
    rows += [writer.append_wide(both, [(np.ones(2), kept), (np.array([np.inf, 1]), kept)], [])]
    log = load(writer.path)
    assert [log.value(row) for row in rows] == [None] * 6
    assert [log.summary(row) for row in rows] == [None] * 6
    assert [log.nonfinite(row) for row in rows] == [False, True, True, False, True, True]
    assert log.first_nonfinite() == rows[1]
    assert log.rare().tolist() == [rows[1], rows[2], rows[4], rows[5]]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_an_element_that_is_not_finite_is_found_wherever_it_stands(make, append, dtype: str) -> None:
    writer = make(policy="none")
    values = [np.ones(size, dtype) for size in range(2, 40)]
    for size in (3, 18, 33, 67):
        values += [np.where(np.arange(size) == place, -np.inf, 1).astype(dtype) for place in range(size)]
        values += [np.where(np.arange(size) == place, np.nan, 1).astype(dtype) for place in range(size)]
    rows = [append(writer, value) for value in values]
    log = load(writer.path)
    assert [log.nonfinite(row) for row in rows] == [False] * 38 + [True] * 2 * (3 + 18 + 33 + 67)


@pytest.mark.slow
@given(value=arrays.arrays(st.sampled_from(["f4", "f8", "f2", "c8", "c16", "i4", "u1", "?"]), st.integers(0, 50)))
@pytest.mark.parametrize("found_in", [summarize, lambda value: unpack(summary_record(value), value.size)])
def test_statistics_agree_with_numpy(found_in: Callable[[np.ndarray], Summary], value: np.ndarray) -> None:
    value = np.tile(value, 30)  # more than a block of the compiled statistics
    found = found_in(value)
    with np.errstate(all="ignore"):
        numbers = np.abs(value) if value.dtype.kind == "c" else value
        finite = numbers[np.isfinite(numbers)].astype("f8")
        expected = (np.isnan(numbers).sum(), np.isinf(numbers).sum(), (numbers == 0).sum(), value.size)
        assert (found.nan, found.inf, found.zero, found.count) == expected
        if finite.size:
            assert (found.minimum, found.maximum) == (finite.min(), finite.max())
            rounded = 1e-12 * float(np.abs(finite).max())  # NumPy's own: all of them may be equal
            assert found.mean == pytest.approx(finite.mean(), rel=1e-7, abs=rounded, nan_ok=True)
            assert found.std == pytest.approx(finite.std(), rel=1e-6, abs=rounded, nan_ok=True)
        assert found.finite == bool(np.isfinite(value).all())


@pytest.mark.parametrize("scale", [1e20, 1e30, 3e38, 1e200])
def test_statistics_of_what_is_too_large_to_be_squared(scale: float) -> None:
    measure = pytest.importorskip("graphscope.eventlog._measure", reason="there was no compiler").measure
    value = np.tile(np.array([scale, -scale]), 3000).astype("float64" if scale > 1e39 else "float32")
    found = unpack(measure(value, value.nbytes, FLOATING[value.dtype.name]), value.size)
    expected = summarize(value)
    assert abs(found.mean) < 1e-5 * scale
    assert found.std == pytest.approx(expected.std)
    assert (found.minimum, found.maximum, found.inf) == (expected.minimum, expected.maximum, 0)


@pytest.mark.parametrize("size", [16, 17, 64, 2048, 5000])
@pytest.mark.parametrize("scale", [1e-18, 1e-20, 1e-22, 1e-25, 1e-30, 1e-38, 1e-42])
def test_statistics_of_what_is_too_small_to_be_squared(scale: float, size: int) -> None:
    value = (scale * np.random.default_rng(size).standard_normal(size)).astype("float32")
    found = unpack(summary_record(value), size)
    wide = value.astype("float64")
    assert found.mean == pytest.approx(wide.mean(), rel=1e-4, abs=1e-6 * wide.std())
    assert found.std == pytest.approx(wide.std(), rel=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("scale", [1e-25, 1.0, 1e25])
@pytest.mark.parametrize("size", [1, 15, 16, 33, 2049, 5000])
def test_statistics_leave_out_what_is_not_finite(dtype: str, bad: float, scale: float, size: int) -> None:
    value = (scale * np.random.default_rng(size).standard_normal(size)).astype(dtype)
    value[1::3] = 0
    value[::7] = bad
    found = unpack(summary_record(value), size)
    finite = value[np.isfinite(value)].astype("float64")
    assert (found.nan, found.inf) == (np.isnan(value).sum(), np.isinf(value).sum())
    assert (found.zero, found.finite) == ((value == 0).sum(), False)
    if finite.size:
        assert (found.minimum, found.maximum) == (finite.min(), finite.max())
        assert found.mean == pytest.approx(finite.mean(), rel=1e-6, abs=1e-9 * finite.std())
        assert found.std == pytest.approx(finite.std(), rel=1e-6)


@pytest.mark.parametrize("swing", [0, 1e-5, 1])
@pytest.mark.parametrize("scales", [(1e-30, 1), (1e-25, 1e-15), (1, 1e25), (1e-30, 1e30), (1e-40, 1e-20), (1e37, 1)])
def test_statistics_of_numbers_that_are_not_of_one_size(scales: tuple[float, float], swing: float) -> None:
    random = np.random.default_rng(1)
    for places in (1, 2, 3, 500, 5000):  # numbers of the second size, among zeros and those of the first
        wide = scales[0] * (np.where(np.arange(10_000) % 2, 1, -1) + swing * random.standard_normal(10_000))
        wide[2000:2500] = 0
        wide[random.choice(10_000, places)] = scales[1] * random.standard_normal(places)
        value = wide.astype("float32")
        found = unpack(summary_record(value), value.size)
        expected = value.astype("float64")
        assert (found.minimum, found.maximum) == (expected.min(), expected.max())
        assert found.mean == pytest.approx(expected.mean(), abs=1e-6 * expected.std())
        assert found.std == pytest.approx(expected.std(), rel=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [2000, 5000, 120_000])
def test_statistics_of_a_few_large_elements_among_zeros(dtype: str, size: int) -> None:
    value = np.zeros(size, dtype)
    value[: size // 100] = 388.00042
    value[-3] = -7.5
    found = unpack(summary_record(value), size)
    wide = value.astype("float64")
    assert found.mean == pytest.approx(wide.mean(), rel=1e-5)
    assert found.std == pytest.approx(wide.std(), rel=1e-5)


SPECIAL = st.sampled_from([0.0, 1.0, -1.0, 65504.0, float("nan"), float("inf"), float("-inf")])
VALUES = st.one_of(
    arrays.arrays(
        st.sampled_from(["f2", "f4", "f8", "c8", "c16"]),
        arrays.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=9),
        elements=st.sampled_from([0.0, 1.0, 2.0]),
    ),
    arrays.arrays(st.sampled_from(["f2", "f4", "f8"]), st.integers(0, 9), elements=SPECIAL),
    arrays.arrays("i8", st.integers(0, 9), elements=st.sampled_from([-1, 0, 0x7FF0000000000000])),
)


@pytest.mark.slow
@given(
    st.lists(VALUES, max_size=30),
    st.sampled_from([{}, {"policy": "summary"}, {"policy": "none"}, {"cap": 20}, {"budget": 1}]),
)
@settings(max_examples=60)
def test_the_first_nonfinite_value_is_that_of_a_scan(tmp_path_factory, append, values, options) -> None:
    path = tmp_path_factory.mktemp("logs") / "run.gscope"
    writer = Writer(path, **options)
    rows = [append(writer, value) for value in values]
    bad = [row for row, value in zip(rows, values, strict=True) if not np.isfinite(value).all()]
    log = load(path)
    assert log.first_nonfinite() == (bad[0] if bad else None)
    assert [row for row in rows if log.nonfinite(row)] == bad
    shutil.rmtree(path.parent)


@pytest.mark.slow
def test_the_first_nonfinite_value_after_the_budget_dropped_it(make, append) -> None:
    writer = make(budget=1 << 20, cap=1 << 20)
    bad = []
    for number in range(200):
        value = np.full(10_000, float(number))
        if number in (3, 50, 199):
            value[number] = np.inf
            bad.append(number)
        append(writer, value)
        writer.step()
    log = load(writer.path)
    rows = [row for row in range(log.end) if log.event(row).kind == Kind.OP]
    assert log.value(rows[3]) is None, "its values are gone"
    assert [rows.index(row) for row in rows if log.nonfinite(row)] == bad
    assert log.first_nonfinite() == rows[3]
    assert {rows[number] for number in (3, 50)} <= set(log.rare().tolist())


@pytest.mark.slow
def test_more_slots_than_have_numbers(make) -> None:
    writer = make()
    one = np.ones(1, "u1")
    keep = writer.template(Kind.OP, shape=(1,), dtype=one.dtype).keep
    template = writer.template(Kind.OP, shape=(1,), dtype=one.dtype, several=True)
    row = writer.append_wide(template, [(one, keep)] * 70_000, [])
    log = load(writer.path)
    assert log.event(row).output_count == 65_535
    assert log.value(row, 65_534).tolist() == [1]
