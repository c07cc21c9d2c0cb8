"""Eigenvalues of matrices of any kind, which are complex numbers. They have no gradients here."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core.calls import define
from graphscope.engine.ops.flat_rules import refused
from graphscope.engine.ops.inverses import of_matrices


def _complex(x: Any) -> Any:
    """Which complex numbers are as exact."""
    return np.complex64 if x.dtype.itemsize == 4 or x.dtype == np.complex64 else np.complex128


def _eig(x: Any) -> Any:
    values, vectors = np.linalg.eig(x)
    return values.astype(_complex(x)), vectors.astype(_complex(x))


eig: Any = define(
    "linalg_eig", "Eigenvalues and eigenvectors of a square matrix, as complex numbers.",
    formula="x = V · diag L · V⁻¹", tensor_method=False, torch=None, outputs=("eigenvalues", "eigenvectors"),
    prepare=lambda A: ((A,), {}),
    forward=of_matrices("eig", _eig, complex_too=True),
    vjp=[refused],
    shape=lambda x: [x[:-1], x],
    samples=[((3, 3),), ((2, 2, 2),)],
)  # fmt: skip

eigvals: Any = define(
    "linalg_eigvals", "Eigenvalues of a square matrix, as complex numbers.", formula="out = L, x = V · diag L · V⁻¹",
    tensor_method=False, torch=None,
    prepare=lambda A: ((A,), {}),
    forward=of_matrices("eigvals", lambda x: np.linalg.eigvals(x).astype(_complex(x)), complex_too=True),
    vjp=[refused],
    shape=lambda x: x[:-1],
    samples=[((3, 3),), ((2, 2, 2),)],
)  # fmt: skip
