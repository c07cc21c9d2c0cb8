"""Linear algebra, as `torch.linalg` spells it."""

from __future__ import annotations

from typing import Any

from numpy.linalg import LinAlgError as LinAlgError

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.ops.decompositions import cholesky_l, svd_full
from graphscope.engine.ops.decompositions import eigh as eigh
from graphscope.engine.ops.decompositions import eigvalsh as eigvalsh
from graphscope.engine.ops.decompositions import qr as qr
from graphscope.engine.ops.decompositions import svdvals as svdvals
from graphscope.engine.ops.distances import cross_product
from graphscope.engine.ops.eigenvalues import eig as eig
from graphscope.engine.ops.eigenvalues import eigvals as eigvals
from graphscope.engine.ops.inverses import det as det
from graphscope.engine.ops.inverses import inv as inv
from graphscope.engine.ops.inverses import pinv as pinv
from graphscope.engine.ops.inverses import slogdet as slogdet
from graphscope.engine.ops.inverses import solve as _solve
from graphscope.engine.ops.inverses import solve_triangular as solve_triangular
from graphscope.engine.ops.linalg import matmul as matmul
from graphscope.engine.ops.norms import linalg_norm
from graphscope.engine.ops.norms import matrix_norm as matrix_norm
from graphscope.engine.ops.norms import vector_norm as vector_norm

cholesky, cross, norm, svd = cholesky_l, cross_product, linalg_norm, svd_full


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
