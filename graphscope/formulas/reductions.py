"""Formulas of ops that take many elements to few, and of those that compute along a dim."""

from __future__ import annotations

from typing import Final

from graphscope.formulas.formula import Formula, of

_SELECTED: Final = "selected(x, dim, indices, g)"
_EXTREME: Final = "spread(g, x, dim, keepdim) * m / sum(m, dim) where m = x == spread(out, x, dim, keepdim)"

FORMULAS: Final[dict[str, Formula]] = {
    "sum": of("out = Σ x", x="g", element="Σ x[dim]"),
    "sum.dim": of("out = Σ x", x="spread(g, x, dim, keepdim)", element="Σ x[dim]"),
    "mean": of("out = Σ x / n", x="g / n where n = count(x)", element="Σ x[dim] / n"),
    "mean.dim": of("out = Σ x / n", x="spread(g, x, dim, keepdim) / n where n = count(x, dim)", element="Σ x[dim] / n"),
    "nansum": of("out = Σ x where x = x", x="spread(g, x, dim, keepdim) * (x == x)"),
    "prod": of("out = Π x", x="spread(g * out, x, dim, keepdim) / x", element="Π x[dim]"),
    "var": of(
        "out = Σ (x - mean x)² / (n - correction)",
        x="spread(g, x, dim, keepdim) * 2 / (n - correction) * (x - mean(x, dim)) where n = count(x, dim)",
    ),
    "std": of(
        "out = √(Σ (x - mean x)² / (n - correction))",
        x="spread(g / out, x, dim, keepdim) / (n - correction) * (x - mean(x, dim)) where n = count(x, dim)",
    ),
    "norm": of("out = (Σ |x|^p)^(1/p)", x="spread(g * out**(1 - p), x, dim, keepdim) * sign(x) * abs(x)**(p - 1)"),
    "linalg_vector_norm": of(
        "out = (Σ |x|^ord)^(1 / ord)",
        x="spread(g * out**(1 - ord), x, dim, keepdim) * sign(x) * abs(x)**(ord - 1)",
    ),
    "logsumexp": of("out = ln Σ e^x", x="spread(g, x, dim, keepdim) * exp(x - spread(out, x, dim, keepdim))"),
    "max": of("out = max x", x="g * m / sum(m) where m = x == out"),
    "max.dim": of("out = x[i], i = argmax x", x=_SELECTED),
    "min": of("out = min x", x="g * m / sum(m) where m = x == out"),
    "min.dim": of("out = x[i], i = argmin x", x=_SELECTED),
    "amax": of("out = max x", x=_EXTREME),
    "amin": of("out = min x", x=_EXTREME),
    "argmax": of("out = argmax x"),
    "argmin": of("out = argmin x"),
    "median": of("out = sort(x)[(n-1) // 2]", x="g * m / sum(m) where m = x == out"),
    "median.dim": of("out = x[i], i = where the middle one is", x=_SELECTED),
    "sort": of("out = x[i], i = argsort x", x=_SELECTED),
    "argsort": of("x[out] is sorted"),
    "topk": of("out = x[i], i = argsort(x)[:k]", x=_SELECTED),
    "any": of("out = ∃ x"),
    "all": of("out = ∀ x"),
    "count_nonzero": of("out = |{x ≠ 0}|"),
    # Along a dim -----------------------------------------------------------------------------------------------------
    "cumsum": of("out[i] = Σ x[j], j ≤ i", x="flip(cumsum(flip(g, dim), dim), dim)"),
    "cumprod": of("out[i] = Π x[j], j ≤ i", x="flip(cumsum(flip(g * out, dim), dim), dim) / x"),
    "softmax": of("out = e^x / Σ e^x", x="out * (g - sum(g * out, dim))", element="e^x / Σ e^x[dim]"),
    "log_softmax": of("out = x - ln Σ e^x", x="g - exp(out) * sum(g, dim)", element="x - ln Σ e^x[dim]"),
    "glu": of(
        "out = a · σ(b), x = [a; b]",
        x="cat([g * s, g * a * s * (1 - s)], dim) where s = sigmoid(b), a = half(x, 0, dim), b = half(x, 1, dim)",
    ),
    "normalize": of(
        "out = x / max(‖x‖_p, eps)",
        {"p": "p"},
        x="(g - out * sum(g * sign(x) * abs(out)**(p - 1), dim)) / n where n = norm(x, p, dim)",
    ),
    "cosine_similarity": of(
        "out = x · y / (‖x‖ · ‖y‖)",
        {"x1": "x", "x2": "y"},
        x="spread(g, x, dim) * (y / (n * m) - spread(out, x, dim) * x / n**2) where n = norm(x, 2, dim), "
        "m = norm(y, 2, dim)",
        y="spread(g, x, dim) * (x / (n * m) - spread(out, x, dim) * y / m**2) where n = norm(x, 2, dim), "
        "m = norm(y, 2, dim)",
    ),
}
