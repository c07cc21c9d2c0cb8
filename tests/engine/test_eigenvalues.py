"""Eigenvalues of matrices that are not symmetric, against PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

import graphscope as gs

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:.*deprecated")]

NUMBERS = np.random.default_rng(0)
SQUARE, RIGHT = NUMBERS.standard_normal((2, 3, 3)), NUMBERS.standard_normal((2, 3, 2))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_eigenvalues(dtype):
    found = []
    for t in (gs, torch):
        matrix = t.tensor(SQUARE, dtype=getattr(t, dtype))
        values, vectors = t.linalg.eig(matrix)
        close = 1e-4 if dtype == "float32" else 1e-10
        np.testing.assert_allclose(
            matrix.numpy() @ vectors.numpy(), vectors.numpy() * values.numpy()[..., None, :], atol=close
        )
        others = t.linalg.eigvals(matrix)
        assert (
            str(values.dtype) == str(others.dtype) == ("torch.complex64" if dtype == "float32" else "torch.complex128")
        )
        found.append([np.sort_complex(others.numpy()), np.sort(others.real.numpy()), np.sort(others.angle().numpy())])
    for mine, other in zip(*found, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-4 if dtype == "float32" else 1e-9, atol=1e-5)
