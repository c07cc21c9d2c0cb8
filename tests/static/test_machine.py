"""Machine code computes what NumPy computes, for every op that it knows, every layout, and the corners of numbers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphscope as gs
from graphscope import jit
from graphscope.static.machine import library
from graphscope.static.machine.library import available
from graphscope.static.machine.machine_plan import MachinePlan
from graphscope.static.machine.math_functions import WRITERS
from graphscope.static.plans.plan import Plan

pytestmark = pytest.mark.skipif(not available(), reason="llvmlite is not installed")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def ran(function: Any, *arrays: Any) -> tuple[list[Any], MachinePlan]:
    graph = jit.trace(function, *[gs.from_numpy(array) for array in arrays]).graph
    plan = MachinePlan(graph)
    assert " m0(" in plan.source.replace("\n", " "), plan.source
    return list(plan(arrays)), plan


SPECIAL = np.array([0.0, -0.0, 1e-30, -1e-6, 0.3, -0.7, 1.0, 3.0, -8.0, 9.5, 50.0, -90.0, 1e5, np.inf, -np.inf, np.nan])
FUNCTIONS = ("tanh", "exp", "log", "sin", "cos", "sqrt", "abs", "floor", "ceil", "neg", "square", "relu", "reciprocal")
PAIRS = ("add", "sub", "mul", "div", "maximum", "minimum", "lt", "le", "gt", "ge", "eq", "ne")


def test_every_op_that_is_written_is_tested() -> None:
    assert set(WRITERS) == {*FUNCTIONS, *PAIRS, "where"}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_one(name: str, dtype: str) -> None:
    x = np.concatenate([SPECIAL, np.linspace(-12, 12, 1001)]).astype(dtype)
    call = getattr(gs.Tensor, name)
    with np.errstate(all="ignore"):
        wanted = call(gs.from_numpy(x)).array
        (found,), _ = ran(call, x)
    error = 4e-7 if dtype == "float32" else 1e-15
    np.testing.assert_allclose(found, wanted, rtol=error, atol=error * 0.1 if name in ("sin", "cos") else 0)
    assert found.dtype == wanted.dtype


def test_tanh_of_single_numbers() -> None:
    for number in (-9.0, -0.36, -0.34, -1e-20, 0.0, 0.2, 0.349, 0.351, 4.0, math.inf, math.nan):
        x = np.array(number, np.float32)
        (found,), _ = ran(lambda x: (x * 1.0).tanh(), x)
        np.testing.assert_allclose(found, np.tanh(x), rtol=4e-7)


@pytest.mark.parametrize("name", PAIRS)
def test_functions_of_two(name: str) -> None:
    x, y = (each.reshape(-1).astype(np.float32) for each in np.meshgrid(SPECIAL, SPECIAL))
    call = getattr(gs.Tensor, name)
    with np.errstate(all="ignore"):
        wanted = call(gs.from_numpy(x), gs.from_numpy(y)).array
        (found,), _ = ran(call, x, y)
    np.testing.assert_array_equal(found, wanted)
    assert found.dtype == wanted.dtype


def test_where_broadcasting_and_fused_chains() -> None:
    def f(x: gs.Tensor, y: gs.Tensor, z: gs.Tensor) -> Any:
        a = (x + y) * 2 - z
        b = gs.where(a > 0, a, x * 0.1)
        return b / (a * a + 1), a, (b.t() + 1).sum()

    numbers = np.random.default_rng(0)
    x, y, z = (numbers.standard_normal(shape).astype("f4") for shape in ((4, 5), (5,), (4, 1)))
    found, plan = ran(f, x, y, z)
    for one, other in zip(found, Plan(plan.graph)([x, y, z]), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


SIZES = [(3, 5, 7), (20, 20, 1)]
MORE_SIZES = [(1, 1, 1), (1, 20, 20), (20, 1, 20), (33, 17, 29), (4, 64, 4)]


@pytest.mark.parametrize("sizes", [*SIZES, *(pytest.param(sizes, marks=pytest.mark.slow) for sizes in MORE_SIZES)])
@pytest.mark.parametrize("turned", ["", "x", "y", "xy"])
@pytest.mark.parametrize("dtype", ["float32", pytest.param("float64", marks=pytest.mark.slow)])
def test_products(sizes: tuple[int, int, int], turned: str, dtype: str) -> None:
    m, k, n = sizes
    numbers = np.random.default_rng(0)
    x = numbers.standard_normal((k, m) if "x" in turned else (m, k)).astype(dtype)
    y = numbers.standard_normal((n, k) if "y" in turned else (k, n)).astype(dtype)

    def f(x: gs.Tensor, y: gs.Tensor) -> gs.Tensor:
        return (x.t() if "x" in turned else x) @ (y.t() if "y" in turned else y)

    (found,), _ = ran(f, x, y)
    wanted = (x.T if "x" in turned else x).astype("f8") @ (y.T if "y" in turned else y).astype("f8")
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dim", [None, 0, 1, 2, (0, 2), (1, 2)])
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("turned", [False, True])
def test_sums(dim: Any, keepdim: bool, turned: bool) -> None:
    x = np.random.default_rng(0).standard_normal((3, 4, 5)).astype("f4")

    def f(x: gs.Tensor) -> gs.Tensor:
        y = (x * 1.5).transpose(0, 2) if turned else x * 1.5
        return y.sum() if dim is None else y.sum(dim, keepdim)

    if isinstance(dim, tuple) and keepdim:
        pytest.skip("no such op in the table of kernels")
    graph = jit.trace(f, gs.from_numpy(x)).graph
    (found,) = MachinePlan(graph)([x])
    np.testing.assert_allclose(found, Plan(graph)([x])[0], rtol=1e-5, atol=1e-5)


def test_machine_code_is_made_once(cache: Path) -> None:
    def f(x: gs.Tensor) -> gs.Tensor:
        return (x * 3).tanh().sum()

    x = np.ones(7, np.float32)
    first, plan = ran(f, x)
    assert not plan.cached
    (file,) = library.cache_folder().iterdir()
    assert file.is_relative_to(cache)
    again, plan = ran(f, x)
    assert plan.cached
    assert first == again


def test_what_llvm_has_no_business_with_stays_a_call() -> None:
    def f(x: gs.Tensor) -> gs.Tensor:
        return (x * 2).softmax(1).exp().sort(1)[0].sum()

    x = np.random.default_rng(0).standard_normal((6, 5)).astype("f4")
    (found,), plan = ran(f, x)
    np.testing.assert_allclose(found, f(gs.from_numpy(x)).array, rtol=1e-5)
    assert "# softmax" in plan.source
