"""Rules of ops without a slope: a gradient of 0, or none."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core.tensor import Tensor


def nothing(g: Any) -> Any:
    """The rule of an op that is flat wherever it has a slope: a gradient of 0, at which the graph ends."""
    if isinstance(g, Tensor):
        return Tensor(nothing(g.array))
    return np.zeros(g.shape, g.dtype)[()]


def refused(g: Any) -> Any:
    """The rule of an op that PyTorch lets stand in a graph but does not differentiate.

    Raises:
        RuntimeError: Always.
    """
    raise RuntimeError("the derivative of this op is not implemented: detach() its input, or keep it off the way back")
