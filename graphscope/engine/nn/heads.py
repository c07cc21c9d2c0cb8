"""Attention in several heads: what `nn.MultiheadAttention` and `functional.multi_head_attention_forward` compute.

Source: Vaswani and others, "Attention Is All You Need", 2017.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.attention import scaled_dot_product_attention
from graphscope.engine.ops.dropout import dropout
from graphscope.engine.ops.joining import cat
from graphscope.engine.ops.linear import linear
from graphscope.engine.ops.pad import pad
from graphscope.engine.ops.softmax import softmax


class Heads:
    """Several heads, and the weights by which they see queries, keys and values."""

    embed_dim: int
    num_heads: int
    head_dim: int
    dropout: float
    batch_first: bool
    add_zero_attn: bool
    training: bool
    in_proj_weight: Any
    """(3 · embed_dim, embed_dim); None where the three below stand for it."""
    q_proj_weight: Any
    k_proj_weight: Any
    v_proj_weight: Any
    in_proj_bias: Any
    bias_k: Any
    """(1, 1, embed_dim): a key, and in `bias_v` its value, that every query may look at; None: there is none."""
    bias_v: Any
    out_proj: Any

    def attend(
        self,
        query: Any,
        key: Any,
        value: Any,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Any, Any]:
        """The results, and the weights if they are needed.

        Args:
            query: (queries, batch, embed_dim), or the batch first, or without a batch.
            key: (keys, batch, kdim).
            value: (keys, batch, vdim).
            key_padding_mask: (batch, keys): True (or -inf) where a key does not count.
            need_weights: Whether the weights are returned.
            attn_mask: (queries, keys) or (batch · heads, queries, keys): True where a key may not be seen, or numbers
                that are added.
            average_attn_weights: Whether the weights are the mean of all heads.
            is_causal: A hint that `attn_mask` is causal; it must be given all the same.
        """
        batched = query.ndim == 3
        self._check(query, key, value, attn_mask, is_causal)
        if not batched:
            alone = query is key is value
            query = query.unsqueeze(0)
            key, value = (query, query) if alone else (key.unsqueeze(0), value.unsqueeze(0))
            key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
        elif not self.batch_first:
            alone, pair = query is key is value, key is value
            query = query.transpose(0, 1)
            key = query if alone else key.transpose(0, 1)
            value = key if pair else value.transpose(0, 1)
        batch, count = query.shape[:2]
        parts = self._projected(query, key, value)
        mask = self._mask(attn_mask, key_padding_mask, batch, count, key.shape[1], query.dtype)
        more = (self.bias_k is not None) + self.add_zero_attn
        if more:
            parts = self._with_more_keys(parts, batch)
            mask = None if mask is None else pad(mask, (0, more))
        heads = [part.reshape(batch, part.shape[1], self.num_heads, self.head_dim).transpose(1, 2) for part in parts]
        left_out = self.dropout if self.training else 0.0
        weights = None
        if need_weights:
            scores = (heads[0] * self.head_dim**-0.5) @ heads[1].transpose(-2, -1)
            weights = softmax(scores if mask is None else scores + mask, -1)
            if left_out:
                weights = dropout(weights, left_out, True)
            found = weights @ heads[2]
        else:
            found = scaled_dot_product_attention(heads[0], heads[1], heads[2], mask, left_out)
        result = self.out_proj(found.transpose(1, 2).reshape(batch, count, self.embed_dim))
        if weights is not None and average_attn_weights:
            weights = weights.mean(1)
        if not batched:
            return result.squeeze(0), None if weights is None else weights.squeeze(0)
        return (result if self.batch_first else result.transpose(0, 1)), weights

    def _check(self, query: Any, key: Any, value: Any, attn_mask: Any, is_causal: bool) -> None:
        if query.ndim not in (2, 3) or key.ndim != query.ndim or value.ndim != query.ndim:
            raise AssertionError(
                "query should be unbatched 2D or batched 3D tensor, and key and value alike, but received "
                f"{query.ndim}-D, {key.ndim}-D and {value.ndim}-D tensors"
            )
        if query.shape[-1] != self.embed_dim:
            raise AssertionError(f"was expecting embedding dimension of {self.embed_dim}, but got {query.shape[-1]}")
        if is_causal and attn_mask is None:
            raise RuntimeError(
                "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
                "`generate_square_subsequent_mask` to create this mask."
            )

    def _projected(self, query: Any, key: Any, value: Any) -> Any:
        """Queries, keys and values as the heads see them; what is the same tensor is projected at once."""
        size, bias = self.embed_dim, self.in_proj_bias
        if self.in_proj_weight is None:
            weights = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
            biases = (None,) * 3 if bias is None else bias.split(size)
            return [linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=True)]
        if query is key is value:
            return linear(query, self.in_proj_weight, bias).split(size, -1)
        sizes, given = ([size, 2 * size], [query, key]) if key is value else ([size] * 3, [query, key, value])
        parts = self.in_proj_weight.split(sizes)
        biases = (None,) * len(sizes) if bias is None else bias.split(sizes)
        found = [linear(x, w, b) for x, w, b in zip(given, parts, biases, strict=True)]
        return found if len(found) == 3 else [found[0], *found[1].split(size, -1)]

    def _with_more_keys(self, parts: Any, batch: int) -> Any:
        """Queries, keys and values, with the keys behind them that all may look at."""
        query, keys, values = parts
        shape = (batch, 1, self.embed_dim)
        if self.bias_k is not None:
            keys, values = (
                cat([part, more.expand(shape)], 1) for part, more in ((keys, self.bias_k), (values, self.bias_v))
            )
        if self.add_zero_attn:
            keys, values = (cat([part, Tensor(np.zeros(shape, part.array.dtype))], 1) for part in (keys, values))
        return query, keys, values

    def _mask(self, attn_mask: Any, padding: Any, batch: int, queries: int, keys: int, dtype: Any) -> Any:
        """Both masks as numbers that are added to the scores of (batch, heads, queries, keys)."""
        parts = []
        if attn_mask is not None:
            shapes = {2: (queries, keys), 3: (batch * self.num_heads, queries, keys)}
            if attn_mask.ndim not in shapes:
                raise RuntimeError(f"attn_mask's dimension {attn_mask.ndim} is not supported")
            expected = shapes[attn_mask.ndim]
            if tuple(attn_mask.shape) != expected:
                raise RuntimeError(
                    f"The shape of the {attn_mask.ndim}D attn_mask is {tuple(attn_mask.shape)}, not {expected}"
                )
            split = (1, 1) if attn_mask.ndim == 2 else (batch, self.num_heads)
            parts.append(_added("attn_mask", attn_mask, dtype).reshape(*split, queries, keys))
        if padding is not None:
            if tuple(padding.shape) != (batch, keys):
                raise AssertionError(
                    f"expecting key_padding_mask shape of {(batch, keys)}, but got {tuple(padding.shape)}"
                )
            parts.append(_added("key_padding_mask", padding, dtype).reshape(batch, 1, 1, keys))
        return sum(parts[1:], parts[0]) if parts else None


def _added(name: str, mask: Any, dtype: Any) -> Any:
    """A mask as numbers: -inf where it is True."""
    kind = mask.dtype.kind
    if kind not in "bf":
        raise AssertionError(f"only bool and floating types of {name} are supported")
    return Tensor(np.where(mask.array, -np.inf, 0.0).astype(dtype)) if kind == "b" else mask


def multi_head_attention_forward(
    query: Any,
    key: Any,
    value: Any,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Any,
    in_proj_bias: Any,
    bias_k: Any,
    bias_v: Any,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Any,
    out_proj_bias: Any,
    training: bool = True,
    key_padding_mask: Any = None,
    need_weights: bool = True,
    attn_mask: Any = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Any = None,
    k_proj_weight: Any = None,
    v_proj_weight: Any = None,
    static_k: Any = None,
    static_v: Any = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Any, Any]:
    """What `nn.MultiheadAttention` computes, by weights that are given: the results, and the attention if it is needed.

    Args:
        query: (queries, batch, embed_dim), or without a batch; `key` and `value` alike, of the keys.
        key: The keys.
        value: Their values.
        embed_dim_to_check: The size that queries must have.
        num_heads: How many heads share it.
        in_proj_weight: (3 · embed_dim, embed_dim), for queries, keys and values.
        in_proj_bias: (3 · embed_dim), or None.
        bias_k: (1, 1, embed_dim): one key more, or None.
        bias_v: Its value.
        add_zero_attn: Whether there is one key more of zeros.
        dropout_p: The probability that a weight is left out.
        out_proj_weight: (embed_dim, embed_dim), of the results.
        out_proj_bias: (embed_dim), or None.
        training: Whether weights are left out.
        key_padding_mask: As of the module; so are the rest.
        need_weights: Whether the attention is returned.
        attn_mask: Which keys may not be seen.
        use_separate_proj_weight: Whether the three weights below stand for `in_proj_weight`.
        q_proj_weight: (embed_dim, embed_dim).
        k_proj_weight: (embed_dim, size of keys).
        v_proj_weight: (embed_dim, size of values).
        static_k: Not offered.
        static_v: Not offered.
        average_attn_weights: Whether the attention is the mean of all heads.
        is_causal: A hint that `attn_mask` is causal.

    Raises:
        AssertionError: Sizes that do not fit.
        NotImplementedError: `static_k` or `static_v` is given.
    """
    if static_k is not None or static_v is not None:
        raise NotImplementedError("multi_head_attention_forward: static_k and static_v are not offered")
    if embed_dim_to_check % num_heads:
        raise AssertionError(f"embed_dim {embed_dim_to_check} not divisible by num_heads {num_heads}")
    heads = Heads()
    heads.embed_dim, heads.num_heads, heads.head_dim = embed_dim_to_check, num_heads, embed_dim_to_check // num_heads
    heads.dropout, heads.training, heads.batch_first = dropout_p, training, False
    heads.in_proj_weight, heads.in_proj_bias = None if use_separate_proj_weight else in_proj_weight, in_proj_bias
    heads.q_proj_weight, heads.k_proj_weight, heads.v_proj_weight = q_proj_weight, k_proj_weight, v_proj_weight
    heads.bias_k, heads.bias_v, heads.add_zero_attn = bias_k, bias_v, add_zero_attn
    heads.out_proj = functools.partial(linear, weight=out_proj_weight, bias=out_proj_bias)
    return heads.attend(query, key, value, key_padding_mask, need_weights, attn_mask, average_attn_weights, is_causal)
