"""Formulas of products of matrices, and of what is solved with them."""

from __future__ import annotations

from typing import Final

from graphscope.formulas.formula import Formula, of

_SECOND: Final = {"mat2": "y", "vec": "y", "vec2": "y"}
_SUMMAND: Final = {"mat1": "y", "batch1": "y", "mat": "y", "mat2": "z", "batch2": "z", "vec": "z"}

FORMULAS: Final[dict[str, Formula]] = {
    "mm": of("out = x · y", _SECOND, x="g @ y.T", y="x.T @ g", element="x[i, :] · y[:, j]"),
    "matmul": of(
        "out = x @ y",
        x="g[..., None] * y if y.ndim == 1 else g[..., None, :] @ y.mT if x.ndim == 1 else g @ y.mT",
        y="g[..., None] * x if y.ndim == 1 else x[:, None] * g[..., None, :] if x.ndim == 1 else x.mT @ g",
        element="x[i, :] · y[:, j]",
    ),
    **dict.fromkeys(("matmul.transpose_a", "matmul.adj_x"), of("out = xᵀ @ y", x="y @ g.mT", y="x @ g")),
    **dict.fromkeys(("matmul.transpose_b", "matmul.adj_y"), of("out = x @ yᵀ", x="g @ y", y="g.mT @ x")),
    "matmul.transposed": of("out = xᵀ @ yᵀ", x="y.mT @ g.mT", y="g.mT @ x.mT"),
    "bmm": of("out[b] = x[b] · y[b]", _SECOND, x="g @ y.mT", y="x.mT @ g", element="x[i, :] · y[:, j]"),
    "mv": of("out = x · y", _SECOND, x="outer(g, y)", y="x.T @ g", element="x[i, :] · y"),
    "dot": of("out = Σ x · y", {"tensor": "y"}, x="g * y", y="g * x", element="x · y"),
    "outer": of("out[i, j] = x[i] · y[j]", _SECOND, x="g @ y", y="g.T @ x"),
    "addmm": of(
        "out = beta · x + alpha · y · z", _SUMMAND,
        x="beta * g", y="alpha * g @ z.T", z="alpha * y.T @ g", element="x + y[i, :] · z[:, j]",
    ),
    "baddbmm": of(
        "out[b] = beta · x[b] + alpha · y[b] · z[b]", _SUMMAND,
        x="beta * g", y="alpha * g @ z.mT", z="alpha * y.mT @ g", element="x + y[i, :] · z[:, j]",
    ),
    "linear": of(
        "out = x · weightᵀ + bias", x="g @ weight", weight="rows(g).T @ rows(x)", bias="g",
        element="x[i, :] · weight[j, :] + bias[j]",
    ),
    "bilinear": of(
        "out[o] = x · weight[o] · y + bias[o]", {"input1": "x", "input2": "y"},
        x="einsum('no,oij,nj->ni', g, weight, y)", y="einsum('no,oij,ni->nj', g, weight, x)",
        weight="einsum('no,ni,nj->oij', g, x, y)", bias="g",
    ),
    "einsum": of("out = Σ of products of the x[i], as the equation says", x="einsum_back(g, equation, x, i)"),
    "trace": of("out = Σ_i x[i, i]", x="g * eye(x)"),
    "linalg_inv": of("out = x⁻¹", {"A": "x"}, x="-(out.mT @ g @ out.mT)"),
    "linalg_det": of("out = det x", {"A": "x"}, x="g * out * inv(x).mT"),
    "linalg_solve": of(
        "out = x⁻¹ · y", {"A": "x", "B": "y"}, x="-(inv(x).mT @ g) @ out.mT", y="inv(x).mT @ g"
    ),
    "tril": of("out[i, j] = x[i, j] where j ≤ i + diagonal", x="tril(g, diagonal)"),
    "triu": of("out[i, j] = x[i, j] where j ≥ i + diagonal", x="triu(g, diagonal)"),
}  # fmt: skip
