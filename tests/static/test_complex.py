"""Complex numbers in graphs: compiled functions have the values and gradients of the functions themselves."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs
from graphscope import jit


def of_pairs(x):
    z = gs.view_as_complex(x)
    w = z * z * (1 + 2j) + z.exp() / (z + 3j)
    return (w.abs() * w.real).sum() + w.conj().angle().cos().sum()


def rotary(x):
    turns = gs.polar(gs.ones_like(x[:, 0]), x[:, 1])
    return gs.view_as_real(gs.view_as_complex(x) * turns).sin().sum()


def spectrum(x):
    return (gs.fft.rfft(x, dim=0).abs() ** 2).sum() + gs.fft.irfft(gs.fft.fft(x * 2, dim=0), n=4, dim=0).sin().sum()


def gradient(function, x):
    x.grad = None
    value = function(x)
    value.backward()
    return value.item(), x.grad.numpy().copy()


@pytest.mark.parametrize("function", [of_pairs, rotary, spectrum])
def test_a_compiled_function_has_the_same_gradients(function):
    x = gs.tensor(np.random.default_rng(0).standard_normal((3, 2)), requires_grad=True)
    expected, slope = gradient(function, x)
    for made in (jit.trace(function, x), jit.compile(function, x)):
        found, mine = gradient(made, x)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        np.testing.assert_allclose(mine, slope, rtol=1e-11, atol=1e-13)
    value, (mine,) = jit.value_and_grad(function, x)(x)
    np.testing.assert_allclose(value.item(), expected, rtol=1e-12)
    np.testing.assert_allclose(mine.numpy(), slope, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("function", [of_pairs, rotary])
def test_machine_code_leaves_complex_numbers_to_numpy(function):
    pytest.importorskip("llvmlite")
    x = gs.tensor(np.random.default_rng(1).standard_normal((4, 2)), requires_grad=True)
    expected, slope = gradient(function, x)
    found, mine = gradient(jit.compile(function, x, backend="machine"), x)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(mine, slope, rtol=1e-11, atol=1e-13)
