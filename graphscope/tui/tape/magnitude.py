"""How large the numbers of a value are, as a tiny bar on a logarithmic scale."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from graphscope.graph import Node

_SAMPLE: Final = 2048
_LEAST, _MOST = -6.0, 3.0


def magnitude(node: Node) -> float | None:
    """The root mean square of a node's value (of a sample of it, where it is large); None when it was not kept."""
    value = node.value
    if value is None:
        summary = node.summary
        return None if summary is None else math.hypot(summary.mean, summary.std)
    if value.dtype.kind not in "fiub" or value.size == 0:
        return None
    flat = value.reshape(-1)
    sample = flat[:: max(flat.size // _SAMPLE, 1)].astype(np.float64)
    finite = sample[np.isfinite(sample)]
    return float(np.sqrt(np.mean(finite * finite))) if finite.size else None


def bar(size: float | None, cells: int, steps: str) -> str:
    """A bar of so many cells: empty for a millionth and less, full for a thousand and more."""
    if size is None or size == 0.0:
        return " " * cells
    share = (math.log10(size) - _LEAST) / (_MOST - _LEAST)
    whole, half = divmod(max(1, min(round(share * cells * 2), cells * 2)), 2)
    return (steps[1] * whole + steps[0] * half).ljust(cells)
