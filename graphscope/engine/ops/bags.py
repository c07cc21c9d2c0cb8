"""Bags of numbers, looked up in a table, each bag as one row: the sum, the mean or the maximum of its rows."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

import numpy as np

from graphscope.engine.core.composite import composite
from graphscope.engine.ops.embedding import embedding
from graphscope.engine.ops.gathering import raw
from graphscope.engine.ops.joining import cat
from graphscope.engine.ops.linalg import constant

__all__: list[str] = []


def _largest(rows: Any, counts: Any) -> Any:
    if not rows.shape[1]:
        return rows.sum(1)
    found = rows.max(1)[0]
    return found if counts.all() else found.masked_fill(constant(counts == 0, rows), 0.0)


_MODES: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "sum": lambda rows, counts: rows.sum(1),
    "mean": lambda rows, counts: rows.sum(1) / constant(np.maximum(counts, 1).astype(rows.dtype), rows),
    "max": _largest,
}
"""By mode: how the rows of each bag become one, given how many count."""


def _shape(x: Any, y: Any, *_: Any, offsets: Any = None, include_last_offset: bool = False, **__: Any) -> Any:
    return (x[0] if offsets is None else len(offsets) - include_last_offset, y[1])


@composite(
    "Rows of a table, looked up by number and brought to one for each bag.", formula="out[b] = Σ y[x[i]], i in bag b",
    torch="nn.functional.embedding_bag", shape=_shape,
    samples=[(np.array([[0, 2], [2, 1]]), (3, 4)), (np.array([[0, 2, 2]]), (3, 4), {"mode": "sum"}),
             (np.array([[0, 2], [1, 1]]), (3, 4), {"mode": "max"}),
             (np.array([[0, 2], [0, 0]]), (3, 2), {"padding_idx": 0})],
)  # fmt: skip
def embedding_bag(
    input: Any,
    weight: Any,
    offsets: Any = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:
    """Rows of a table, looked up by number and brought to one for each bag.

    Args:
        input: Numbers: (bags, numbers of each), or all in a row.
        weight: The table.
        offsets: Where in that row each bag begins.
        max_norm: Rows that are looked up are scaled, in place, to norms of this at most.
        norm_type: Which norm.
        scale_grad_by_freq: Whether gradients are divided by how often a number occurs.
        mode: How the rows of a bag become one: sum, mean or max.
        sparse: Accepted and of no effect.
        per_sample_weights: Factors of the rows, of the shape of `input`; for sums alone.
        include_last_offset: Whether the last of `offsets` is where the last bag ends.
        padding_idx: A number that does not count.

    Raises:
        ValueError: There is no such mode, or shapes do not fit.
        NotImplementedError: There are weights, and no sums.
    """
    if mode not in _MODES:
        raise ValueError(f"mode has to be one of sum, mean, max, not {mode!r}")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(f"per_sample_weights are there for mode 'sum' alone, not for {mode!r}")
    padding = None if padding_idx is None else padding_idx % weight.shape[0]

    def reduced(bags: Any, weights: Any) -> Any:
        rows = embedding(bags, weight, padding, max_norm, norm_type, scale_grad_by_freq)
        counted = np.ones(bags.shape, bool) if padding is None else raw(bags) != padding
        if not counted.all():
            rows = rows.masked_fill(constant(~counted[..., None], rows), -np.inf if mode == "max" else 0.0)
        if weights is not None:
            rows = rows * weights[..., None]
        return _MODES[mode](rows, counted.sum(1)[:, None])

    if len(input.shape) == 2:
        if offsets is not None:
            raise ValueError("if input is 2D, then offsets has to be None, as each row is a bag")
        return reduced(input, per_sample_weights)
    if len(input.shape) != 1 or offsets is None or len(offsets.shape) != 1:
        raise ValueError("input has to be 2D, or 1D with offsets, which are 1D")
    ends = [*offsets.tolist(), *([] if include_last_offset else [len(input)])]
    parts = [slice(begin, end) for begin, end in pairwise(ends)]
    weights = [None if per_sample_weights is None else per_sample_weights[part][None] for part in parts]
    return cat([reduced(input[part][None], weight) for part, weight in zip(parts, weights, strict=True)], 0)
