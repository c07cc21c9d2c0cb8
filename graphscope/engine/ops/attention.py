"""Attention, stepped into: scores, a mask, softmax, and the sum of the values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphscope.engine.core.composite import composite
from graphscope.engine.ops.dropout import dropout
from graphscope.engine.ops.index import where
from graphscope.engine.ops.linalg import constant, matmul
from graphscope.engine.ops.shape import expand, reshape, unsqueeze
from graphscope.engine.ops.softmax import softmax

__all__: list[str] = []


def _shape(query: Any, key: Any, value: Any, *_: Any, **__: Any) -> Any:
    return (*query[:-1], value[-1])


def _repeated(x: Any, heads: int) -> Any:
    """Each head of keys or values as often as the queries need it."""
    if heads % x.shape[-3]:
        raise RuntimeError(f"attention: {heads} heads of queries can't share {x.shape[-3]} heads of keys and values")
    times = heads // x.shape[-3]
    wide = (*x.shape[:-2], times, *x.shape[-2:])
    return reshape(expand(unsqueeze(x, -3), wide), (*x.shape[:-3], heads, *x.shape[-2:]))


def _masked(scores: Any, mask: Any) -> Any:
    if mask.dtype.kind != "b":
        return scores + mask
    return where(mask, scores, -math.inf)


@composite(
    "Values, summed in the shares that softmax gives to how well keys fit queries.",
    formula="out = softmax(q · kᵀ / √d + mask) · v", shape=_shape, torch="nn.functional.scaled_dot_product_attention",
    samples=[((2, 3, 4), (2, 5, 4), (2, 5, 3)), ((1, 2, 3, 4), (1, 2, 3, 4), (1, 2, 3, 4), {"is_causal": True}),
             ((2, 3, 4), (2, 3, 4), (2, 3, 4), (3, 3)),
             ((1, 4, 3, 2), (1, 2, 3, 2), (1, 2, 3, 2), {"enable_gqa": True}),
             ((2, 3), (4, 3), (4, 2), {"scale": 0.5})],
)  # fmt: skip
def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """Values, summed in the shares that softmax gives to how well keys fit queries.

    Args:
        query: (..., L, E).
        key: (..., S, E).
        value: (..., S, V).
        attn_mask: Added to the scores (..., L, S); of booleans, True takes part.
        dropout_p: Shares are dropped with this probability, always.
        is_causal: Whether each query sees the keys up to its own place.
        scale: What scores are multiplied by; 1 / √E when left out.
        enable_gqa: Whether several heads of queries share a head of keys and values.

    Raises:
        RuntimeError: Shapes do not fit, or there is a mask besides `is_causal`.

    Source: Vaswani and others: Attention is all you need, 2017.
    """
    if attn_mask is not None and is_causal:
        raise RuntimeError("scaled_dot_product_attention: explicit attn_mask should not be set when is_causal=True")
    if query.shape[-1] != key.shape[-1]:
        raise RuntimeError(
            f"scaled_dot_product_attention: queries of shape {tuple(query.shape)} and keys of shape {tuple(key.shape)} "
            f"do not fit: the last dim is {query.shape[-1]} in the first and {key.shape[-1]} in the second"
        )
    if enable_gqa:
        key, value = _repeated(key, query.shape[-3]), _repeated(value, query.shape[-3])
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = matmul(query * factor, key.mT)
    if is_causal:
        allowed = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        scores = where(constant(allowed, scores), scores, -math.inf)
    elif attn_mask is not None:
        scores = _masked(scores, attn_mask)
    shares = softmax(scores, -1)
    if dropout_p > 0:
        shares = dropout(shares, dropout_p)
    return matmul(shares, value)
