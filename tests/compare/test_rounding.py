"""Two tensors that differ by rounding are the same; a small real difference parts them."""

from __future__ import annotations

import numpy as np

from graphscope.compare.rounding import EXACT, Allowed, agree, distance


def test_distance_tells_where_and_how_far() -> None:
    """The largest difference, its place and both elements; NaN is equal to NaN."""
    a = np.array([[1.0, np.nan], [2.0, -4.0]], np.float32)
    b = np.array([[1.0, np.nan], [2.0, np.nextafter(np.float32(-4), np.float32(0))]], np.float32)
    found = distance(a, b)
    assert found is not None
    assert (found.elements, found.different, found.index, found.values[0]) == (4, 1, (1, 1), -4.0)
    assert found.ulps == 0.5  # below 4 the numbers lie twice as close


def test_exact_is_bit_by_bit() -> None:
    """One unit of the last place parts two tensors that tolerance would call the same."""
    a = np.ones(3, np.float32)
    b = np.nextafter(a, np.float32(2))
    assert agree(a, a.copy(), EXACT)
    assert not agree(a, b, EXACT)
    assert agree(a, b, Allowed(0.0, 1e-6))
