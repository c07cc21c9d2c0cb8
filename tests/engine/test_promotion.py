"""Types of results: PyTorch's, for every pair of dtypes, of tensors with and without dims, and Python numbers."""

from __future__ import annotations

import itertools
import operator

import numpy as np
import pytest

import graphscope as gs
from tests.engine.sampling import in_turn

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]
FUNCTIONS = ["add", "sub", "mul", "div", "eq", "lt"]
NUMBERS = [True, 2, 1.5]


def pair(dtype, shape):
    data = np.ones(shape, "bool" if dtype == "bool" else dtype)
    return gs.tensor(data), torch.from_numpy(np.array(data))


def check(function, ours, theirs):
    """`function` takes the module that speaks torch, and the operands."""
    try:
        expected = function(torch, *theirs)
    except RuntimeError:
        with pytest.raises(RuntimeError):
            function(gs, *ours)
        return
    out = function(gs, *ours)
    assert f"torch.{out.dtype.name}" == str(expected.dtype)
    np.testing.assert_allclose(out.array, expected.numpy(), rtol=1e-6)


@pytest.mark.parametrize("name", FUNCTIONS)
@in_turn("dtypes", itertools.product(DTYPES, DTYPES))
def test_two_tensors(name, dtypes):
    left, right = dtypes
    for shapes in (((2,), (2,)), ((2,), ()), ((), (2,)), ((), ())):
        (a, x), (b, y) = pair(left, shapes[0]), pair(right, shapes[1])
        check(lambda t, *operands: getattr(t.Tensor, name)(*operands), (a, b), (x, y))


@pytest.mark.parametrize("name", FUNCTIONS)
@in_turn("number", NUMBERS)
@in_turn("dtype", DTYPES)
def test_a_tensor_and_a_number(name, dtype, number):
    for shape in ((2,), ()):
        a, x = pair(dtype, shape)
        check(lambda t, left, right: getattr(t.Tensor, name)(left, right), (a, number), (x, number))


@pytest.mark.parametrize("operation", [operator.add, operator.mul, operator.sub, operator.truediv])
@in_turn("number", NUMBERS)
@in_turn("dtype", DTYPES)
def test_a_number_on_the_left(operation, dtype, number):
    for shape in ((2,), ()):
        a, x = pair(dtype, shape)
        check(lambda _, left, right: operation(left, right), (number, a), (number, x))


@pytest.mark.parametrize("function", ["exp", "log", "sqrt", "tanh", "sigmoid", "sin", "cos", "abs", "sum", "relu"])
@in_turn("dtype", DTYPES)
def test_one_tensor(function, dtype):
    for shape in ((2,), ()):
        a, x = pair(dtype, shape)
        try:
            expected = getattr(torch, function)(x)
        except RuntimeError:
            continue
        out = getattr(gs.Tensor, function)(a)
        assert f"torch.{out.dtype.name}" == str(expected.dtype)


@pytest.mark.parametrize(("left", "right"), list(itertools.product(["float16", "float32", "float64"], repeat=2)))
def test_a_gradient_has_the_dtype_of_its_leaf(left, right):
    for shapes in (((2,), (2,)), ((2,), ()), ((), (2,)), ((), ())):
        a, b = (gs.tensor(np.full(s, 0.5, d), requires_grad=True) for s, d in zip(shapes, (left, right), strict=True))
        x, y = (torch.tensor(t.array, requires_grad=True) for t in (a, b))
        (a * b).sum().backward()
        (x * y).sum().backward()
        for mine, other in ((a, x), (b, y)):
            assert f"torch.{mine.grad.dtype.name}" == str(other.grad.dtype)
            np.testing.assert_array_equal(mine.grad.array, other.grad.numpy())


def test_second_order_through_a_promotion():
    a = gs.tensor([0.5, 2.0], requires_grad=True)
    b = gs.tensor(np.array([1.5, 3.0]), requires_grad=True)
    (first,) = gs.grad((a * a * b).sum(), a, create_graph=True)
    (second,) = gs.grad(first.sum(), b)
    np.testing.assert_allclose(second.array, [1.0, 4.0])


@pytest.mark.parametrize(
    "data", [1, 1.0, True, [1, 2], [1.5, 2], [True, False], [[1, 2.5]], [], np.float64(2), np.arange(3)]
)
def test_a_new_tensor(data):
    assert f"torch.{gs.tensor(data).dtype.name}" == str(torch.tensor(data).dtype)


WHOLE = {
    "quotient": lambda m, x, y: x / y,
    "quotient the other way": lambda m, x, y: y / x,
    "atan2": lambda m, x, y: m.atan2(x, m.as_tensor(y)),
    "copysign": lambda m, x, y: m.copysign(x, y),
    "xlogy": lambda m, x, y: m.xlogy(x, y),
    "sum": lambda m, x, y: x + y,
    "product": lambda m, x, y: x * y,
    "comparison": lambda m, x, y: x < y,
    "equality": lambda m, x, y: x == y,
    "remainder": lambda m, x, y: x % y,
    "choice": lambda m, x, y: m.where(x > 5, x, y),
    "larger": lambda m, x, y: m.maximum(x, m.as_tensor(y)),
    "scaled sum": lambda m, x, y: m.add(x, x, alpha=int(y)),
    "filled": lambda m, x, y: m.full_like(x, int(y)),
    "filled in place": lambda m, x, y: x.clone().fill_(int(y)),
    "added in place": lambda m, x, y: x.clone().add_(y),
    "taken off in place": lambda m, x, y: x.clone().sub_(y),
    "multiplied in place": lambda m, x, y: x.clone().mul_(y),
    "scaled in place": lambda m, x, y: x.clone().add_(x, alpha=int(y)),
    "clamped from below": lambda m, x, y: x.clamp(min=int(y)),
    "clamped from above": lambda m, x, y: x.clamp(max=int(y)),
    "clamped in place": lambda m, x, y: x.clone().clamp_(int(y), 50),
    "masked": lambda m, x, y: x.masked_fill(x > 5, int(y)),
    "written": lambda m, x, y: x.index_fill(0, m.tensor([0]), int(y)),
}


@pytest.mark.parametrize("name", WHOLE)
@in_turn("number", [-3, 300, 1000, -1])
@in_turn("dtype", ["uint8", "int8", "int16"])
def test_numbers_that_an_integer_tensor_cannot_hold(name, dtype, number):
    call = WHOLE[name]
    data = np.array([3, 100, 120]).astype(dtype)
    for made in (lambda m: m.tensor(number), lambda m: number):
        check(
            lambda t, x, made=made: call(t, x, made(t)),
            (gs.tensor(data),),
            (torch.from_numpy(data.copy()),),
        )


def test_an_integer_to_the_power_of_less_than_nothing_is_refused():
    for dtype in (gs.uint8, gs.int64):
        with pytest.raises(RuntimeError, match=r"negative|out of bounds"):
            gs.tensor([3], dtype=dtype) ** -1


def test_a_complex_number_without_dims_takes_the_width_of_what_has_some():
    for made in (lambda m: m.ones(2), lambda m: m.ones(2, dtype=m.float64)):
        check(lambda m, x, y: x * y, [gs.tensor(1j, dtype=gs.complex128), made(gs)],
              [torch.tensor(1j, dtype=torch.complex128), made(torch)])  # fmt: skip


def test_a_complex_number_may_be_compared():
    for function in (lambda m, x: x == 1j, lambda m, x: x != 1 + 0j):
        check(function, [gs.ones(2)], [torch.ones(2)])


CHOSEN = {
    "another width": lambda m, x: m.where(x > 0, m.tensor([1.0, 2.0], dtype=m.float64), x).sum(),
    "complex": lambda m, x: m.where(x > 0, 1 + 2j, x).real.sum(),
    "whole": lambda m, x: m.where(x > 0, m.tensor([1, 2]), x).sum(),
}


@pytest.mark.parametrize("name", CHOSEN)
def test_what_is_chosen_among_dtypes_has_a_gradient_of_its_own(name):
    gradients = []
    for m in (gs, torch):
        x = m.tensor([1.0, -1.0], requires_grad=True)
        CHOSEN[name](m, x).backward()
        gradients.append(x.grad)
    check(lambda m, g: g, gradients[:1], gradients[1:])


def test_ends_of_different_dtypes_are_refused():
    for m in (gs, torch):
        with pytest.raises(RuntimeError, match="dtype"):
            m.lerp(m.ones(2), m.ones(2, dtype=m.float64), 2)


PRODUCTS = {
    "matrices": lambda m, x, y: x @ y,
    "matrix and vector": lambda m, x, y: x @ y[0],
    "vectors": lambda m, x, y: m.dot(x[0], y[0]),
    "mm": lambda m, x, y: m.mm(x, y),
    "batches": lambda m, x, y: m.bmm(x[None], y[None]),
    "linear": lambda m, x, y: m.nn.functional.linear(x, y),
    "bias": lambda m, x, y: m.nn.functional.linear(x, x, y[0]),
    "addmm": lambda m, x, y: m.addmm(x, x, y),
    "convolution": lambda m, x, y: m.nn.functional.conv1d(x[None], y[None]),
    "layer": lambda m, x, y: m.nn.Linear(2, 2).to(x.dtype)(y),
}


@pytest.mark.parametrize("name", PRODUCTS)
@in_turn("dtypes", [("float32", "float64"), ("float32", "float16"), ("float64", "int64"), ("int64", "float32")])
def test_products_of_matrices_mix_no_dtypes(name, dtypes):
    for m in (gs, torch):
        x, y = (m.ones(2, 2).to(getattr(m, dtype)) for dtype in dtypes)
        if name == "layer" and not x.is_floating_point():
            continue
        with pytest.raises(RuntimeError):
            PRODUCTS[name](m, x, y)
