"""Adding up by index, against the plain way to do it."""

from __future__ import annotations

import numpy as np
import pytest

from graphscope.engine.core.row_sums import add_rows, add_up, pick_along, places_along

numbers = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("count", "width", "length"),
    [(0, 4, 3), (5, 1, 3), (7, 3, 2), (100, 40, 7), (3000, 20, 100), (2000, 30, 5000), (900, 64, 3)],
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_rows_add_up_where_their_index_says(count, width, length, dtype):
    rows = (numbers.standard_normal((count, width)) * 10).astype(dtype)
    index = numbers.integers(0, length, count)
    expected = np.zeros((length, width), "float64")
    np.add.at(expected, index, rows)
    found = add_rows(rows, index, length)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-3)


def test_a_nan_stays_in_its_row():
    rows = numbers.standard_normal((3000, 20))
    rows[5] = np.nan
    index = numbers.integers(0, 100, 3000)
    found = np.isnan(add_rows(rows, index, 100)).any(1)
    assert found.sum() == 1
    assert found[index[5]]


def test_places_along_a_dim_count_all_elements_in_a_row():
    index = numbers.integers(0, 4, (2, 3, 5))
    places = places_along(index, 1, (2, 4, 5))
    array = numbers.standard_normal((2, 4, 5))
    np.testing.assert_array_equal(array.reshape(-1)[places], np.take_along_axis(array, index, 1))
    out = np.zeros((2, 4, 5))
    np.add.at(out.reshape(-1), places, 1.0)
    np.testing.assert_array_equal(add_up(np.ones((2, 3, 5)), places, (2, 4, 5)), out)


@pytest.mark.parametrize("shape", [(4, 6), (4, 0), (2, 3, 5)])
def test_elements_are_picked_along_the_last_dim(shape):
    array = numbers.standard_normal(shape)
    index = numbers.integers(0, shape[-1] or 1, (*shape[:-1], 3 if shape[-1] else 0))
    np.testing.assert_array_equal(pick_along(array, index, len(shape) - 1), np.take_along_axis(array, index, -1))
