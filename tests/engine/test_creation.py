"""Tensors from nothing: PyTorch's values, dtypes and errors, call by call."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

CALLS = {
    "tensor of nested lists": lambda t: t.tensor([[1, 2], [3, 4]]),
    "tensor of floats": lambda t: t.tensor([1.5, 2]),
    "tensor of booleans": lambda t: t.tensor([True, False]),
    "tensor of mixed numbers": lambda t: t.tensor([True, 2, 3.0]),
    "tensor of nothing": lambda t: t.tensor([]),
    "tensor of a number": lambda t: t.tensor(3),
    "tensor of a tensor": lambda t: t.tensor(t.ones(2, dtype=t.float64).tolist(), dtype=t.int32),
    "tensor of a range": lambda t: t.tensor(range(3)),
    "tensor of an array": lambda t: t.tensor(np.arange(3.0)),
    "tensor of lists of different lengths": lambda t: t.tensor([[1], [2, 3]]),
    "tensor of text": lambda t: t.tensor("text"),
    "tensor on a device": lambda t: t.tensor([1.0], device="cpu", dtype=t.float64),
    "integers that require grad": lambda t: t.tensor([1], requires_grad=True),
    "as_tensor": lambda t: t.as_tensor([1, 2.5]),
    "as_tensor of an array": lambda t: t.as_tensor(np.arange(3, dtype=np.int16)),
    "asarray": lambda t: t.asarray([1.0, 2.0], requires_grad=True),
    "from_numpy": lambda t: t.from_numpy(np.ones((2, 2), np.float32)),
    "frombuffer": lambda t: t.frombuffer(bytearray(b"\x01\x02\x03"), dtype=t.uint8, offset=1),
    "scalar_tensor": lambda t: t.scalar_tensor(3),
    "zeros": lambda t: t.zeros(2, 3),
    "zeros of a tuple": lambda t: t.zeros((2, 3), dtype=t.int8),
    "zeros of no dims": lambda t: t.zeros(()),
    "zeros of a negative size": lambda t: t.zeros(-1),
    "ones": lambda t: t.ones([2], dtype=t.bool),
    "empty": lambda t: t.empty(2, 0, 3),
    "full": lambda t: t.full((2,), 3),
    "full of floats": lambda t: t.full((2,), 1.5),
    "full of a boolean": lambda t: t.full((2,), True),
    "eye": lambda t: t.eye(2, 3),
    "arange": lambda t: t.arange(5),
    "arange of floats": lambda t: t.arange(0, 1, 0.3),
    "arange downwards": lambda t: t.arange(5, 0, -2),
    "arange of nothing": lambda t: t.arange(3, 3),
    "arange with a dtype": lambda t: t.arange(3, dtype=t.float64, requires_grad=True),
    "arange the wrong way": lambda t: t.arange(5, 0, 1),
    "arange without a step": lambda t: t.arange(5, 0, 0),
    "linspace": lambda t: t.linspace(-1, 1, 5),
    "linspace of one": lambda t: t.linspace(2, 3, 1),
    "linspace of none": lambda t: t.linspace(0, 1, 0, dtype=t.float64),
    "linspace of fewer": lambda t: t.linspace(0, 1, -1),
    "tril_indices": lambda t: t.tril_indices(3, 4, -1),
    "triu_indices": lambda t: t.triu_indices(3, 3, offset=1, dtype=t.int32),
    "zeros_like": lambda t: t.zeros_like(t.ones(2, dtype=t.int16)),
    "ones_like": lambda t: t.ones_like(t.zeros(2, 1), dtype=t.float64, requires_grad=True),
    "full_like": lambda t: t.full_like(t.zeros(2, 1), 7),
    "empty_like": lambda t: t.empty_like(t.zeros(0, 1)),
    "new_zeros": lambda t: t.ones(2, dtype=t.float64).new_zeros(3, 2),
    "new_ones": lambda t: t.ones(2, dtype=t.int8).new_ones((3,)),
    "new_full": lambda t: t.ones(2).new_full((2, 2), 4),
    "new_tensor": lambda t: t.ones(2, dtype=t.float64).new_tensor([1, 2]),
    "new_empty": lambda t: t.ones(2, dtype=t.bool).new_empty(0),
    "randint from nowhere": lambda t: t.randint(3, 3, (2,)),
    "randperm of nothing": lambda t: t.randperm(0),
    "normal with a negative deviation": lambda t: t.normal(0.0, -1.0, (2,)),
    "multinomial of too many": lambda t: t.multinomial(t.ones(2), 3),
    "multinomial of three dims": lambda t: t.multinomial(t.ones(2, 2, 2), 1),
    "bernoulli of more than 1": lambda t: t.bernoulli(t.full((2,), 1.5)),
    "poisson of less than 0": lambda t: t.poisson(t.full((2,), -1.0)),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_creation_is_that_of_torch(call):
    try:
        expected = call(torch)
    except (RuntimeError, TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else (RuntimeError, ValueError)
        with pytest.raises((kind, ValueError) if kind is TypeError else kind):
            call(gs)
        return
    out = call(gs)
    assert f"torch.{out.dtype.name}" == str(expected.dtype)
    assert out.shape == tuple(expected.shape)
    assert out.requires_grad == expected.requires_grad
    np.testing.assert_allclose(out.detach().numpy(), expected.detach().numpy(), rtol=1e-6)


def test_what_shares_memory_and_what_is_a_copy():
    array = np.zeros(2, np.float32)
    shared, same, copied = gs.from_numpy(array), gs.as_tensor(array), gs.tensor(array)
    array[0] = 1
    assert shared.tolist() == same.tolist() == [1, 0]
    assert copied.tolist() == [0, 0]


@pytest.mark.parametrize("make", [gs.zeros, gs.rand, gs.empty], ids=lambda make: make.__name__)
def test_a_device_that_is_not_there_is_named(make):
    with pytest.raises(RuntimeError, match="no device 'cuda' here"):
        make(2, device="cuda")


@pytest.mark.torch
@pytest.mark.parametrize(
    "text",
    [
        "t.tensor([0.4], dtype=t.float64)", "t.tensor(1e300, dtype=t.float64)", "t.as_tensor([0.3], dtype=t.float64)",
        "t.tensor([16777217.0], dtype=t.int64)", "t.tensor([np.float64(0.1)])", "t.tensor([np.float32(0.1)])",
        "t.tensor((t.tensor(0.1, dtype=t.float64), t.tensor(0.2, dtype=t.float64)))", "t.DoubleTensor([0.1])",
        "t.tensor([True, 2.5])", "t.tensor([1.5], dtype=t.bool)", "t.ones(1, dtype=t.float64).new_tensor([0.1])",
    ],
)  # fmt: skip
def test_numbers_keep_their_digits(text):
    torch = pytest.importorskip("torch")
    mine, other = (eval(text, {"t": t, "np": np}) for t in (gs, torch))
    assert str(mine.dtype) == str(other.dtype)
    assert mine.tolist() == other.tolist()
