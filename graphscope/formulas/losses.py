"""Formulas of losses. Of a mean, `n` is the number of its summands."""

from __future__ import annotations

from typing import Final

from graphscope.formulas.formula import Formula, of

_N: Final = "n = count(x) if reduction == 'mean' else 1"
_ROWS: Final = "n = sum(r) if reduction == 'mean' else 1, r = class_weights(weight, target, ignore_index)"

FORMULAS: Final[dict[str, Formula]] = {
    "mse_loss": of(
        "out = mean (x - target)²",
        x=f"g * 2 * (x - target) / n where {_N}", target=f"g * 2 * (target - x) / n where {_N}",
    ),
    "l1_loss": of(
        "out = mean |x - target|",
        x=f"g * sign(x - target) / n where {_N}", target=f"g * sign(target - x) / n where {_N}",
    ),
    "smooth_l1_loss": of(
        "out = mean (d² / 2 beta if |d| < beta else |d| - beta / 2), d = x - target",
        x=f"g * clamp((x - target) / beta, -1, 1) / n where {_N}",
        target=f"g * clamp((target - x) / beta, -1, 1) / n where {_N}",
    ),
    "huber_loss": of(
        "out = mean (d² / 2 if |d| < delta else delta · (|d| - delta / 2)), d = x - target",
        x=f"g * clamp(x - target, -delta, delta) / n where {_N}",
        target=f"g * clamp(target - x, -delta, delta) / n where {_N}",
    ),
    "cross_entropy": of(
        "out = -mean Σ_c target[c] · ln softmax(x)[c]",
        x=f"g * r * (softmax(x, 1) - one_hot(target, x)) / n where {_ROWS}",
    ),
    "sparse_softmax_cross_entropy_with_logits": of(
        "out[i] = -ln softmax(x[i])[target[i]]", x="g[:, None] * (softmax(x, -1) - one_hot(target, x))"
    ),
    "softmax_cross_entropy_with_logits": of(
        "out[i] = -Σ_c target[i, c] · ln softmax(x[i])[c]", x="g[:, None] * (softmax(x, -1) - target)"
    ),
    "nll_loss": of(
        "out = -mean x[i, target[i]]", x=f"-g * r * one_hot(target, x) / n where {_ROWS}"
    ),
    "binary_cross_entropy": of(
        "out = -mean (target · ln x + (1 - target) · ln (1 - x))",
        x=f"g * (x - target) / (x * (1 - x)) / n where {_N}",
        target=f"g * (log(1 - x) - log(x)) / n where {_N}",
    ),
    "binary_cross_entropy_with_logits": of(
        "out = -mean (target · ln σ(x) + (1 - target) · ln σ(-x))",
        x=f"g * (sigmoid(x) - target) / n where {_N}", target=f"-g * x / n where {_N}",
    ),
    "kl_div": of(
        "out = mean target · (ln target - x)",
        x=f"-g * target / n where {_N}", target=f"g * (log(target) + 1 - x) / n where {_N}",
    ),
    "hinge_embedding_loss": of("out = mean (x if target = 1 else max(0, margin - x))"),
    "cosine_embedding_loss": of("out = mean (1 - cos if target = 1 else max(0, cos - margin))"),
    "triplet_margin_loss": of("out = mean max(0, d(anchor, positive) - d(anchor, negative) + margin)"),
    "gaussian_nll_loss": of("out = mean (ln var + (x - target)² / var) / 2"),
}  # fmt: skip
