"""Jacobians, Hessians and functions of functions: those of PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs
import graphscope.func
from graphscope import autograd
from tests.engine.test_function import inputs

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.torch


def two(x, y):
    return (x * x * y).sum(), x * y.exp()


def one(x):
    return (x**3).sum() * x[0]


def many(x):
    return x * x.sum()


FUNCTIONAL = {
    "jacobian": (lambda a, x, y: a.jacobian(many, x)),
    "jacobian of several": (lambda a, x, y: a.jacobian(two, (x, y))),
    "hessian": (lambda a, x, y: a.hessian(one, x)),
    "hessian of several": (lambda a, x, y: a.hessian(lambda x, y: two(x, y)[0], (x, y))),
    "vjp": (lambda a, x, y: a.vjp(many, x, y)),
    "vjp of several": (lambda a, x, y: a.vjp(two, (x, y), (x.sum(), y))),
    "jvp": (lambda a, x, y: a.jvp(many, x, y)),
    "jvp of several": (lambda a, x, y: a.jvp(two, (x, y), (y, x))),
    "independent": (lambda a, x, y: a.jacobian(lambda x: x.detach() * 2, x)),
    "differentiable": (lambda a, x, y: a.jacobian(lambda v: v * x, x, create_graph=True)),
}


def leaves_of(value):
    return [leaf for part in value for leaf in leaves_of(part)] if isinstance(value, tuple) else [value]


@pytest.mark.parametrize("program", FUNCTIONAL.values(), ids=FUNCTIONAL)
def test_functional_derivatives_are_those_of_torch(program):
    found = leaves_of(program(autograd.functional, *inputs(gs)))
    expected = leaves_of(program(torch.autograd.functional, *inputs(torch)))
    for mine, other in zip(found, expected, strict=True):
        assert tuple(mine.shape) == tuple(other.shape)
        assert mine.requires_grad == other.requires_grad
        np.testing.assert_allclose(mine.detach().numpy(), other.detach().numpy(), rtol=1e-9)


@pytest.mark.parametrize("name", ["vjp", "jvp"])
def test_a_vector_of_another_shape_is_refused(name):
    for a in (torch.autograd.functional, autograd.functional):
        x = inputs(torch if a is torch.autograd.functional else gs)[0]
        with pytest.raises(RuntimeError, match=r"size|shape"):
            getattr(a, name)(one, x, x[:1] if name != "vjp" else x)
        with pytest.raises(RuntimeError, match="v"):
            getattr(a, name)(many, x)


def weighted(tree, x):
    return (tree["w"] * x).tanh().sum() + tree["b"][0] ** 2


FUNC = {
    "grad": lambda f, x, y: f.grad(one)(x),
    "grad of grad": lambda f, x, y: f.grad(lambda v: f.grad(one)(v).sum())(x),
    "grad by another argument": lambda f, x, y: f.grad(lambda a, b: (a * b * b).sum(), argnums=1)(x, y),
    "grad by both": lambda f, x, y: f.grad(lambda a, b: (a * b * b).sum(), argnums=(0, 1))(x, y),
    "grad of a tree": lambda f, x, y: tuple(
        (found["w"], found["b"][0]) for found in [f.grad(weighted)({"w": y, "b": [x[0]]}, x)]
    ),
    "grad and value": lambda f, x, y: f.grad_and_value(one)(x),
    "grad with more": lambda f, x, y: f.grad(lambda v: (one(v), v * 2), has_aux=True)(x),
    "vjp": lambda f, x, y: (lambda out, pull: (out, pull(y)))(*f.vjp(many, x)),
    "vjp of two": lambda f, x, y: (lambda out, pull: (out, pull((x.sum(), y))))(*f.vjp(two, x, y)),
    "jacrev": lambda f, x, y: f.jacrev(many)(x),
    "jacrev by both": lambda f, x, y: f.jacrev(lambda a, b: a * b.sum(), argnums=(0, 1))(x, y),
    "jacfwd": lambda f, x, y: f.jacfwd(many)(x),
    "hessian": lambda f, x, y: f.hessian(one)(x),
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("program", FUNC.values(), ids=FUNC)
def test_functions_of_functions_are_those_of_torch(program, requires_grad):
    def outcome(t):
        x, y = (value.detach().requires_grad_(requires_grad) for value in inputs(t))
        return leaves_of(program(t.func, x, y))

    for mine, other in zip(outcome(gs), outcome(torch), strict=True):
        assert tuple(mine.shape) == tuple(other.shape)
        assert mine.requires_grad == other.requires_grad
        np.testing.assert_allclose(mine.detach().numpy(), other.detach().numpy(), rtol=1e-9)
