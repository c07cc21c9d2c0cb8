"""Orthogonal matrices as products of Householder's reflections: what QR is made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core.calls import define
from graphscope.engine.core.composite import composite
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.complex_numbers import conj
from graphscope.engine.ops.flat_rules import refused
from graphscope.engine.ops.inverses import floating_matrix
from graphscope.engine.ops.linalg import constant, matmul
from graphscope.engine.ops.triangular import tril

__all__ = ["geqrf", "orgqr"]


def _geqrf(x: Any) -> Any:
    floating_matrix("geqrf", x, square=False)
    turned, scales = np.linalg.qr(x, "raw")
    return turned.mT, scales


geqrf = define(
    "geqrf", "Reflections that bring a matrix to an upper triangle: that, with the vectors below it; and their scales.",
    formula="x = H₁ · H₂ · … · R, H = 1 - τ · v · vᴴ", outputs=("a", "tau"), torch=None,
    forward=_geqrf,
    vjp=[refused],
    shape=lambda x: [x, (*x[:-2], min(x[-2:]))],
    samples=[((3, 3),), ((4, 2),), ((2, 3, 2),)],
)  # fmt: skip


@composite(
    "The first columns of a product of reflections, from their vectors and scales.",
    formula="out = H₁ · H₂ · …, H = 1 - y · v · vᵀ", torch="linalg.householder_product",
    samples=[((3, 2), (2,)), ((3, 3), (2,)), ((2, 3, 2), (2, 2))], shape=lambda x, y: x,
)  # fmt: skip
def householder_product(input: Any, tau: Any) -> Any:
    """The first columns of a product of reflections.

    Args:
        input: The vectors below the diagonals of matrices (..., m, n); 1 stands on it, and 0 above.
        tau: Their scales (..., k), k up to n.

    Raises:
        RuntimeError: A matrix is wide, or there are more scales than columns.
    """
    rows, columns = input.shape[-2:]
    if rows < columns or tau.shape[-1] > columns:
        raise RuntimeError(
            f"householder_product: matrices of {rows} x {columns} and {tau.shape[-1]} scales do not fit: there must be "
            "as many rows as columns at least, and as many columns as scales"
        )
    unit = np.eye(rows, columns, dtype=input.dtype)
    vectors = tril(input, -1) + constant(unit, input)
    out = constant(np.broadcast_to(unit, tuple(input.shape)).copy(), input)
    for place in reversed(range(tau.shape[-1])):
        vector = vectors[..., place : place + 1]
        out = out - matmul(vector * tau[..., place : place + 1, None], matmul(conj(vector.mT), out))
    return out


orgqr = householder_product
setattr(Tensor, "orgqr", householder_product)  # noqa: B010
