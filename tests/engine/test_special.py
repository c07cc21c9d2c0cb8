"""Special functions over their whole range, against PyTorch's."""

from __future__ import annotations

import math

import numpy as np
import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

WIDE = np.concatenate([np.linspace(-30, 30, 4001), np.logspace(-300, 2, 500), -np.logspace(-300, 1, 500)])
INSIDE = np.concatenate([np.linspace(-0.99, 0.99, 4001), np.logspace(-20, -1, 200), [1.0, -1.0, 1.5]])
POSITIVE = np.concatenate([np.linspace(0.01, 40, 4000), np.logspace(-10, 15, 500)])
CHANCES = np.linspace(0.001, 0.999, 999)
RANGES = {
    "erf": WIDE,
    "erfc": WIDE[WIDE < 25],
    "erfinv": INSIDE,
    "lgamma": np.concatenate([WIDE, POSITIVE]),
    "digamma": POSITIVE,
    "special.ndtr": WIDE[WIDE > -5],
    "special.expit": WIDE,
    "special.gammaln": POSITIVE,
}
SINGLE = {"erfc": 8.0, "lgamma": 20.0}
"""Up to where single precision is compared; PyTorch's own has few digits beyond."""


def at(module, name):
    for part in name.split("."):
        module = getattr(module, part)
    return module


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "values"), RANGES.items(), ids=RANGES)
def test_values_are_those_of_torch(name, values, dtype):
    values = values[np.abs(values) < 1e30].astype(dtype)
    if dtype == "float32":
        values = values[np.abs(values) < SINGLE.get(name, np.inf)]
    count = 2 if name.endswith("py") else 1
    out = at(gs, name)(*[gs.from_numpy(values)] * count).numpy()
    expected = at(torch, name)(*[torch.from_numpy(values)] * count).numpy()
    assert out.dtype == expected.dtype
    relative, absolute = (3e-6, 1e-6) if dtype == "float32" else (2e-13, 1e-14)
    np.testing.assert_allclose(out, expected, rtol=relative, atol=absolute)


def test_erfinv_is_exact_far_out_where_that_of_torch_is_not():
    left = np.logspace(-15.5, -2, 300)
    values = 1 - left
    found = gs.erfinv(gs.from_numpy(values)).numpy()
    back = np.array([math.erfc(value) for value in found])
    np.testing.assert_allclose(back, 1 - values, rtol=2e-13)
    np.testing.assert_array_equal(gs.erfinv(gs.from_numpy(-values)).numpy(), -found)


@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
@pytest.mark.parametrize("scale", [1.0, 1e10])
def test_divisions_of_many_numbers_are_exact(name, scale):
    numbers = np.random.default_rng(0)
    x = (numbers.standard_normal(20_000) * 50 * scale).astype(np.float32)
    y = numbers.choice([0.1, -0.3, 1.0, 7.0, np.inf, 2.5], 20_000).astype(np.float32)
    y[:10_000] = np.abs(y[:10_000].clip(-9, 9))
    for other in (y, 0.3):
        ours = getattr(gs, name)(gs.from_numpy(x), gs.from_numpy(y) if other is y else other).numpy()
        theirs = getattr(torch, name)(torch.from_numpy(x), torch.from_numpy(y) if other is y else other).numpy()
        np.testing.assert_array_equal(ours, theirs)
