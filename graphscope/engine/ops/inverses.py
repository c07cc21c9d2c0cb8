"""Inverses, determinants, and the solutions of linear systems; of single matrices and of batches.

Gradients: Giles, "An extended collection of matrix derivative results for forward and reverse mode algorithmic
differentiation", 2008; that of the pseudoinverse is Golub and Pereyra's, 1973.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core import shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.linalg import check_square, constant

__all__ = ["det", "inverse", "logdet", "slogdet"]

_WELL = "regular"
"""Marks samples whose matrices are well away from singular ones."""


def floating_matrix(name: str, x: Any, *, square: bool = True, complex_too: bool = False) -> None:
    """Refuse what has no decomposition.

    Raises:
        RuntimeError: It is no matrix or batch of matrices, not square where that is asked for, or not floating (complex
            ones are taken where `complex_too` says so).
    """
    if square:
        check_square(name, x)
    elif len(x.shape) < 2:
        raise RuntimeError(f"{name}: the input has {len(x.shape)} dims; it must have at least 2 to be a matrix")
    if x.dtype.kind not in "fc":
        raise RuntimeError(f"{name}: the input is {x.dtype}; it must be floating: convert it with x.float()")
    if x.dtype.kind == "c" and not complex_too:
        raise RuntimeError(f"{name}: complex matrices are not offered here")


def of_matrices(name: str, forward: Any, *, square: bool = True, complex_too: bool = False) -> Any:
    """A forward that looks at its matrices first."""

    def checked(x: Any, *others: Any, **attrs: Any) -> Any:
        floating_matrix(name, x, square=square, complex_too=complex_too)
        return forward(x, *others, **attrs)

    return checked


inv = define(
    "linalg_inv", "Inverse of a square matrix.", tensor_method=False, aliases=("inverse",),
    torch="linalg.inv", grad_name="LinalgInvExBackward0",
    forward=of_matrices("inv", np.linalg.inv, complex_too=True),
    vjp=[lambda g, out: -(out.mT @ g @ out.mT)],
    shape=shapes.same,
    samples=[(_WELL, (3, 3)), (_WELL, (2, 2, 2)), (_WELL, (0, 0))],
)  # fmt: skip
inverse = inv


def _cofactors(x: Any) -> Any:
    """The derivatives of a determinant by the elements; also of a singular matrix: from U S Vᵀ = x."""
    u, s, vh = np.linalg.svd(x)
    count = s.shape[-1]
    others = np.broadcast_to(s[..., None, :], (*s.shape, count)).copy()
    others[..., np.arange(count), np.arange(count)] = 1
    sign = np.linalg.det(u) * np.linalg.det(vh)
    return (u * (others.prod(-1) * sign[..., None])[..., None, :]) @ vh


def _det_rule(g: Any, x: Any, out: Any) -> Any:
    if isinstance(g, Tensor) or x.dtype.kind == "c":
        return (g * out)[..., None, None] * inv(x).mT
    return np.asarray(g)[..., None, None] * _cofactors(x)


def _matrix_gone(x: Any, **_: Any) -> Any:
    return x[:-2]


det = define(
    "linalg_det", "Determinant of a square matrix.", tensor_method=False, aliases=("det",),
    torch="linalg.det",
    forward=of_matrices("det", np.linalg.det, complex_too=True),
    vjp=[_det_rule],
    shape=_matrix_gone,
    samples=[(_WELL, (3, 3)), (_WELL, (2, 2, 2))],
)  # fmt: skip

slogdet = define(
    "linalg_slogdet", "Sign of a determinant, and the logarithm of its absolute value.",
    formula="out = sgn det x, ln |det x|", tensor_method=False, aliases=("slogdet",), torch="linalg.slogdet",
    outputs=("sign", "logabsdet"),
    forward=of_matrices("slogdet", lambda x: tuple(np.linalg.slogdet(x))),
    vjp=[lambda g, x: g[1][..., None, None] * inv(x).mT],
    shape=lambda x: [x[:-2], x[:-2]],
    samples=[(_WELL, (3, 3)), (_WELL, (2, 2, 2))],
)  # fmt: skip


def logdet(input: Any) -> Any:
    """Logarithm of the determinant; nan where it is negative."""
    sign, logarithm = slogdet(input)
    return logarithm + constant(np.where(np.asarray(sign) < 0, np.nan, 0).astype(input.dtype)[()], input)


def is_vector(x: Any, y: Any) -> bool:
    """Whether the right side of x · out = y is a vector, or a batch of vectors, as PyTorch reads it."""
    return len(y) == 1 or (len(x) - 1 == len(y) and tuple(x[:-1]) == tuple(y))


def _solve(x: Any, y: Any) -> Any:
    floating_matrix("solve", x, complex_too=True)
    return np.linalg.solve(x, y[..., None])[..., 0] if is_vector(x.shape, y.shape) else np.linalg.solve(x, y)


def _solve_shape(x: Any, y: Any, **_: Any) -> Any:
    if is_vector(x, y):
        return shapes.broadcast(x[:-1], y)
    return shapes.broadcast(x[:-2], y[:-2]) + tuple(y[-2:])


def _solve_matrix_rule(g: Any, x: Any, out: Any) -> Any:
    found = solve_adjoint(g, x, out)
    if is_vector(x.shape, out.shape):
        return -(found[..., None] * out[..., None, :])
    return -(found @ out.mT)


def solve_adjoint(g: Any, x: Any, out: Any) -> Any:
    """The cotangent of the right side."""
    if is_vector(x.shape, out.shape):
        return solve(x.mT, g[..., None])[..., 0]
    return solve(x.mT, g)


solve: Any = define(
    "linalg_solve", "Solution of the linear system x · out = y.", tensor_method=False,
    torch="linalg.solve", grad_name="LinalgSolveExBackward0",
    prepare=lambda A, B: ((A, B), {}),
    forward=_solve,
    vjp=[_solve_matrix_rule,
         solve_adjoint],
    shape=_solve_shape,
    samples=[(_WELL, (3, 3), (3, 2)), (_WELL, (3, 3), (3,)), (_WELL, (2, 2, 2), (2, 2, 1)), (_WELL, (2, 2), (3, 2, 1)),
             (_WELL, (2, 3, 3), (2, 3))],
)  # fmt: skip


def _triangle(x: Any, upper: bool, unit: bool) -> Any:
    part = np.triu(x) if upper else np.tril(x)
    if unit:
        diagonal = np.arange(x.shape[-1])
        part = part.copy()
        part[..., diagonal, diagonal] = 1
    return part


def _triangular_rule(g: Any, x: Any, out: Any, *, upper: bool, left: bool, unitriangular: bool) -> Any:
    found = solve_triangular(x.mT, g, upper=not upper, left=left, unitriangular=unitriangular)
    full = -(found @ out.mT) if left else -(out.mT @ found)
    kept = _triangle(np.ones(tuple(full.shape), full.dtype), upper, False)
    return full * constant(kept - np.eye(full.shape[-1], dtype=full.dtype) if unitriangular else kept, full)


def _solve_triangular(x: Any, y: Any, *, upper: bool, left: bool, unitriangular: bool) -> Any:
    floating_matrix("solve_triangular", x, complex_too=True)
    part = _triangle(x, upper, unitriangular)
    return np.linalg.solve(part, y) if left else np.linalg.solve(part.mT, y.mT).mT


solve_triangular: Any = define(
    "linalg_solve_triangular", "Solution of a linear system whose matrix x is a triangle; the rest of x is not read.",
    formula="out = x⁻¹ · y", tensor_method=False, torch="linalg.solve_triangular",
    prepare=lambda A, B, *, upper, left=True, unitriangular=False: (
        (A, B), {"upper": upper, "left": left, "unitriangular": unitriangular}
    ),
    forward=_solve_triangular,
    vjp=[_triangular_rule,
         lambda g, x, *, upper, left, unitriangular: solve_triangular(
             x.mT, g, upper=not upper, left=left, unitriangular=unitriangular)],
    shape=lambda x, y, **_: shapes.broadcast(x[:-2], y[:-2]) + tuple(y[-2:]),
    samples=[(_WELL, (3, 3), (3, 2), {"upper": True}), (_WELL, (2, 3, 3), (3, 2), {"upper": False}),
             (_WELL, (3, 3), (2, 3), {"upper": False, "left": False}),
             (_WELL, (3, 3), (3, 2), {"upper": True, "unitriangular": True})],
)  # fmt: skip


def _pinv_rule(g: Any, x: Any, out: Any) -> Any:
    rows, columns = x.shape[-2:]
    gt = g.mT
    if rows <= columns:
        inner = gt @ out
        outer = inner @ out.mT
        return -(out @ inner).mT + outer - (x @ out) @ outer + (out.mT @ out) @ (gt - inner @ x)
    inner = out @ gt
    outer = out.mT @ inner
    return -(inner @ out).mT + (gt - x @ inner) @ out @ out.mT + outer - (outer @ out) @ x


def _pinv(x: Any, *, atol: Any, rtol: Any, hermitian: bool) -> Any:
    floating_matrix("pinv", x, square=hermitian)
    if 0 in x.shape:
        return np.zeros((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    large = s > _tolerance(s, x.shape, atol, rtol)[..., None]
    inverse = np.where(large, 1 / np.where(large, s, 1), 0).astype(x.dtype)
    return (vh.mT * inverse[..., None, :]) @ u.mT


def _tolerance(s: Any, shape: Any, atol: Any, rtol: Any) -> Any:
    """Below which singular values count as 0: the larger of `atol` and `rtol` times the largest one."""
    if rtol is None:
        rtol = max(shape[-2:]) * np.finfo(s.dtype).eps if atol is None or not np.any(np.asarray(atol) > 0) else 0.0
    return np.maximum(np.asarray(0.0 if atol is None else atol), np.asarray(rtol) * s.max(-1, initial=0))


pinv = define(
    "linalg_pinv", "Pseudoinverse of a matrix (Moore and Penrose).", formula="out = x⁺", tensor_method=False,
    torch="linalg.pinv",
    prepare=lambda A, *, atol=None, rtol=None, hermitian=False: (
        (A,), {"atol": atol, "rtol": rtol, "hermitian": hermitian}
    ),
    forward=_pinv,
    vjp=[_pinv_rule],
    shape=lambda x, **_: (*x[:-2], x[-1], x[-2]),
    samples=[((2, 3),), ((3, 2),), (_WELL, (2, 2, 2))],
)  # fmt: skip
