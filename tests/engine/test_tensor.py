"""What a tensor says of itself, tensors from nothing, and reductions with indices: as PyTorch has them."""

from __future__ import annotations

import copy
import pickle
import weakref

import numpy as np
import pytest

import graphscope as gs

DATA = np.array([[3.0, 1.0, 2.0], [0.5, 4.0, -1.0]])

EXPRESSIONS = [
    lambda t, x: tuple(x.shape),
    lambda t, x: tuple(x.size()),
    lambda t, x: x.size(0),
    lambda t, x: x.shape[-1],
    lambda t, x: x.dim(),
    lambda t, x: x.ndim,
    lambda t, x: x.numel(),
    lambda t, x: len(x),
    lambda t, x: x.tolist(),
    lambda t, x: x[0, 1].item(),
    lambda t, x: float(x[0, 1]),
    lambda t, x: int(x[0, 0]),
    lambda t, x: bool(x[0, 0] > 2),
    lambda t, x: [row.tolist() for row in x],
    lambda t, x: [list(map(float, row)) for row in x],
    lambda t, x: x.T.tolist(),
    lambda t, x: x.mT.tolist(),
    lambda t, x: x.view(3, 2).tolist(),
    lambda t, x: x.view(-1).tolist(),
    lambda t, x: x.flatten().tolist(),
    lambda t, x: x.permute(1, 0).tolist(),
    lambda t, x: x.sum(0).tolist(),
    lambda t, x: t.sum(x, dim=1, keepdim=True).tolist(),
    lambda t, x: x.sum((0, 1)).item(),
    lambda t, x: x.mean(dim=0).tolist(),
    lambda t, x: x.max().item(),
    lambda t, x: x.min().item(),
    lambda t, x: x.max(1).values.tolist(),
    lambda t, x: x.max(1).indices.tolist(),
    lambda t, x: [part.tolist() for part in t.max(x, 0)],
    lambda t, x: [part.tolist() for part in x.min(dim=1, keepdim=True)],
    lambda t, x: t.max(x, x * 0 + 1).tolist(),
    lambda t, x: t.maximum(x, -x).tolist(),
    lambda t, x: t.minimum(x, -x).tolist(),
    lambda t, x: x.argmax().item(),
    lambda t, x: x.argmax(1).tolist(),
    lambda t, x: x.argmin(0).tolist(),
    lambda t, x: t.argmax(x, dim=1).tolist(),
    lambda t, x: (x > 1).tolist(),
    lambda t, x: (x > 1).sum().item(),
    lambda t, x: (x > 1).float().mean().item(),
    lambda t, x: (x > 1).any().item(),
    lambda t, x: (x > -10).all().item(),
    lambda t, x: x[x > 1].tolist(),
    lambda t, x: x[:, ::2].tolist(),
    lambda t, x: x[t.tensor([1, 0, 1])].tolist(),
    lambda t, x: x[[0, 1], [2, 0]].tolist(),
    lambda t, x: x[..., None].tolist(),
    lambda t, x: x.long().tolist(),
    lambda t, x: x.to(t.float64).dtype == t.float64,
    lambda t, x: x.to("cpu").tolist(),
    lambda t, x: (2**x).tolist(),
    lambda t, x: (1 / x).tolist(),
    lambda t, x: (x**2).tolist(),
    lambda t, x: (x @ x.t()).tolist(),
    lambda t, x: abs(x).tolist(),
    lambda t, x: x.expand(2, 2, 3).tolist(),
    lambda t, x: x.unsqueeze(1).squeeze().tolist(),
    lambda t, x: x.requires_grad,
    lambda t, x: x.is_leaf,
    lambda t, x: x.detach().clone().tolist(),
    lambda t, x: x.numpy().tolist(),
    lambda t, x: np.asarray(x).sum(),
    lambda t, x: t.cat([x, x], dim=1).tolist(),
    lambda t, x: t.stack((x, x)).tolist(),
    lambda t, x: t.zeros_like(x).tolist(),
    lambda t, x: t.is_tensor(x),
    lambda t, x: t.equal(x, x.clone()),
    lambda t, x: t.allclose(x, x + 1e-9),
    lambda t, x: t.zeros(2, 3).tolist(),
    lambda t, x: t.ones((2, 3)).tolist(),
    lambda t, x: t.full((2,), 7).tolist(),
    lambda t, x: t.arange(5).tolist(),
    lambda t, x: t.arange(1, 2, 0.25).tolist(),
    lambda t, x: t.linspace(0, 1, 5).tolist(),
    lambda t, x: t.eye(2).tolist(),
    lambda t, x: t.from_numpy(np.arange(3)).tolist(),
    lambda t, x: t.as_tensor([1.0, 2.0]).tolist(),
    lambda t, x: tuple(t.randn(2, 3).shape),
    lambda t, x: tuple(t.randint(0, 5, (4,)).shape),
    lambda t, x: sorted(t.randperm(6).tolist()),
]  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expressions(expression):
    torch = pytest.importorskip("torch")
    found, expected = (expression(t, t.tensor(DATA, dtype=t.float32)) for t in (gs, torch))
    assert type(found) is type(expected)
    assert np.allclose(found, expected) if not isinstance(found, str) else found == expected


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int32", "bool", "float16", "uint8"])
def test_dtypes_of_new_tensors(dtype):
    torch = pytest.importorskip("torch")
    for make in (
        lambda t, d: t.zeros(2, dtype=d),
        lambda t, d: t.ones(2, dtype=d),
        lambda t, d: t.tensor([0, 1], dtype=d),
        lambda t, d: t.full((2,), 1, dtype=d),
        lambda t, d: t.ones_like(t.zeros(3), dtype=d),
    ):
        ours, theirs = make(gs, getattr(gs, dtype)), make(torch, getattr(torch, dtype))
        assert f"torch.{ours.dtype.name}" == str(theirs.dtype)
        assert ours.tolist() == theirs.tolist()


def test_the_largest_along_a_dim_takes_the_gradient_alone():
    x = gs.tensor([[1.0, 3.0], [5.0, 2.0]], requires_grad=True)
    values, indices = x.max(1)
    (values * gs.tensor([10.0, 100.0])).sum().backward()
    assert indices.tolist() == [1, 0]
    assert x.grad.tolist() == [[0.0, 10.0], [100.0, 0.0]]


def test_a_tensor_is_a_copy_and_from_numpy_shares():
    array = np.zeros(2, np.float32)
    copied, shared = gs.tensor(array), gs.from_numpy(array)
    array[0] = 1
    assert copied.tolist() == [0.0, 0.0]
    assert shared.tolist() == [1.0, 0.0]


def test_seeds():
    gs.manual_seed(5)
    first = gs.randn(3).tolist()
    gs.manual_seed(5)
    assert gs.randn(3).tolist() == first
    assert gs.randn(3).tolist() != first


def test_the_default_dtype():
    gs.set_default_dtype(gs.float64)
    try:
        assert gs.tensor(1.5).dtype == gs.float64
        assert gs.zeros(2).dtype == gs.float64
        assert (gs.tensor([1]) / 2).dtype == gs.float64
    finally:
        gs.set_default_dtype(gs.float32)
    with pytest.raises(TypeError, match="choose float32 or float64"):
        gs.set_default_dtype(gs.int64)


def test_tensors_are_keys_and_compare_by_element():
    x, y = gs.ones(2), gs.ones(2)
    assert {x: 1}[x] == 1
    assert x != None  # noqa: E711
    assert (x == "a") is False
    assert (x == y).tolist() == [True, True]
    assert (x != 1).tolist() == [False, False]


def test_copies_and_pickles():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    for other in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert other.tolist() == x.tolist()
        assert other.requires_grad
        (other * 2).sum().backward()
        assert x.grad is None
    with pytest.raises(RuntimeError, match="only leaf tensors"):
        copy.deepcopy(x * 2)


def test_a_device_that_is_not_there():
    with pytest.raises(RuntimeError, match="no device 'cuda'"):
        gs.ones(1).to("cuda")


def test_functions_are_copied_pickled_and_referred_to_as_such():
    for function in (gs.exp, gs.mul, gs.nn.functional.relu):
        assert copy.copy(function) is function
        assert copy.deepcopy({"function": function})["function"] is function
        assert pickle.loads(pickle.dumps(function)) is function
        assert weakref.ref(function)() is function
