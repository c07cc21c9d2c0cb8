"""Linear algebra, as `torch.linalg` spells it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.linalg import LinAlgError

from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.decompositions import cholesky_l as cholesky
from graphscope.engine.ops.decompositions import eigh, eigvalsh, qr, svdvals
from graphscope.engine.ops.decompositions import svd_full as svd
from graphscope.engine.ops.distances import cross_product as cross
from graphscope.engine.ops.eigenvalues import eig, eigvals
from graphscope.engine.ops.factors import linalg_lu_solve as lu_solve
from graphscope.engine.ops.factors import lu, lu_factor
from graphscope.engine.ops.inverses import det, floating_matrix, inv, matrix_exp, pinv, slogdet, solve_triangular
from graphscope.engine.ops.inverses import solve as _solve
from graphscope.engine.ops.least_squares import lstsq, tensorinv, tensorsolve, vander, vecdot
from graphscope.engine.ops.linalg import matmul
from graphscope.engine.ops.matrix_chains import matrix_power, multi_dot
from graphscope.engine.ops.norms import linalg_cond as cond
from graphscope.engine.ops.norms import linalg_norm as norm
from graphscope.engine.ops.norms import matrix_norm, matrix_rank, vector_norm

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "inv_ex",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
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


class Factors(NamedTuple):
    """A Cholesky factor, and whether there is none: 0, or 1."""

    L: Any
    info: Any


class Inverse(NamedTuple):
    """An inverse, and whether there is none: 0, or 1."""

    inverse: Any
    info: Any


class Solution(NamedTuple):
    """A solution, and whether there is none: 0, or 1."""

    result: Any
    info: Any


class FactorsWithPivots(NamedTuple):
    """The factors of `lu_factor`, and 0, or which of the pivots, from 1, is the first that is 0."""

    LU: Any
    pivots: Any
    info: Any


def _tried(of: Any, matrices: Any, check_errors: bool, call: Callable[[], Any]) -> Any:
    """A result, or NaN in its place, and whether it failed for any of the matrices."""
    floating_matrix(of.__name__.lower(), matrices, complex_too=True)
    shape = tuple(matrices.shape[:-2])
    try:
        return of(call(), Tensor(np.zeros(shape, np.int32)[()]))
    except (RuntimeError, LinAlgError):
        if check_errors:
            raise
        return of(matrices * float("nan"), Tensor(np.ones(shape, np.int32)[()]))


def cholesky_ex(A: Any, *, upper: bool = False, check_errors: bool = False) -> Factors:  # noqa: N803 - PyTorch's spelling
    """`cholesky`, which tells of a matrix that is not positive definite instead of raising."""
    found: Factors = _tried(Factors, A, check_errors, lambda: cholesky(A, upper=upper))
    return found


def inv_ex(A: Any, *, check_errors: bool = False) -> Inverse:  # noqa: N803 - PyTorch's spelling
    """`inv`, which tells of a singular matrix instead of raising."""
    found: Inverse = _tried(Inverse, A, check_errors, lambda: inv(A))
    return found


def solve_ex(A: Any, B: Any, *, left: bool = True, check_errors: bool = False) -> Solution:  # noqa: N803 - PyTorch's spelling
    """`solve`, which tells of a singular matrix instead of raising."""
    found: Solution = _tried(Solution, A, check_errors, lambda: solve(A, B, left=left))
    return found


def lu_factor_ex(A: Any, *, pivot: bool = True, check_errors: bool = False) -> FactorsWithPivots:  # noqa: N803
    """`lu_factor`, which tells which pivot is 0."""
    both, pivots = lu_factor(A, pivot=pivot)
    zero = np.diagonal(both.array, 0, -2, -1) == 0
    info = np.where(zero.any(-1), zero.argmax(-1) + 1, 0).astype(np.int32)
    if check_errors and info.any():
        raise RuntimeError(f"lu_factor_ex: U[{info.max()},{info.max()}] is 0: the matrix is singular")
    return FactorsWithPivots(both, pivots, Tensor(info[()]))
