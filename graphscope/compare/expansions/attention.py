"""Attention, from the scores to what is attended to."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphscope.compare.expansions.activations import softmax
from graphscope.compare.expansions.part import Array, Part, Parts
from graphscope.compare.expansions.products import linear


def scaled_dot_product_attention(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Parts:
    """`softmax(query @ key.T * scale + mask) @ value`."""
    if enable_gqa:
        key = key.repeat(query.shape[-3] // key.shape[-3], -3)
        value = value.repeat(query.shape[-3] // value.shape[-3], -3)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    yield from _attended(query, key, value, scale, _masks(query, key, is_causal, attn_mask))


def multi_head_attention_forward(
    query: Array,
    key: Array,
    value: Array,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Array | None,
    in_proj_bias: Array | None,
    bias_k: Array | None,
    bias_v: Array | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Array,
    out_proj_bias: Array | None,
    training: bool = True,
    key_padding_mask: Array | None = None,
    need_weights: bool = True,
    attn_mask: Array | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Array | None = None,
    k_proj_weight: Array | None = None,
    v_proj_weight: Array | None = None,
    static_k: Array | None = None,
    static_v: Array | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> Parts:
    """Query, key and value projected, attention of each head, and the projection of all heads."""
    if query.ndim == 2:  # without a batch
        query, key, value = query[:, None], key[:, None], value[:, None]
        key_padding_mask = None if key_padding_mask is None else key_padding_mask[None]
        single = True
    else:
        single = False
    weights = (q_proj_weight, k_proj_weight, v_proj_weight)
    if in_proj_weight is not None:
        weights = tuple(np.split(in_proj_weight, 3))  # type: ignore[assignment]
    biases = [None] * 3 if in_proj_bias is None else np.split(in_proj_bias, 3)
    heads = []
    for name, each, weight, bias in zip(("query", "key", "value"), (query, key, value), weights, biases, strict=True):
        if weight is None:
            return
        projected = [*linear(each, weight, bias)][-1].value
        yield Part(name, projected)
        length, batch, width = projected.shape
        heads.append(projected.reshape(length, batch, num_heads, width // num_heads).transpose(1, 2, 0, 3))
    masks = (
        []
        if attn_mask is None
        else [attn_mask.reshape(-1, num_heads, *attn_mask.shape[-2:]) if attn_mask.ndim == 3 else attn_mask]
    )
    masks += [] if key_padding_mask is None else [key_padding_mask[:, None, None, :]]
    masks = [~each if each.dtype == bool else each for each in masks]  # here True is what is left out
    scale = 1 / math.sqrt(heads[0].shape[-1])
    for part in _attended(heads[0], heads[1], heads[2], scale, masks):
        yield part
    joined = part.value.transpose(2, 0, 1, 3).reshape(len(query), query.shape[1], -1)
    yield Part("heads joined", joined)
    result = [*linear(joined, out_proj_weight, out_proj_bias)][-1].value
    yield Part("out", result[:, 0] if single else result)


def _masks(query: Array, key: Array, is_causal: bool, attn_mask: Array | None) -> list[Array]:
    if is_causal:
        return [np.tri(query.shape[-2], key.shape[-2], dtype=bool)]
    return [] if attn_mask is None else [attn_mask]


def _attended(query: Array, key: Array, value: Array, scale: float, masks: list[Array]) -> Parts:
    """Attention with masks that are added; of those that are true or false, what is false is left out."""
    scores = query @ np.swapaxes(key, -1, -2)
    yield Part("scores", scores)
    scores = scores * np.asarray(scale, scores.dtype)
    yield Part("scaled", scores, {"scale": scale})
    for mask in masks:
        scores = np.where(mask, scores, -np.inf).astype(scores.dtype) if mask.dtype == bool else scores + mask
        yield Part("masked", scores)
    *_, weights = softmax(scores, -1)
    weighed: Any = np.nan_to_num(weights.value) if np.isneginf(scores).all(-1).any() else weights.value
    yield Part("weights", weighed)
    yield Part("attended", weighed @ value)
