"""Programs made by hypothesis, run by this engine and by PyTorch: values and gradients are the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

UNARY = {
    "neg": lambda t, x: -x,
    "tanh": lambda t, x: x.tanh(),
    "sigmoid": lambda t, x: t.sigmoid(x),
    "exp": lambda t, x: (x * 0.1).exp(),
    "log": lambda t, x: (x * x + 1).log(),
    "sqrt": lambda t, x: (x * x + 1).sqrt(),
    "sin": lambda t, x: t.sin(x),
    "relu": lambda t, x: x.relu(),
    "abs": lambda t, x: x.abs(),
    "square": lambda t, x: x**2,
    "scaled": lambda t, x: 1.5 - x * 2 / 3,
    "sum": lambda t, x: x.sum(),
    "mean": lambda t, x: x.mean(0, keepdim=True) if x.ndim else x,
    "sum of a dim": lambda t, x: x.sum(-1) if x.ndim else x,
    "transposed": lambda t, x: x.transpose(0, -1) if x.ndim > 1 else x,
    "flat": lambda t, x: x.reshape(-1),
    "row": lambda t, x: x[0] if x.ndim and x.shape[0] else x,
    "slice": lambda t, x: x[..., 1:] if x.ndim else x,
    "gather": lambda t, x: x[t.tensor([0, 0])] if x.ndim and x.shape[0] else x,
    "unsqueezed": lambda t, x: x.unsqueeze(0),
    "squeezed": lambda t, x: x.squeeze(),
    "softmax": lambda t, x: x.softmax(-1) if x.ndim else x,
    "log_softmax": lambda t, x: x.log_softmax(-1) if x.ndim else x,
    "clamp": lambda t, x: x.clamp(-0.7, 0.6),
    "clone": lambda t, x: x.clone(),
    "detached": lambda t, x: x.detach(),
    "in place": lambda t, x: (x * 1).add_(0.5).mul_(1.5),
    "filled": lambda t, x: _filled(x),
    "quiet": lambda t, x: _quiet(t, x),
}
BINARY = {
    "add": lambda t, x, y: x + y,
    "sub": lambda t, x, y: x - y,
    "mul": lambda t, x, y: x * y,
    "div": lambda t, x, y: x / (y * y + 1),
    "where": lambda t, x, y: t.where(x > y, x, y * 2),
    "cat": lambda t, x, y: t.cat([x.reshape(-1), y.reshape(-1)]),
    "stack": lambda t, x, y: t.stack([x, y]) if x.shape == y.shape else x + y,
    "add_": lambda t, x, y: (x * y * 0 + x).add_(y, alpha=0.5),
    "mul_": lambda t, x, y: (x * y * 0 + x).mul_(y),
}


def _filled(x):
    if not x.ndim or not x.shape[0]:
        return x
    y = x * 1
    y[0] = 0.25
    return y


def _quiet(t, x):
    with t.no_grad():
        y = x * 2
    return x + y


def run(t, program, leaves):
    values = list(leaves)
    for name, first, second in program:
        x = values[first % len(values)]
        if name in UNARY:
            values.append(UNARY[name](t, x))
            continue
        y = values[second % len(values)]
        try:
            np.broadcast_shapes(tuple(x.shape), tuple(y.shape))
        except ValueError:
            y = y.sum()
        values.append(BINARY[name](t, x, y))
    return values


names = st.sampled_from([*UNARY, *BINARY])
programs = st.lists(st.tuples(names, st.integers(0, 10), st.integers(0, 10)), min_size=1, max_size=12)
arrays = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=1, max_side=4),
    elements=st.floats(-2, 2).map(lambda v: round(v, 3) + 0.0137),
)


@pytest.mark.slow
@given(st.lists(arrays, min_size=1, max_size=3), programs)
@settings(max_examples=150)
def test_values_and_gradients_are_those_of_torch(data, program):
    ours = [gs.tensor(array, requires_grad=True) for array in data]
    theirs = [torch.tensor(array, requires_grad=True) for array in data]
    results, expected = run(gs, program, ours), run(torch, program, theirs)
    for mine, other in zip(results, expected, strict=True):
        assert mine.shape == tuple(other.shape)
        assert mine.requires_grad == other.requires_grad
        np.testing.assert_allclose(mine.array, other.detach().numpy(), rtol=1e-9, atol=1e-9)
    loss, other_loss = (sum(value.sum() for value in values) for values in (results, expected))
    first = gs.grad(loss, ours, create_graph=True, allow_unused=True)
    other_first = torch.autograd.grad(other_loss, theirs, create_graph=True, allow_unused=True)
    for mine, other in zip(first, other_first, strict=True):
        np.testing.assert_allclose(mine.array, other.detach().numpy(), rtol=1e-7, atol=1e-8)
    loss.backward()
    other_loss.backward()
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine.grad.array, other.grad.numpy(), rtol=1e-7, atol=1e-8)


def array(tensor):
    return tensor.array if isinstance(tensor, gs.Tensor) else tensor.numpy(force=True)


@pytest.mark.slow
@given(st.lists(arrays, min_size=1, max_size=2), programs)
@settings(max_examples=200)
def test_second_order_gradients_are_those_of_torch(data, program):
    found = []
    for t, make in ((gs, gs.tensor), (torch, torch.tensor)):
        grad = gs.grad if t is gs else torch.autograd.grad
        leaves = [make(array, requires_grad=True) for array in data]
        loss = sum(value.sum() for value in run(t, program, leaves))
        first = grad(loss, leaves, create_graph=True, allow_unused=True)
        total = sum((g * g).sum() for g in first if g is not None)
        if total.requires_grad:
            second = grad(total, leaves, allow_unused=True)
        else:  # a rule whose result does not depend on the inputs; PyTorch says so with zeros
            second = [None] * len(data)
        found.append([np.zeros(a.shape) if g is None else array(g) for a, g in zip(data, second, strict=True)])
    for mine, other in zip(*found, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-6, atol=1e-7)


@pytest.mark.slow
@given(
    hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=3),
    st.sampled_from(["add", "sub", "mul", "div", "pow"]),
)
@settings(max_examples=200)
def test_broadcasting(shapes, name):
    numbers = np.random.default_rng(1)
    data = [numbers.uniform(0.5, 2, shape) for shape in shapes.input_shapes]
    ours = [gs.tensor(array, requires_grad=True) for array in data]
    theirs = [torch.tensor(array, requires_grad=True) for array in data]
    out, expected = getattr(gs, name)(*ours), getattr(torch, name)(*theirs)
    np.testing.assert_allclose(out.array, expected.detach().numpy(), rtol=1e-12)
    out.sum().backward()
    expected.sum().backward()
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.grad.shape == tuple(other.grad.shape)
        np.testing.assert_allclose(mine.grad.array, other.grad.numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.slow
@given(st.data())
@settings(max_examples=200)
def test_products_of_matrices(data):
    shapes = data.draw(
        hnp.mutually_broadcastable_shapes(signature="(m?,n),(n,p?)->(m?,p?)", max_dims=2, max_side=3)
    ).input_shapes
    numbers = np.random.default_rng(1)
    arrays = [numbers.standard_normal(shape) for shape in shapes]
    ours = [gs.tensor(array, requires_grad=True) for array in arrays]
    theirs = [torch.tensor(array, requires_grad=True) for array in arrays]
    out, expected = ours[0] @ ours[1], theirs[0] @ theirs[1]
    np.testing.assert_allclose(out.array, expected.detach().numpy(), rtol=1e-9, atol=1e-12)
    weights = numbers.standard_normal(out.shape)
    first = gs.grad((out * gs.tensor(weights)).sum(), ours, create_graph=True)
    other_first = torch.autograd.grad((expected * torch.tensor(weights)).sum(), theirs, create_graph=True)
    second = gs.grad(sum((g * g).sum() for g in first), ours, allow_unused=True)
    other_second = torch.autograd.grad(sum((g * g).sum() for g in other_first), theirs, allow_unused=True)
    for mine, other in zip((*first, *second), (*other_first, *other_second), strict=True):
        assert (mine is None) == (other is None)
        if mine is not None:
            np.testing.assert_allclose(mine.array, other.detach().numpy(), rtol=1e-9, atol=1e-10)
