"""Tensors print as PyTorch prints them."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

NUMBERS = np.random.default_rng(0)
CASES = [
    1.0,
    2.5,
    -0.125,
    3,
    True,
    0.0,
    1e-7,
    123456.789,
    1e8,
    1e20,
    float("nan"),
    float("inf"),
    -float("inf"),
    0.1,
    1e-4,
    99999.5,
    [1.0, 2.0],
    [1.0, 2.5],
    [1, 20, 300],
    [True, False],
    [0.1, 0.25, 1000.0],
    [1e-5, 1.0],
    [1e5, 1.0],
    [1e-8, 2e-8],
    [1e10, 1.0],
    [float("nan"), 1.0],
    [float("inf"), 1.5],
    [-1.0, 1.0],
    [-0.5],
    [],
    [[]],
    [[1.0, 2.0], [3.0, 4.0]],
    [[1.5, -2.25], [30.125, 4.0]],
    [[[1, 2], [3, 4]], [[5, 6], [7, 8]]],
    [[[1.0]]],
    [1000.0, 0.001],
    [1234567.0, 2.0],
    [0.0, 0.0],
    [1e9, 2e9],
    [1e7, 2e7],
    NUMBERS.standard_normal((3, 4)).tolist(),
    NUMBERS.standard_normal((2, 2, 3)).tolist(),
    NUMBERS.standard_normal(20).tolist(),
    (NUMBERS.standard_normal((3, 3)) * 100).tolist(),
    NUMBERS.integers(-1000, 1000, (4, 5)).tolist(),
    list(range(40)),
    NUMBERS.standard_normal(1001).tolist(),
    NUMBERS.standard_normal((40, 40)).tolist(),
    list(range(2000)),
    NUMBERS.standard_normal((12, 12, 12)).tolist(),
    NUMBERS.standard_normal((3, 12)).tolist(),
    [[float("nan"), 2.0], [3.0, float("inf")]],
]


@pytest.mark.parametrize("data", CASES, ids=lambda data: repr(data)[:40])
def test_text_of_a_tensor(data):
    assert repr(gs.tensor(data)) == repr(torch.tensor(data))
    assert str(gs.tensor(data)) == str(torch.tensor(data))


@pytest.mark.parametrize("dtype", ["float16", "float64", "int32", "int8", "uint8", "bool", "int64"])
@pytest.mark.parametrize("data", [[0, 1], 1, [[0, 1], [1, 1]]])
def test_text_of_a_dtype(data, dtype):
    ours = gs.tensor(data, dtype=np.dtype(dtype))
    assert repr(ours) == repr(torch.tensor(data, dtype=getattr(torch, dtype)))


@pytest.mark.parametrize(
    "program",
    [
        lambda t: t.tensor([1.0, 2.0], requires_grad=True),
        lambda t: t.tensor(1.0, requires_grad=True) * 2,
        lambda t: (t.tensor([1.5, 2.0], requires_grad=True) + 1).tanh(),
        lambda t: t.tensor([[1.5, 2.0]], requires_grad=True).sum(),
        lambda t: t.mm(t.ones(2, 2, requires_grad=True), t.ones(2, 2)),
        lambda t: t.ones(2, 3, requires_grad=True).t(),
        lambda t: t.ones(2, 3, requires_grad=True).relu(),
        lambda t: -t.ones(20, requires_grad=True),
        lambda t: t.ones(20, requires_grad=True).double() / 3,
        lambda t: t.ones(7, 3, requires_grad=True).exp(),
        lambda t: t.ones(2, 3, requires_grad=True).softmax(1),
        lambda t: t.ones(2, 3, requires_grad=True).log_softmax(1),
        lambda t: t.ones(2, requires_grad=True).sigmoid(),
        lambda t: t.ones(2, requires_grad=True).mean(),
        lambda t: t.ones(2, requires_grad=True) - 1,
        lambda t: t.ones(2, requires_grad=True) ** 2,
        lambda t: t.nn.functional.cross_entropy(t.ones(2, 3, requires_grad=True), t.tensor([0, 1])),
        lambda t: t.nn.functional.mse_loss(t.ones(2, requires_grad=True), t.ones(2)),
        lambda t: t.ones(3, requires_grad=True)[0],
        lambda t: t.ones(3, requires_grad=True)[1:],
        lambda t: t.ones(2, 3, requires_grad=True).reshape(6),
        lambda t: t.ones(2, 3, requires_grad=True).sum(1),
        lambda t: t.ones(2, 3, requires_grad=True).clone(),
        lambda t: t.nn.functional.linear(t.ones(2, 3), t.ones(4, 3, requires_grad=True), t.ones(4)),
        lambda t: t.ones(2, 3, requires_grad=True).abs(),
        lambda t: t.ones(2, 3, requires_grad=True).sqrt(),
        lambda t: t.cat([t.ones(2, requires_grad=True), t.ones(2)]),
        lambda t: t.stack([t.ones(2, requires_grad=True), t.ones(2)]),
    ],
)  # fmt: skip
def test_text_of_what_has_a_graph(program):
    assert repr(program(gs)) == repr(program(torch))


def test_the_gradient_of_the_seed_program():
    texts = []
    for t in (gs, torch):
        a = t.tensor(15.0, requires_grad=True)
        b = t.tensor(20.0, requires_grad=True)
        c = a * b
        c.backward()
        texts.append(f"{a} {b} {c} {a.grad} {b.grad} {c.grad_fn.name()}")
    assert texts[0] == texts[1]


def test_text_in_a_format_string():
    for t in (gs, torch):
        assert f"{t.tensor(1.5):.3f}" == "1.500"
        assert f"{t.tensor([1.5])}" == "tensor([1.5000])"


def test_complex_numbers():
    matrix = [[1.0, 2.0], [-3.0, 4.0]]
    for scale in (1.0, 1e-7, 2.0):
        mine, other = (repr(t.linalg.eigvals(t.tensor(matrix) * scale)) for t in (gs, torch))
        assert mine == other
    assert repr(gs.linalg.eigvals(gs.eye(2, dtype=gs.float64))) == repr(
        torch.linalg.eigvals(torch.eye(2, dtype=torch.float64))
    )
