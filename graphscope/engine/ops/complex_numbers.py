"""Complex numbers, to be looked at: their parts, and the eigenvalues that are such. They have no gradients here."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.calls import define
from graphscope.engine.ops.flat_rules import refused
from graphscope.engine.ops.inverses import of_matrices
from graphscope.engine.tensor import Tensor

__all__ = ["angle", "conj", "imag", "real"]


def real(input: Any) -> Any:
    """The real parts; of real numbers the tensor itself."""
    return input if input.dtype.kind != "c" else Tensor(input.array.real)


def imag(input: Any) -> Any:
    """The imaginary parts.

    Raises:
        RuntimeError: The numbers are real.
    """
    if input.dtype.kind != "c":
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return Tensor(input.array.imag)


def conj(input: Any) -> Any:
    """The conjugates of complex numbers; of real numbers the tensor itself."""
    return input if input.dtype.kind != "c" else Tensor(input.array.conj())


def angle(input: Any) -> Any:
    """The angles of complex numbers, in radians; of real numbers 0 or π."""
    found = np.angle(input.array)
    found = np.where(np.isnan(input.array), np.nan, found)
    return Tensor(found.astype(np.float32 if input.dtype.kind in "biu" else found.dtype)[()])


def _complex(x: Any) -> Any:
    """Which complex numbers are as exact."""
    return np.complex64 if x.dtype == np.float32 else np.complex128


def _eig(x: Any) -> Any:
    values, vectors = np.linalg.eig(x)
    return values.astype(_complex(x)), vectors.astype(_complex(x))


eig: Any = define(
    "linalg_eig", "Eigenvalues and eigenvectors of a square matrix, as complex numbers.",
    formula="x = V · diag L · V⁻¹", tensor_method=False, torch=None, outputs=("eigenvalues", "eigenvectors"),
    prepare=lambda A: ((A,), {}),
    forward=of_matrices("eig", _eig),
    vjp=[refused],
    shape=lambda x: [x[:-1], x],
    samples=[((3, 3),), ((2, 2, 2),)],
)  # fmt: skip

eigvals: Any = define(
    "linalg_eigvals", "Eigenvalues of a square matrix, as complex numbers.", formula="out = L, x = V · diag L · V⁻¹",
    tensor_method=False, torch=None,
    prepare=lambda A: ((A,), {}),
    forward=of_matrices("eigvals", lambda x: np.linalg.eigvals(x).astype(_complex(x))),
    vjp=[refused],
    shape=lambda x: x[:-1],
    samples=[((3, 3),), ((2, 2, 2),)],
)  # fmt: skip

setattr(Tensor, "real", property(real))  # noqa: B010
setattr(Tensor, "imag", property(imag))  # noqa: B010
setattr(Tensor, "conj", conj)  # noqa: B010
setattr(Tensor, "angle", angle)  # noqa: B010
