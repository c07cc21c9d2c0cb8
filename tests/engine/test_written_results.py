"""Writing into what an op returned, before backward: the gradients are PyTorch's, and so is what raises."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engine.sampling import Tensor, arguments, flat, over_samples, results, run, tensors

torch = pytest.importorskip("torch")

from tests.engine.test_ops_against_torch import COMPARED, outcome, run_theirs, torch_tensors  # noqa: E402

pytestmark = pytest.mark.torch

SAVES_RESULT = {"erfinv", "erfinv_"}
"""Ops whose rule needs the result where PyTorch's needs the input."""
SAVES_NO_RESULT = {"linalg_slogdet", "linalg_svdvals", "linalg_eigvalsh"}
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
