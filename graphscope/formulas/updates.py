"""Formulas of what a step of an optimizer makes of a parameter `x` with the gradient `grad`; `m`, `v`, ... are kept."""

from __future__ import annotations

from typing import Final

from graphscope.formulas.formula import Formula, of

_INPUTS: Final = "x grad"
_MOMENTS: Final = "m ← β₁ · m + (1 - β₁) · grad; v ← β₂ · v + (1 - β₂) · grad²"

FORMULAS: Final[dict[str, Formula]] = {
    "SGD": of("m ← momentum · m + (1 - dampening) · (grad + weight_decay · x); x ← x - lr · m", inputs=_INPUTS),
    "Adam": of(f"{_MOMENTS}; x ← x - lr · m̂ / (√v̂ + eps), m̂ = m / (1 - β₁^t), v̂ = v / (1 - β₂^t)", inputs=_INPUTS),
    "AdamW": of(
        f"{_MOMENTS}; x ← x · (1 - lr · weight_decay) - lr · m̂ / (√v̂ + eps), m̂ = m / (1 - β₁^t), "
        "v̂ = v / (1 - β₂^t)",
        inputs=_INPUTS,
    ),
    "NAdam": of(
        f"{_MOMENTS}; x ← x - lr · (μ · m̂ + (1 - β₁) · grad / (1 - β₁^t)) / (√v̂ + eps)", inputs=_INPUTS
    ),
    "RAdam": of(f"{_MOMENTS}; x ← x - lr · m̂ · r / √v̂ once the variance is known, else x - lr · m̂", inputs=_INPUTS),
    "Adamax": of(
        "m ← β₁ · m + (1 - β₁) · grad; u ← max(β₂ · u, |grad| + eps); x ← x - lr / (1 - β₁^t) · m / u", inputs=_INPUTS
    ),
    "RMSprop": of("v ← alpha · v + (1 - alpha) · grad²; x ← x - lr · grad / (√v + eps)", inputs=_INPUTS),
    "Adagrad": of("v ← v + grad²; x ← x - lr / (1 + (t - 1) · lr_decay) · grad / (√v + eps)", inputs=_INPUTS),
    "Adadelta": of(
        "v ← rho · v + (1 - rho) · grad²; d = √(u + eps) / √(v + eps) · grad; u ← rho · u + (1 - rho) · d²; "
        "x ← x - lr · d",
        inputs=_INPUTS,
    ),
    "Rprop": of("s ← s · eta, larger where grad keeps its sign; x ← x - s · sgn grad", inputs=_INPUTS),
    "ASGD": of("x ← x · (1 - lambd · eta) - eta · grad; ax ← ax + mu · (x - ax)", inputs=_INPUTS),
    "LBFGS": of("x ← x - lr · H · grad, H the inverse of the curvature of the last steps", inputs=_INPUTS),
}  # fmt: skip
