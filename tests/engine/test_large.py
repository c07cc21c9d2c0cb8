"""Large tensors take other ways than small ones: the same comes of them."""

from __future__ import annotations

import numpy as np
import pytest

from graphscope.engine.core.tensor import Tensor

SHAPES = [(300, 300), (100_001,), (3, 50_000), (20_000, 3), (50, 60, 40)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["sum", "mean", "prod", "cumsum", "cumprod", "var"])
def test_a_large_reduction_is_as_exact_as_one_in_float64(name, shape, dtype):
    array = (1 + np.random.default_rng(7).standard_normal(shape) * 1e-3).astype(dtype)  # the same in any order of tests
    tolerance = {"rtol": 2e-2} if name in ("prod", "cumprod") else {"rtol": 2e-4}
    for layout in (array, np.asfortranarray(array)):
        tensor = Tensor(layout)
        exact = layout.astype("float64")
        for dim in [None, *range(-1, len(shape))]:
            if dim is None and name.startswith("cum"):
                continue
            more = {"ddof": 1} if name == "var" else {}
            expected = getattr(exact, name)(axis=dim, **more)
            found = getattr(tensor, name)(*([] if dim is None else [dim]))
            assert found.array.dtype == dtype
            np.testing.assert_allclose(found.array, expected, **tolerance)


def test_a_large_sum_keeps_what_is_not_finite_in_its_row():
    array = np.ones((40, 2000), np.float32)
    array[3, 1500] = np.inf
    array[7, 2] = np.nan
    sums = Tensor(array).sum(1).array
    assert np.isinf(sums[3])
    assert np.isnan(sums[7])
    assert np.isfinite(np.delete(sums, [3, 7])).all()
