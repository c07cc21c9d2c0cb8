"""Least squares, and linear algebra of tensors seen as matrices or vectors."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from graphscope.engine.core.composite import composite
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.complex_numbers import conj
from graphscope.engine.ops.decompositions import svdvals
from graphscope.engine.ops.distances import vector_shape
from graphscope.engine.ops.inverses import floating_matrix, inv, pinv, solve
from graphscope.engine.ops.linalg import matmul
from graphscope.engine.ops.norms import matrix_rank
from graphscope.engine.ops.reduce import sum
from graphscope.engine.ops.shape import permute, reshape, unsqueeze

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


@composite(
    "Sums of the products of vectors along a dim.", formula="out = Σ x · y", torch="linalg.vecdot",
    samples=[((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 3), (2, 1), {"dim": 0})], shape=vector_shape,
)  # fmt: skip
def vecdot(x: Any, y: Any, *, dim: int = -1) -> Any:
    """Sums of the products of vectors along `dim`, with broadcasting."""
    return sum(conj(x) * y, dim)


def vander(x: Any, *, N: int | None = None) -> Any:
    """Powers 0 to N - 1 of the elements of vectors, as rows of matrices."""
    if not x.shape:
        x = reshape(x, (1,))
    if x.dtype.kind in "biu":
        x = x.to(np.dtype("int64"))
    count = x.shape[-1] if N is None else N
    return unsqueeze(x, -1) ** Tensor(np.arange(count, dtype=x.dtype))


def tensorinv(A: Any, ind: int = 2) -> Any:
    """Inverse of the linear map from the dims behind `ind` to those in front of it."""
    front, back = tuple(A.shape[:ind]), tuple(A.shape[ind:])
    if math.prod(front) != math.prod(back):
        raise RuntimeError(f"tensorinv: {front} and {back} must have the same number of elements")
    return reshape(inv(reshape(A, (math.prod(front), math.prod(back)))), (*back, *front))


def tensorsolve(A: Any, B: Any, dims: Any = None) -> Any:
    """The tensor X for which `tensordot(A, X)` is B."""
    if dims is not None:
        order = [dim for dim in range(len(A.shape)) if dim not in {each % len(A.shape) for each in dims}]
        A = permute(A, (*order, *(each % len(A.shape) for each in dims)))  # noqa: N806
    made = tuple(A.shape[len(B.shape) :])
    return reshape(solve(reshape(A, (-1, math.prod(made))), reshape(B, (-1,))), made)
