"""Formulas in one pass over memory do what they do in NumPy, corners included, and hand on what they do not take."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import graphscope as gs
from graphscope.engine.core.formulas import FORMULAS

pytestmark = pytest.mark.skipif(not FORMULAS, reason="there was no compiler")

CORNERS = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    1e-30,
    -1e-30,
    19.5,
    20.5,
    -20.5,
    88.0,
    89.5,
    -88.0,
    -104.0,
    700.0,
    -745.0,
    1e30,
    -1e30,
]
NUMBERS = {
    "softplus": {"beta": 1.5, "threshold": 20.0},
    "elu": {"alpha": 0.7, "scale": 1.1, "input_scale": 1.3},
    "leaky_relu": {"negative_slope": 0.1},
}
ALONG = ("softmax", "log_softmax", "cumsum", "cumprod")


def attributes(name):
    base = name.removesuffix("_rule")
    return {**NUMBERS.get(base, {}), **({"dim": -1} if base in ALONG else {})}


def takes_two(name):
    return name.endswith("_rule") and name != "cumsum_rule"


def numbers(dtype, *shape, seed):
    return (np.random.default_rng(seed).standard_normal(shape) * 3).astype(dtype)


@pytest.fixture
def handed_on(monkeypatch):
    """The formulas, with a specification that only remembers that it was called."""
    return {name: type(formula)(name, lambda *args, **attrs: "in NumPy") for name, formula in FORMULAS.items()}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FORMULAS)
def test_both_ways_agree(name, dtype):
    formula, attrs = FORMULAS[name], attributes(name)
    x, g = numbers(dtype, 7, 83, seed=0), numbers(dtype, 7, 83, seed=1)
    if "softmax" not in name and name != "cumprod":
        x[0, : len(CORNERS)] = CORNERS
    given = (
        (g, FORMULAS[name.removesuffix("_rule")](x, **attrs) if "softmax" in name else x) if takes_two(name) else (x,)
    )
    with np.errstate(all="ignore"):
        mine, other = formula(*given, **attrs), formula.__wrapped__(*given, **attrs)
    assert mine.dtype == other.dtype
    close = {"rtol": 3e-5, "atol": 1e-5} if dtype == "float32" else {"rtol": 1e-12, "atol": 1e-13}
    np.testing.assert_allclose(mine, other, **close)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FORMULAS)
def test_what_is_no_number_stays_none(name, dtype):
    formula, attrs = FORMULAS[name], attributes(name)
    x = np.array([[1.0, np.nan, 2.0, -1.0], [np.inf, 0.0, 1.0, 2.0], [-np.inf, 0.0, 1.0, 2.0]], dtype)
    given = (np.ones_like(x), x) if takes_two(name) else (x,)
    with np.errstate(all="ignore"):
        mine, other = formula(*given, **attrs), formula.__wrapped__(*given, **attrs)
    np.testing.assert_allclose(mine, other, rtol=3e-5, atol=2e-6)


@pytest.mark.parametrize("name", FORMULAS)
def test_other_arrays_are_handed_on(name, handed_on):
    formula, attrs = handed_on[name], attributes(name)
    x = numbers("float32", 6, 5, seed=0)
    for other in (x.T, x[:, ::2], x.astype(np.float16), x.astype(int), x[:0], x[0, 0], x.astype(">f4"), 1.5):
        given = (other, other) if takes_two(name) else (other,)
        assert formula(*given, **attrs) == "in NumPy"
    assert formula(*((x, x) if takes_two(name) else (x,)), **attrs, more=1) == "in NumPy"
    assert formula() == "in NumPy"
    if takes_two(name):
        for other in (x[:3], x.astype(np.float64), x[0]):
            assert formula(x, other, **attrs) == "in NumPy"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("dim", [0, 1, 2, -2])
def test_sums_run_along_any_dim(dim, dtype):
    x = numbers(dtype, 4, 5, 37, seed=0)
    np.testing.assert_allclose(FORMULAS["cumsum"](x, dim=dim), np.cumsum(x, dim), rtol=1e-4, atol=1e-5)
    back = np.flip(np.cumsum(np.flip(x, dim), dim), dim)
    np.testing.assert_allclose(FORMULAS["cumsum_rule"](x, dim=dim), back, rtol=1e-4, atol=1e-5)


def test_sums_of_many_small_numbers_stay_exact():
    rows = gs.full((1, 1_000_000), 0.1)
    for x in (rows, rows.t()):
        total = x.cumsum(x.shape.index(1_000_000)).flatten()[-1]
        assert abs(total.item() - 100_000) < 1
    shares = gs.full((1, 1_000_000), 3.0).softmax(1)
    assert abs(shares.sum().item() - 1) < 1e-4


def test_exponentials_grow_without_steps_where_a_power_of_two_begins():
    x = np.linspace(-3, 3, 40_001)
    for name in ("sigmoid", "silu", "softplus"):
        slopes = [b - a for a, b in pairwise(FORMULAS[name](x, **attributes(name)).tolist())]
        assert np.abs(np.diff(slopes)).max() < 1e-7
