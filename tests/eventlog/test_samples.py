"""What an update did to a parameter, beside NumPy on all of its elements; compiled and not."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest

from graphscope import eventlog
from graphscope.eventlog import appender, samples

Way = tuple[samples.Sample, samples.Compare, samples.CompareSamples]


@pytest.fixture(params=["numpy", "compiled"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Way:
    if request.param == "compiled":
        compiled = pytest.importorskip("graphscope.eventlog._samples", reason="there was no compiler")
        return compiled.sample, compiled.compare, compiled.compare_samples
    monkeypatch.setattr(eventlog, "samples", samples)  # as it is to be afterwards
    monkeypatch.delitem(sys.modules, samples.__name__)
    monkeypatch.setitem(sys.modules, "graphscope.eventlog._samples", None)
    plain = importlib.import_module(samples.__name__)
    return plain.sample, plain.compare, plain.compare_samples


def measured(way: Way, before: np.ndarray, after: np.ndarray, gradient: np.ndarray) -> list[float]:
    """What both ways to compare tell: that of whole tensors, and that of samples of them."""
    sample, compare, compare_samples = way
    kind = appender.FLOATING[before.dtype.name]
    place = before.copy()
    kept = sample(place.ctypes.data, place.nbytes, kind)
    place[:] = after
    bits = compare(kept, gradient.ctypes.data, place.ctypes.data, place.nbytes, kind)
    pull, now = (sample(each.ctypes.data, each.nbytes, kind) for each in (gradient, place))
    assert compare_samples(kept, pull, now, place.nbytes, kind) == bits
    return np.array(bits, np.int64).view(np.float64).tolist()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("size", [1, 7, 8, 1000, samples.MOST])
def test_of_few_elements_all_are_measured(way: Way, dtype: str, size: int) -> None:
    random = np.random.default_rng(size)
    before = random.standard_normal(size).astype(dtype)
    gradient = (random.standard_normal(size) * (random.random(size) < 0.7)).astype(dtype)
    after = (before - (0.1 * gradient * (random.random(size) < 0.5)).astype(dtype)).astype(dtype)
    wide = [each.astype("f8") for each in (gradient, before, after - before.astype("f8"))]
    pulled = gradient != 0
    moved = (after != before)[pulled].mean() if pulled.any() else np.nan

    found = measured(way, before, after, gradient)

    assert found == pytest.approx([*map(np.linalg.norm, wide), moved], nan_ok=True)


@pytest.mark.parametrize("size", [samples.MOST + 1, 5000, 100_003])
def test_of_many_elements_a_sample_stands_for_all(way: Way, size: int) -> None:
    random = np.random.default_rng(size)
    before, gradient = random.standard_normal((2, size)).astype("float32")
    found = measured(way, before, (before + gradient * np.float32(0.5)).astype("float32"), gradient)
    norms = [np.linalg.norm(each) for each in (gradient, before, gradient * 0.5)]
    assert found == pytest.approx([*norms, 1.0], rel=0.15)


def test_what_a_sample_does_not_see_is_not_told(way: Way) -> None:
    before, gradient = np.ones(50_000, "float32"), np.zeros(50_000, "float32")
    gradient[200:208] = 1.0
    found = measured(way, before, before - gradient, gradient)
    assert np.isnan([found[0], found[2], found[3]]).all()
    assert found[1] == pytest.approx(50_000**0.5)


def test_what_is_not_finite_has_an_infinite_norm(way: Way) -> None:
    before, gradient = np.ones(10, "float64"), np.ones(10, "float64")
    gradient[3] = np.nan
    assert measured(way, before, before + gradient, gradient) == pytest.approx([np.inf, 10**0.5, np.inf, 1.0])


def test_samples_of_other_sizes_are_refused(way: Way) -> None:
    kind = appender.FLOATING["float32"]
    with pytest.raises(ValueError):
        way[2](bytes(40), bytes(40), bytes(36), 40, kind)
