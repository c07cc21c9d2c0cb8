"""Writing into what an op returned, before backward: the gradients are PyTorch's, and so is what raises."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs
from tests.engine.sampling import Tensor, arguments, flat, over_samples, results, run, tensors

torch = pytest.importorskip("torch")

from tests.engine.test_ops_against_torch import COMPARED, outcome, run_theirs, torch_tensors  # noqa: E402

pytestmark = pytest.mark.torch

SAVES_RESULT = {"erfinv", "erfinv_"}
"""Ops whose rule needs the result where PyTorch's needs the input."""
SAVES_NO_RESULT = {"linalg_slogdet", "linalg_svdvals", "linalg_eigvalsh", "scaled_dot_product_attention",
                   "householder_product"}  # fmt: skip
"""Ops whose rule needs no result where PyTorch's does."""
VIEWS_LEAF = {"einsum"}
"""Ops that may give PyTorch's caller a view of a leaf, and ours a copy."""


def written(out):
    """Doubles the first result that has a gradient, and runs backward from it."""
    wanting = next((part for part in results(out) if part.requires_grad), None)
    if wanting is not None:
        wanting.mul_(2.0)
        wanting.sum().backward()


@over_samples([(op, sample) for op, sample in COMPARED if op.name not in SAVES_RESULT | SAVES_NO_RESULT | VIEWS_LEAF])
def test_a_result_is_written_into_as_in_torch(op, sample):
    made, attrs = arguments(op, sample)
    ours, theirs = tensors(made), torch_tensors(made)
    expected = outcome(lambda: written(run_theirs(op, theirs, attrs)))
    found = outcome(lambda: written(run(op, ours, attrs)))
    assert isinstance(found, Exception) == isinstance(expected, Exception), (found, expected)
    for mine, other in zip(flat(ours), flat(theirs), strict=True):
        if expected is None and isinstance(mine, Tensor) and mine.grad is not None:
            np.testing.assert_allclose(mine.grad.array, other.grad.numpy(), rtol=1e-7, atol=1e-9)


LAYERS = [
    ("BatchNorm1d", 3), ("InstanceNorm1d", 3), ("LayerNorm", 4), ("GroupNorm", 3, 3), ("RMSNorm", 4),
    ("MaxPool1d", 2), ("AvgPool1d", 2), ("AdaptiveMaxPool1d", 2), ("Conv1d", 3, 2, 3),
    ("ConvTranspose1d", 3, 2, 3), ("Linear", 4, 2), ("PReLU", 3), ("Upsample", 8),
]  # fmt: skip


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer[0])
def test_a_rectifier_writes_into_what_a_layer_returned(layer):
    name, *sizes = layer
    numbers = np.random.default_rng(5).standard_normal((2, 3, 4)).astype("float32")
    mine, other = (getattr(t.nn, name)(*sizes) for t in (gs, torch))
    other.load_state_dict({key: torch.from_numpy(np.array(value.array)) for key, value in mine.state_dict().items()})
    gradients = []
    for t, module in ((gs, mine), (torch, other)):
        x = t.tensor(numbers, requires_grad=True)
        out = t.nn.Sequential(module, t.nn.ReLU(inplace=True))(x)
        (out * t.arange(1.0, out.shape[-1] + 1)).sum().backward()
        gradients.append([x.grad.numpy(), *(parameter.grad.numpy() for parameter in module.parameters())])
    for found, expected in zip(*gradients, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
