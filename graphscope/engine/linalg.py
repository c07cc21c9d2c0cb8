"""Linear algebra, as `torch.linalg` spells it."""

from __future__ import annotations

from typing import Any

from numpy.linalg import LinAlgError

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.ops.decompositions import cholesky_l as cholesky
from graphscope.engine.ops.decompositions import eigh, eigvalsh, qr, svdvals
from graphscope.engine.ops.decompositions import svd_full as svd
from graphscope.engine.ops.distances import cross_product as cross
from graphscope.engine.ops.eigenvalues import eig, eigvals
from graphscope.engine.ops.inverses import det, inv, pinv, slogdet, solve_triangular
from graphscope.engine.ops.inverses import solve as _solve
from graphscope.engine.ops.least_squares import lstsq
from graphscope.engine.ops.linalg import matmul
from graphscope.engine.ops.matrix_chains import matrix_power
from graphscope.engine.ops.norms import linalg_cond as cond
from graphscope.engine.ops.norms import linalg_norm as norm
from graphscope.engine.ops.norms import matrix_norm, matrix_rank, vector_norm

__all__ = [
    "LinAlgError",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_triangular",
    "svd",
    "svdvals",
    "vector_norm",
]


def solve(A: Any, B: Any, *, left: bool = True) -> Any:  # noqa: N803 - PyTorch's spelling
    """Solution of the linear system A · X = B, or of X · A = B where `left` is False.

    Raises:
        RuntimeError: A is not square, singular, or does not fit B.
    """
    return _solve(A, B) if left else _solve(A.mT, B.mT).mT


def diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:  # noqa: N803 - PyTorch's spelling
    """Diagonals of matrices."""
    return A.diagonal(offset, dim1, dim2)


_answer_for(__name__)
