"""The check of gradients finds wrong rules, of first and second order."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs
from graphscope.autograd import gradcheck, gradgradcheck
from graphscope.engine.core.gradcheck import GradcheckError


def inputs():
    return [
        gs.tensor(np.array([0.5, -1.5, 2.0]), requires_grad=True),
        gs.tensor(np.array([[1.0], [2.0]]), requires_grad=True),
    ]


def test_right_rules():
    assert gradcheck(lambda x, y: (x * y).tanh(), inputs())
    assert gradgradcheck(lambda x, y: (x * y).tanh(), inputs())


def test_a_wrong_first_order():
    with pytest.raises(GradcheckError, match=r"output 0 with respect to input 0, of shape \(3,\): off by up to"):
        gradcheck(lambda x, y: x * y * x.detach(), inputs())


def test_a_wrong_second_order():
    def product(x, y):
        with gs.no_grad():
            slope = 2 * x
        # The gradient of x² by way of a constant: right to first order only.
        return (x * slope - (slope * slope) / 4) * y.detach()

    with pytest.raises(GradcheckError, match="off by up to"):
        gradgradcheck(product, inputs())


def test_coarse_inputs_are_warned_of():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    with pytest.warns(UserWarning, match="not a double precision"):
        assert gradcheck(lambda x: x * 2, [x], eps=1e-2, atol=1e-2)


def test_nothing_to_check_is_an_error():
    with pytest.raises(ValueError, match="at least one input"):
        gradcheck(lambda x: x * 2, gs.ones(2))


def test_a_wrong_gradient_may_be_told_by_the_result():
    assert not gradcheck(lambda x, y: x * y * x.detach(), inputs(), raise_exception=False)
    assert gradcheck(lambda x, y: (x * y, y.exp()), inputs())
    assert gradgradcheck(lambda x, y: (x * x * y, y.exp()), inputs())


def test_a_part_of_a_tensor_without_dims_is_checked():
    x = gs.tensor(np.float64(0.7), requires_grad=True)
    assert gradcheck(lambda x: x.exp() * x, x)


def test_nothing_is_checked_of_no_elements():
    x = gs.zeros(0, 2, dtype=gs.float64, requires_grad=True)
    assert gradcheck(lambda x, y: (x * 2, y.sum(0) + x.sum(0)[:1]), [x, *inputs()[1:]])
    assert gradgradcheck(lambda x: (x * x).sum(), x)


def test_inputs_are_left_as_they_were():
    x, y = inputs()
    before = x.tolist()
    gradcheck(lambda x, y: x * y, [x, y])
    assert x.tolist() == before
    assert x.grad is None
