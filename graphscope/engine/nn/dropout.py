"""Dropout: parts of the input are left out while the module is being trained."""

from __future__ import annotations

from typing import Any

from graphscope.engine.nn import functional
from graphscope.engine.nn.module import Module


class _Dropout(Module):
    function: str

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        return getattr(functional, self.function)(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """Single elements are set to 0 with probability p, and the others scaled by 1 / (1 - p)."""

    function = "dropout"


class Dropout1d(_Dropout):
    """Whole channels of (N, C, L) are left out."""

    function = "dropout1d"


class Dropout2d(_Dropout):
    """Whole channels of (N, C, H, W) are left out."""

    function = "dropout2d"


class Dropout3d(_Dropout):
    """Whole channels of (N, C, D, H, W) are left out."""

    function = "dropout3d"


class AlphaDropout(_Dropout):
    """Dropout that keeps mean and variance, as SELU wants it."""

    function = "alpha_dropout"


class FeatureAlphaDropout(_Dropout):
    """`AlphaDropout` of whole channels."""

    function = "feature_alpha_dropout"
