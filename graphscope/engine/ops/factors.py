"""Triangular factors of matrices, and systems solved with them: LU with pivots, and Cholesky's.

Gradients of LU: Giles, "An extended collection of matrix derivative results", 2008; PyTorch's `FunctionsManual.cpp`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from graphscope.engine.core import shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.composite import composite
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.inverses import floating_matrix, inv, solve_triangular
from graphscope.engine.ops.linalg import constant, matmul
from graphscope.engine.ops.triangular import tril, triu

__all__ = ["cholesky_inverse", "cholesky_solve", "lu_solve", "lu_unpack", "triangular_solve"]


def _eliminated(x: Any) -> tuple[Any, Any]:
    """Both factors in one matrix, and with which row each was swapped, from 1: Gauss with partial pivoting."""
    out = x.copy()
    rows, columns = x.shape[-2:]
    pivots = np.empty((*x.shape[:-2], min(rows, columns)), np.int32)
    count = math.prod(x.shape[:-2])
    for matrix, swapped in zip(out.reshape(count, rows, columns), pivots.reshape(count, pivots.shape[-1]), strict=True):
        for at in range(len(swapped)):
            column = matrix[at:, at]  # complex numbers are compared as LAPACK does it
            best = at + int(np.argmax(np.abs(column.real) + np.abs(column.imag)))
            swapped[at] = best + 1
            if best != at:
                matrix[[at, best]] = matrix[[best, at]]
            if matrix[at, at] != 0:
                matrix[at + 1 :, at] /= matrix[at, at]
                matrix[at + 1 :, at + 1 :] -= np.outer(matrix[at + 1 :, at], matrix[at, at + 1 :])
    return out, pivots


def _order(pivots: np.ndarray, rows: int) -> np.ndarray:
    """Where each row of P · x came from, from swaps one after the other."""
    out = np.broadcast_to(np.arange(rows), (*pivots.shape[:-1], rows)).copy()
    count = math.prod(pivots.shape[:-1])
    for order, swapped in zip(out.reshape(count, rows), pivots.reshape(count, pivots.shape[-1]), strict=True):
        for at, other in enumerate(swapped - 1):
            order[[at, other]] = order[[other, at]]
    return out


def _permutation(pivots: np.ndarray, rows: int, dtype: Any) -> np.ndarray:
    """P, so that x = P · L · U."""
    out: np.ndarray = np.eye(rows, dtype=dtype)[_order(pivots, rows)].mT.copy()
    return out


def _unit(x: Any) -> Any:
    return constant(np.eye(x.shape[-2], x.shape[-1], dtype=x.dtype), x)


def _lower(x: Any) -> Any:
    """The lower factor of both in one: 1 on the diagonal."""
    count = min(x.shape[-2:])
    part = tril(x, -1)[..., :, :count]
    return part + _unit(part)


def _upper(x: Any) -> Any:
    return triu(x)[..., : min(x.shape[-2:]), :]


def _lu_factor(x: Any) -> Any:
    floating_matrix("lu_factor", x, square=False, complex_too=True)
    both, pivots = _eliminated(x)
    return (both, pivots), pivots


def _lu_factor_rule(g: Any, out: Any, residuals: Any) -> Any:
    both = out[0]
    if both.shape[-2] != both.shape[-1]:
        raise RuntimeError("lu_factor: only square matrices have a gradient here")
    lower, upper = _lower(both), _upper(both)
    middle = tril(matmul(lower.mT, tril(g[0], -1)), -1) + triu(matmul(triu(g[0]), upper.mT))
    inner = solve_triangular(lower.mT, middle, upper=True, unitriangular=True)
    inner = solve_triangular(upper.mT, inner, upper=False, left=False)
    pivots = np.asarray(getattr(residuals, "array", residuals))
    return matmul(constant(_permutation(pivots, both.shape[-2], both.dtype), both), inner)


lu_factor: Any = define(
    "linalg_lu_factor", "Lower and upper factor of a matrix in one, and which rows were swapped.",
    formula="x = P · L · U", tensor_method=False, torch="linalg.lu_factor", outputs=("LU", "pivots"), residuals=True,
    grad_name="LinalgLuFactorExBackward0",
    prepare=lambda A, *, pivot=True: ((A,), _with_pivots(pivot)),
    forward=_lu_factor,
    vjp=[_lu_factor_rule],
    shape=lambda x: [x, (*x[:-2], min(x[-2:]))],
    samples=[("regular", (3, 3)), ("regular", (2, 3, 3))],
)  # fmt: skip


def _with_pivots(pivot: bool) -> dict[str, Any]:
    if not pivot:
        raise RuntimeError("lu_factor: LU without pivoting is not implemented on the CPU")
    return {}


class LU(NamedTuple):
    """What `lu` returns."""

    P: Any
    L: Any
    U: Any


def lu(A: Any, *, pivot: bool = True) -> LU:
    """A permutation P, L with 1 on its diagonal, and U, with A = P · L · U.

    Args:
        A: Matrices (..., m, n).
        pivot: There is no way without.
    """
    return lu_unpack(*lu_factor(A, pivot=pivot))


def lu_unpack(LU_data: Any, LU_pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True) -> LU:
    """P, L and U of what `lu_factor` returned; what is not asked for is empty."""
    nothing = Tensor(np.empty((0,), LU_data.dtype))
    rows = LU_data.shape[-2]
    p = Tensor(_permutation(np.asarray(LU_pivots.array), rows, LU_data.dtype)) if unpack_pivots else nothing
    return LU(p, _lower(LU_data), _upper(LU_data)) if unpack_data else LU(p, nothing, nothing)


@composite("Solution of a linear system whose matrix is given by its factors.", formula="P · L · U · out = B",
           torch=None, shape=lambda x, y, z, **_: shapes.broadcast(x[:-2], z[:-2]) + tuple(z[-2:]),
           samples=[("regular", (3, 3), np.array([2, 3, 3], np.int32), (3, 2)),
                    ("regular", (2, 2), np.array([1, 2], np.int32), (3, 2, 1))])  # fmt: skip
def linalg_lu_solve(LU: Any, pivots: Any, B: Any, *, left: bool = True, adjoint: bool = False) -> Any:
    """Solution of A · X = B from A's factors.

    Args:
        LU: Both factors in one, as `lu_factor` returns them.
        pivots: The swapped rows.
        B: Right sides (..., n, k).
        left: Whether A stands on the left of X.
        adjoint: Whether it is Aᴴ.
    """
    if not left:
        return linalg_lu_solve(LU, pivots, B.mH, adjoint=not adjoint).mH
    p = constant(_permutation(np.asarray(pivots.array), LU.shape[-2], LU.dtype), LU)
    if adjoint:
        inner = solve_triangular(LU.mH, B, upper=False)
        return matmul(p, solve_triangular(LU.mH, inner, upper=True, unitriangular=True))
    inner = solve_triangular(LU, matmul(p.mT, B), upper=False, unitriangular=True)
    return solve_triangular(LU, inner, upper=True)


def lu_solve(b: Any, LU_data: Any, LU_pivots: Any) -> Any:
    """Solution of A · X = b from A's factors, in the older order of arguments."""
    return linalg_lu_solve(LU_data, LU_pivots, b)


@composite("Solution of a linear system whose matrix is given by its Cholesky factor.", formula="y · yᵀ · out = x",
           shape=lambda x, y, **_: shapes.broadcast(y[:-2], x[:-2]) + tuple(x[-2:]), tensor_method=True, torch=None,
           samples=[("regular", (3, 2), (3, 3)), ("regular", (2, 1), (2, 2), {"upper": True})])  # fmt: skip
def cholesky_solve(B: Any, L: Any, upper: bool = False) -> Any:
    """Solution of A · X = B, where A = L · Lᴴ (or Lᴴ · L, with `upper`); of L the triangle alone is read."""
    if upper:
        return solve_triangular(L, solve_triangular(L.mH, B, upper=False), upper=True)
    return solve_triangular(L.mH, solve_triangular(L, B, upper=False), upper=True)


@composite("Inverse of a matrix that is given by its Cholesky factor.", formula="out = (x · xᵀ)⁻¹", shape=shapes.same,
           tensor_method=True, torch=None,
           samples=[("regular", (3, 3)), ("regular", (2, 2), {"upper": True})])  # fmt: skip
def cholesky_inverse(L: Any, upper: bool = False) -> Any:
    """Inverse of L · Lᴴ (or Lᴴ · L, with `upper`); of L the triangle alone is read."""
    part = triu(L) if upper else tril(L)
    return inv(matmul(part.mH, part) if upper else matmul(part, part.mH))


class TriangularSolution(NamedTuple):
    """What `triangular_solve` returns."""

    solution: Any
    cloned_coefficient: Any


def triangular_solve(
    b: Any, A: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> TriangularSolution:
    """Solution of A · X = b, where A is a triangle; `linalg.solve_triangular` is its newer name."""
    matrix = A.mT if transpose else A
    found = solve_triangular(matrix, b, upper=upper != transpose, unitriangular=unitriangular)
    return TriangularSolution(found, A.clone())


for _method in (lu_solve, triangular_solve):
    setattr(Tensor, _method.__name__, _method)
