"""The check of gradients finds wrong rules, of first and second order."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs
from graphscope.autograd import gradcheck, gradgradcheck


def inputs():
    return [
        gs.tensor(np.array([0.5, -1.5, 2.0]), requires_grad=True),
        gs.tensor(np.array([[1.0], [2.0]]), requires_grad=True),
    ]


def test_right_rules():
    assert gradcheck(lambda x, y: (x * y).tanh(), inputs())
    assert gradgradcheck(lambda x, y: (x * y).tanh(), inputs())


def test_a_wrong_first_order():
    with pytest.raises(AssertionError, match=r"gradient 0, of an input of shape \(3,\), is off by up to"):
        gradcheck(lambda x, y: x * y * x.detach(), inputs())


def test_a_wrong_second_order():
    def product(x, y):
        with gs.no_grad():
            slope = 2 * x
        # The gradient of x² by way of a constant: right to first order only.
        return (x * slope - (slope * slope) / 4) * y.detach()

    with pytest.raises(AssertionError, match="is off by up to"):
        gradgradcheck(product, inputs())


def test_coarse_inputs_are_refused():
    with pytest.raises(ValueError, match="float64"):
        gradcheck(lambda x: x * 2, [gs.ones(2, requires_grad=True)])


def test_inputs_are_left_as_they_were():
    x, y = inputs()
    before = x.tolist()
    gradcheck(lambda x, y: x * y, [x, y])
    assert x.tolist() == before
    assert x.grad is None
