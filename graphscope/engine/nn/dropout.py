"""Dropout: parts of the input are left out while the module is being trained."""

from __future__ import annotations

from typing import Any

from graphscope.engine.nn import functional
from graphscope.engine.nn.function_module import FunctionModule


class _Dropout(FunctionModule):
    shown = ("p", "inplace")
    trains = True
    p: float = 0.5
    inplace: bool = False

    def settled(self, settings: dict[str, Any]) -> dict[str, Any]:
        if not 0 <= settings["p"] <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {settings['p']}")
        return settings


class Dropout(_Dropout):
    """Single elements are set to 0 with probability p, and the others scaled by 1 / (1 - p)."""

    function = functional.dropout


class Dropout1d(_Dropout):
    """Whole channels of (N, C, L) are left out."""

    function = functional.dropout1d


class Dropout2d(_Dropout):
    """Whole channels of (N, C, H, W) are left out."""

    function = functional.dropout2d


class Dropout3d(_Dropout):
    """Whole channels of (N, C, D, H, W) are left out."""

    function = functional.dropout3d


class AlphaDropout(_Dropout):
    """Dropout that keeps mean and variance, as SELU wants it."""

    function = functional.alpha_dropout
