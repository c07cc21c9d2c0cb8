"""Losses that a GradScaler has multiplied: what they were is told, not what the backward pass begins from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from graphscope.adapters.torch import tensor_base

_PRODUCT: Final = "MulBackward0"


def scale_of(root: Any, scales: Sequence[Any]) -> float:
    """What the root of a backward pass was multiplied by last, where that is the scale of a GradScaler; else 1.

    Autograd keeps the scale with the product: it is the very tensor that the scaler has.

    Args:
        root: A tensor.
        scales: Those of the program's scalers.
    """
    factor = factor_of(root, scales)
    return 1.0 if factor is None else float(factor)


def factor_of(root: Any, scales: Sequence[Any]) -> Any:
    """The tensor that has the scale; None where there is none.

    Args:
        root: A tensor.
        scales: Those of the program's scalers.
    """
    node = tensor_base.grad_fn(root) if scales else None
    factor = node._saved_other if node is not None and node.name() == _PRODUCT else None
    return factor if factor is not None and any(factor is each for each in scales) else None
