"""Least squares, and linear algebra of tensors seen as matrices or vectors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.decompositions import svdvals
from graphscope.engine.ops.inverses import floating_matrix, pinv
from graphscope.engine.ops.linalg import matmul
from graphscope.engine.ops.norms import matrix_rank
from graphscope.engine.ops.reduce import sum
from graphscope.engine.ops.shape import unsqueeze

__all__: list[str] = []


class LeastSquares(NamedTuple):
    """What `lstsq` returns."""

    solution: Any
    residuals: Any
    rank: Any
    singular_values: Any


def lstsq(A: Any, B: Any, rcond: float | None = None, *, driver: str | None = None) -> LeastSquares:
    """The X for which A · X is nearest to B, by the pseudoinverse of A, in batches.

    Args:
        A: Matrices (..., m, n).
        B: Right sides (..., m, k).
        rcond: Singular values below `rcond` times the largest count as 0.
        driver: Which routine PyTorch is to use; it tells residuals by all but `gelsy`, which is the default.

    Returns:
        The solution; the sums of squared residuals where m > n and A has full rank, else nothing; the rank, which
        `gels` does not tell; the singular values, which `gelsd` and `gelss` tell.
    """
    floating_matrix("lstsq", A, square=False)
    rows, columns = A.shape[-2:]
    vector = len(B.shape) == 1
    right = unsqueeze(B, -1) if vector else B
    if right.shape[-2] != rows:
        raise RuntimeError(
            f"lstsq: operands of shape {tuple(A.shape)} and {tuple(B.shape)} do not fit: "
            f"there are {rows} rows in the first and {right.shape[-2]} in the second"
        )
    solution = matmul(pinv(A, rtol=rcond), right)
    rank = matrix_rank(A, rtol=rcond)
    residuals = nothing = Tensor(np.empty((0,), A.dtype))
    if driver not in (None, "gelsy") and rows > columns and bool((np.asarray(rank.array) == columns).all()):
        missed = matmul(A, solution) - right
        residuals = sum(missed * missed, -2)
    values = svdvals(A.detach()) if driver in ("gelsd", "gelss") else nothing
    rank = Tensor(np.empty((0,), np.int64)) if driver == "gels" else rank
    return LeastSquares(solution[..., 0] if vector else solution, residuals, rank, values)
