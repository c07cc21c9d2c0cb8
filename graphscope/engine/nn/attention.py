"""Attention with several heads. Source: Vaswani and others, 2017."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core.tensor import Tensor
from graphscope.engine.nn import init
from graphscope.engine.nn.linear import Linear
from graphscope.engine.nn.module import Module
from graphscope.engine.nn.parameter import blank
from graphscope.engine.ops.attention import scaled_dot_product_attention
from graphscope.engine.ops.dropout import dropout
from graphscope.engine.ops.joining import cat
from graphscope.engine.ops.linear import linear
from graphscope.engine.ops.pad import pad
from graphscope.engine.ops.softmax import softmax


class NonDynamicallyQuantizableLinear(Linear):
    """A `Linear` that prints as PyTorch's last projection does."""


class MultiheadAttention(Module):
    """Each query looks at all keys and takes the mean of their values, by weights; in several heads.

    Args:
        embed_dim: The size of queries and results.
        num_heads: How many heads share it.
        dropout: The probability that a weight is left out.
        bias: Whether the projections have one.
        add_bias_kv: Whether there is a key more, with its value, that is learned.
        add_zero_attn: Whether there is a key more, with its value, of zeros.
        kdim: The size of keys; `embed_dim` if left out.
        vdim: The size of values; `embed_dim` if left out.
        batch_first: Whether the batch is the first dim instead of the second.

    Raises:
        ValueError: A size is not positive.
        AssertionError: The heads can't share `embed_dim`.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} "
                "instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.add_zero_attn = add_zero_attn
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError(f"embed_dim must be divisible by num_heads: {embed_dim} is not by {num_heads}")
        one = self.kdim == embed_dim and self.vdim == embed_dim
        sizes = {"q_proj_weight": embed_dim, "k_proj_weight": self.kdim, "v_proj_weight": self.vdim}
        for name, size in sizes.items():
            self.register_parameter(name, None if one else blank(embed_dim, size, dtype=dtype))
        self.register_parameter("in_proj_weight", blank(3 * embed_dim, embed_dim, dtype=dtype) if one else None)
        self.register_parameter("in_proj_bias", blank(3 * embed_dim, dtype=dtype) if bias else None)
        for name in ("bias_k", "bias_v"):
            self.register_parameter(name, blank(1, 1, embed_dim, dtype=dtype) if add_bias_kv else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, dtype=dtype)
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            if self._parameters[name] is not None:
                init.xavier_uniform_(self._parameters[name])
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def forward(
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
