"""Matrices as products of simpler ones: Cholesky, QR, singular values, eigenvalues; of single matrices and of batches.

Gradients are PyTorch's (`FunctionsManual.cpp`). Cholesky: Murray, "Differentiation of the Cholesky decomposition",
2016. QR: Walter and Lehmann, 2012. Singular values: Townsend, "Differentiating the singular value decomposition", 2016.
Eigenvectors and singular vectors have gradients only where the values differ from each other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core import shapes
from graphscope.engine.core.calls import define
from graphscope.engine.ops.inverses import floating_matrix, inv, of_matrices
from graphscope.engine.ops.joining import cat
from graphscope.engine.ops.linalg import constant

__all__ = ["cholesky", "qr", "svd"]


def _mask(x: Any, part: Any) -> Any:
    """Ones where a triangle of a matrix like x is."""
    return constant(part(np.ones(tuple(x.shape[-2:]), x.dtype)), x)


def _unit(x: Any) -> Any:
    return constant(np.eye(x.shape[-1], dtype=x.dtype), x)


def _cholesky(x: Any, *, upper: bool) -> Any:
    floating_matrix("cholesky", x, complex_too=True)
    lower = np.linalg.cholesky(_adjoint(x) if upper else x)
    return _adjoint(lower) if upper else lower


def _adjoint(x: Any) -> Any:
    return x.mT if x.dtype.kind != "c" else x.mT.conj()


def _cholesky_rule(g: Any, out: Any, *, upper: bool) -> Any:
    # Of complex numbers this is the gradient as by convention, and a rule gives the conjugate of that.
    g = _adjoint(g).mT if not upper else g.mT
    lower = _adjoint(out) if upper else out
    phi = (_adjoint(lower) @ g) * _mask(g, np.tril)
    inverse = inv(lower)
    found = _adjoint(inverse) @ (phi + _adjoint(phi * (1 - _unit(g)))) @ inverse
    return _adjoint(found.mT) * 0.5


cholesky_l = define(
    "linalg_cholesky", "The triangle whose product with its transpose is x, symmetric and positive definite.",
    formula="x = out · outᵀ", tensor_method=False, torch="linalg.cholesky", grad_name="LinalgCholeskyExBackward0",
    prepare=lambda A, *, upper=False: ((A,), {"upper": upper}),
    forward=_cholesky,
    vjp=[_cholesky_rule],
    shape=shapes.same,
    samples=[("positive definite", (3, 3)), ("positive definite", (2, 2, 2), {"upper": True})],
)  # fmt: skip


def cholesky(input: Any, upper: bool = False) -> Any:
    """The triangle whose product with its transpose is `input`."""
    return cholesky_l(input, upper=upper)


def _qr(x: Any, *, mode: str) -> Any:
    floating_matrix("qr", x, square=False)
    if mode == "r":
        return np.zeros((0,), x.dtype), np.linalg.qr(x, "r")
    return tuple(np.linalg.qr(x, "complete" if mode == "complete" else "reduced"))


def _to_qr(A: Any, mode: str = "reduced") -> Any:
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(f"qr: mode is {mode!r}; it must be one of 'reduced', 'complete' and 'r'")
    return (A,), {"mode": mode}


def _tall_qr(gq: Any, gr: Any, q: Any, r: Any) -> Any:
    """Of a matrix that has no more columns than rows."""
    middle = (gr @ r.mT - q.mT @ gq) * _mask(r, np.triu)
    whole = (middle + middle.mT) * (_mask(r, np.ones_like) - _unit(r) * 0.5)
    return (gq + q @ whole) @ inv(r).mT


def _qr_rule(g: Any, x: Any, out: Any, *, mode: str) -> Any:
    if mode == "r" or (mode == "complete" and x.shape[-2] > x.shape[-1]):
        raise RuntimeError(f"qr with mode={mode!r} has no gradient here: use mode='reduced'")
    (gq, gr), (q, r) = g, out
    rows, columns = x.shape[-2:]
    if rows >= columns:
        return _tall_qr(gq, gr, q, r)
    wide = gr[..., :, rows:]
    first = _tall_qr(gq + x[..., :, rows:] @ wide.mT, gr[..., :, :rows], q, r[..., :, :rows])
    return cat([first, q @ wide], -1)


def _qr_shape(x: Any, *, mode: str) -> Any:
    rows, columns = x[-2:]
    inner = rows if mode == "complete" else min(rows, columns)
    q = (0,) if mode == "r" else (*x[:-1], inner)
    return [q, (*x[:-2], inner, columns)]


qr = define(
    "linalg_qr", "A matrix as the product of one with orthonormal columns and an upper triangle.",
    formula="x = Q · R, Qᵀ · Q = 1", tensor_method=False, aliases=("qr",), torch="linalg.qr", outputs=("Q", "R"),
    prepare=_to_qr,
    forward=_qr,
    vjp=[_qr_rule],
    shape=_qr_shape,
    samples=[((3, 3),), ((4, 2),), ((2, 4),), ((2, 3, 2),)],
)  # fmt: skip


def _svd_rule(g: Any, out: Any) -> Any:
    (gu, gs, gvh), (u, s, vh) = g, out
    count = s.shape[-1]
    u, gu, v, gv = u[..., :, :count], gu[..., :, :count], vh[..., :count, :].mT, gvh[..., :count, :].mT
    unit = _unit(s)
    square = s * s
    gaps = square[..., None, :] - square[..., :, None] + unit
    left, right = u.mT @ gu, v.mT @ gv
    inner = (left - left.mT) / gaps * s[..., None, :] + s[..., :, None] * ((right - right.mT) / gaps)
    found = u @ (inner + unit * gs[..., None, :]) @ v.mT
    if u.shape[-2] > count:
        found = found + (gu - u @ left) / s[..., None, :] @ v.mT
    if v.shape[-2] > count:
        found = found + u / s[..., None, :] @ (gv - v @ right).mT
    return found


def _svd_shape(x: Any, *, full_matrices: bool = False) -> Any:
    rows, columns = x[-2:]
    inner = min(rows, columns)
    left, right = (rows, columns) if full_matrices else (inner, inner)
    return [(*x[:-1], left), (*x[:-2], inner), (*x[:-2], right, columns)]


svd_full = define(
    "linalg_svd", "A matrix as a product of rotations and a diagonal of singular values, the largest first.",
    formula="x = U · diag S · Vh", tensor_method=False, torch=None, outputs=("U", "S", "Vh"),
    prepare=lambda A, full_matrices=True: ((A,), {"full_matrices": full_matrices}),
    forward=of_matrices("svd", lambda x, *, full_matrices: tuple(np.linalg.svd(x, full_matrices)), square=False),
    vjp=[_svd_rule],
    shape=_svd_shape,
    samples=[("regular", (3, 3)), ((4, 2), {"full_matrices": False}), ((2, 4), {"full_matrices": False}),
             ((2, 3, 2), {"full_matrices": False})],
)  # fmt: skip


def svd(input: Any, some: bool = True, compute_uv: bool = True) -> Any:
    """U, S and V (not transposed) with `input` = U · diag S · Vᵀ."""
    u, s, vh = svd_full(input, full_matrices=not some)
    return (u, s, vh.mT)


def _svdvals_rule(g: Any, x: Any) -> Any:
    u, _, vh = svd_full(x, full_matrices=False)
    return (u * g[..., None, :]) @ vh


svdvals = define(
    "linalg_svdvals", "Singular values of a matrix, the largest first.", formula="out = S, x = U · diag S · Vh",
    tensor_method=False, torch="linalg.svdvals", grad_name="LinalgSvdBackward0",
    forward=of_matrices("svdvals", lambda x: np.linalg.svd(x, compute_uv=False), square=False),
    vjp=[_svdvals_rule],
    shape=lambda x: (*x[:-2], min(x[-2:])),
    samples=[((3, 3),), ((4, 2),), ((2, 2, 3),)],
)  # fmt: skip


def _eigh_rule(g: Any, out: Any) -> Any:
    (gl, gv), (values, vectors) = g, out
    unit = _unit(vectors)
    gaps = values[..., None, :] - values[..., :, None] + unit
    turned = (vectors.mT @ gv) / gaps * (1.0 - unit)
    return vectors @ (turned + unit * gl[..., None, :]) @ vectors.mT


def _to_eigh(A: Any, UPLO: str = "L") -> Any:
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"eigh: UPLO is {UPLO!r}; it must be 'L' or 'U'")
    return (A,), {"UPLO": UPLO.upper()}


eigh = define(
    "linalg_eigh", "Eigenvalues, the smallest first, and eigenvectors of a symmetric matrix.",
    formula="x = V · diag L · Vᵀ", tensor_method=False, torch=None, outputs=("eigenvalues", "eigenvectors"),
    prepare=_to_eigh,
    forward=of_matrices("eigh", lambda x, *, UPLO: tuple(np.linalg.eigh(x, UPLO))),
    vjp=[_eigh_rule],
    shape=lambda x, **_: [x[:-1], x],
    samples=[("symmetric", (3, 3)), ("symmetric", (2, 2, 2))],
)  # fmt: skip


def _eigvalsh_rule(g: Any, x: Any, *, UPLO: str) -> Any:
    _, vectors = eigh(x, UPLO)
    return (vectors * g[..., None, :]) @ vectors.mT


eigvalsh = define(
    "linalg_eigvalsh", "Eigenvalues of a symmetric matrix, the smallest first.", formula="out = L, x = V · diag L · Vᵀ",
    tensor_method=False, torch="linalg.eigvalsh", grad_name="LinalgEighBackward0",
    prepare=_to_eigh,
    forward=of_matrices("eigvalsh", lambda x, *, UPLO: np.linalg.eigvalsh(x, UPLO)),
    vjp=[_eigvalsh_rule],
    shape=lambda x, **_: x[:-1],
    samples=[("symmetric", (3, 3)), ("symmetric", (2, 2, 2))],
)  # fmt: skip
